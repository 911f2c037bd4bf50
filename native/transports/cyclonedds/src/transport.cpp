// The C interface of comseclab/transport.h over one Cyclone DDS participant in a domain of its own.

#include "comseclab/transport.h"

#include <dds/ddsi/ddsi_sertype.h>
#include <dds/version.h>
#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "boundary.hpp"
#include "endpoint.hpp"
#include "log.hpp"
#include "payload.hpp"
#include "qos.hpp"
#include "serdata.hpp"
#include "settings.hpp"
#include "sockets.hpp"

using namespace comseclab::cyclonedds;
using namespace comseclab::dds;
using comseclab::fail;
using comseclab::guarded;

namespace {

struct Topic {
  dds_entity_t entity;
  ddsi_sertype* type;  // owned by Cyclone DDS; lives as long as the topic
};

}  // namespace

struct comseclab_transport {
  Settings settings;
  comseclab_on_event on_event = nullptr;
  void* context = nullptr;
  Buffers buffers;
  dds_entity_t domain = 0;
  dds_entity_t participant = 0;
  std::map<std::string, Topic> topics;
  std::atomic<uint64_t> refused = 0;
  std::mutex mutex;  // guards the two lists from the threads that log
  std::vector<std::unique_ptr<comseclab_writer>> writers;
  std::vector<std::unique_ptr<comseclab_reader>> readers;
};

namespace {

[[noreturn]] void fail_with_log(const std::string& what) {
  const std::string why = take_logged_errors();
  throw std::runtime_error(what + (why.empty() ? "" : ": " + why));
}

std::string joined(const std::vector<std::string>& configuration) {
  std::string all;
  for (const auto& part : configuration) all += (all.empty() ? "" : ",") + part;
  return all;
}

// That another participant or its endpoint was refused shows in the log alone.
void report_refusal(comseclab_transport& transport, const std::string& logged) {
  const auto says = [&logged](const char* words) { return logged.find(words) != std::string::npos; };
  if (!says("handshake") && !says("not allowed") && !says("denied")) return;
  ++transport.refused;
  const std::lock_guard lock(transport.mutex);
  for (const auto& writer : transport.writers) writer->report(COMSECLAB_REJECTED, 1, logged.c_str());
  for (const auto& reader : transport.readers) reader->report(COMSECLAB_REJECTED, 1, logged.c_str());
}

void open_participant(comseclab_transport& transport, const char* node) {
  capture_log([&transport](const std::string& line) { report_refusal(transport, line); });
  take_logged_errors();
  const auto before = udp_sockets();
  // An explicit configuration; CYCLONEDDS_URI of the environment is not read.
  transport.domain = dds_create_domain(transport.settings.domain, joined(transport.settings.configuration).c_str());
  if (transport.domain < 0) fail_with_log("Cyclone DDS did not accept its configuration");
  const Qos qos(dds_create_qos(), &dds_delete_qos);
  dds_qset_entity_name(qos.get(), node);
  transport.participant = dds_create_participant(transport.settings.domain, qos.get(), nullptr);
  if (transport.participant < 0) fail_with_log("Cyclone DDS made no participant");
  auto sockets = udp_sockets();
  for (const int socket : before) sockets.erase(socket);
  transport.buffers = force_buffers(sockets, transport.settings.send_buffer, transport.settings.receive_buffer);
}

const Topic& topic_of(comseclab_transport& transport, const comseclab_stream& stream) {
  const WireNames names = wire_names(stream.topic, stream.type, stream.codec);
  if (const auto known = transport.topics.find(names.topic); known != transport.topics.end()) return known->second;
  Topic topic{0, make_sertype(names.type, names.form)};
  topic.entity =
      dds_create_topic_sertype(transport.participant, names.topic.c_str(), &topic.type, nullptr, nullptr, nullptr);
  if (topic.entity < 0) {
    ddsi_sertype_unref(topic.type);
    fail_with_log("topic " + names.topic + " is not accepted");
  }
  return transport.topics.emplace(names.topic, topic).first->second;
}

comseclab_status limits(comseclab_limits* out) {
  // Sent: into a sample, which the kernel gathers into datagrams. Received: out of the datagrams, into a sample; the
  // application sees it there. Protection adds copies of its own.
  out->max_message_size = UINT32_MAX - kMostAdded;
  out->copies_sent = 1;
  out->copies_received = 1;
  return COMSECLAB_OK;
}

void close(comseclab_transport* transport) {
  const std::unique_ptr<comseclab_transport> owner(transport);
  if (transport->domain > 0) dds_delete(transport->domain);
  capture_log({});
}

comseclab_status open(const comseclab_open* request, comseclab_transport** out, comseclab_error* error) {
  auto transport = std::make_unique<comseclab_transport>();
  const auto status = guarded(error, [&] {
    transport->settings = parse_settings(request->settings);
    transport->on_event = request->on_event;
    transport->context = request->context;
    open_participant(*transport, request->node);
  });
  if (status == COMSECLAB_OK) {
    *out = transport.release();
  } else {
    close(transport.release());
  }
  return status;
}

comseclab_status advertise(comseclab_transport* transport, const comseclab_stream* stream, comseclab_writer** out,
                           comseclab_error* error) {
  return guarded(error, [&] {
    take_logged_errors();
    const Topic& topic = topic_of(*transport, *stream);
    const Qos qos = endpoint_qos(transport->settings, *stream);
    auto writer =
        std::make_unique<comseclab_writer>(Reporter{transport->on_event, transport->context, stream->stream, true});
    if (!writer->create({transport->participant, topic.entity, qos.get()}, topic.type)) {
      fail_with_log("no writer for " + wire_names(stream->topic, stream->type, stream->codec).topic);
    }
    const std::lock_guard lock(transport->mutex);
    *out = transport->writers.emplace_back(std::move(writer)).get();
  });
}

comseclab_status subscribe(comseclab_transport* transport, const comseclab_stream* stream,
                           comseclab_on_message on_message, void* context, comseclab_reader** out,
                           comseclab_error* error) {
  return guarded(error, [&] {
    take_logged_errors();
    const Topic& topic = topic_of(*transport, *stream);
    const Qos qos = endpoint_qos(transport->settings, *stream);
    auto reader = std::make_unique<comseclab_reader>(
        Reporter{transport->on_event, transport->context, stream->stream, false}, on_message, context);
    if (!reader->create({transport->participant, topic.entity, qos.get()})) {
      fail_with_log("no reader for " + wire_names(stream->topic, stream->type, stream->codec).topic);
    }
    const std::lock_guard lock(transport->mutex);
    *out = transport->readers.emplace_back(std::move(reader)).get();
  });
}

comseclab_status publish(comseclab_writer* writer, const uint8_t* bytes, size_t size, comseclab_error* error) {
  comseclab_status status = COMSECLAB_OK;
  const auto outcome = guarded(error, [&] { status = writer->publish(bytes, size, error); });
  return outcome == COMSECLAB_OK ? status : outcome;
}

comseclab_status statistics(comseclab_transport* transport, char* json, size_t capacity) {
  return guarded(nullptr, [&] {
    nlohmann::json all = {{"send_buffer", transport->buffers.send},
                          {"receive_buffer", transport->buffers.receive},
                          {"refused", transport->refused.load()},
                          {"writers", nlohmann::json::object()},
                          {"readers", nlohmann::json::object()}};
    for (const auto& writer : transport->writers) {
      all["writers"][std::to_string(writer->report.stream)] = writer->statistics();
    }
    for (const auto& reader : transport->readers) {
      all["readers"][std::to_string(reader->report.stream)] = reader->statistics();
    }
    std::snprintf(json, capacity, "%s", all.dump().c_str());
  });
}

// Of the library as loaded: Cyclone DDS tells its version to the compiler alone, but its file name ends in it.
const char* version() {
  static const std::string found = [] {
    Dl_info library{};
    if (dladdr(reinterpret_cast<const void*>(&dds_create_domain), &library) == 0) return std::string(DDS_VERSION);
    std::error_code ignored;
    const std::string file = std::filesystem::canonical(library.dli_fname, ignored).filename();
    const auto suffix = file.find(".so.");
    return suffix == std::string::npos ? std::string(DDS_VERSION) : file.substr(suffix + 4);
  }();
  return found.c_str();
}

}  // namespace

const comseclab_transport_api* comseclab_transport_entry(void) {
  static const comseclab_transport_api api = {
      COMSECLAB_TRANSPORT_ABI,
      sizeof(comseclab_transport_api),
      "cyclonedds",
      version(),
      limits,
      open,
      advertise,
      subscribe,
      publish,
      statistics,
      close,
  };
  return &api;
}

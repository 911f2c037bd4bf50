// The C interface of comseclab/transport.h over one Fast DDS participant.

#include "comseclab/transport.h"

#include <fastrtps/config.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>

#include <cstdlib>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "boundary.hpp"
#include "endpoint.hpp"
#include "log.hpp"
#include "octets.hpp"
#include "qos.hpp"
#include "settings.hpp"
#include "sockets.hpp"

namespace fdds = eprosima::fastdds::dds;
using namespace comseclab::fastdds;
using namespace comseclab::dds;
using comseclab::fail;
using comseclab::guarded;
using eprosima::fastrtps::rtps::ParticipantAuthenticationInfo;
using eprosima::fastrtps::types::ReturnCode_t;

struct comseclab_transport : fdds::DomainParticipantListener {
  void onParticipantAuthentication(fdds::DomainParticipant* /*participant*/,
                                   ParticipantAuthenticationInfo&& info) override {
    if (info.status != ParticipantAuthenticationInfo::UNAUTHORIZED_PARTICIPANT) {
      ++authenticated;
      return;
    }
    ++refused;
    const std::lock_guard lock(mutex);
    for (const auto& writer : writers) writer->report(COMSECLAB_REJECTED, 1, "a participant failed authentication");
    for (const auto& reader : readers) reader->report(COMSECLAB_REJECTED, 1, "a participant failed authentication");
  }

  Settings settings;
  comseclab_on_event on_event = nullptr;
  void* context = nullptr;
  Buffers buffers;
  std::atomic<uint64_t> authenticated = 0;
  std::atomic<uint64_t> refused = 0;
  fdds::DomainParticipant* participant = nullptr;
  fdds::Publisher* publisher = nullptr;
  fdds::Subscriber* subscriber = nullptr;
  std::mutex mutex;  // guards the two lists
  std::vector<std::unique_ptr<comseclab_writer>> writers;
  std::vector<std::unique_ptr<comseclab_reader>> readers;
};

namespace {

[[noreturn]] void fail_with_log(const std::string& what) {
  const std::string why = take_logged_errors();
  throw std::runtime_error(what + (why.empty() ? "" : ": " + why));
}

// Settings that would come from the environment instead of the plan, and delivery that would bypass the link.
void close_side_doors() {
  setenv("SKIP_DEFAULT_XML", "1", 1);
  unsetenv("FASTRTPS_DEFAULT_PROFILES_FILE");
  unsetenv("FASTDDS_DEFAULT_PROFILES_FILE");
  unsetenv("FASTDDS_ENVIRONMENT_FILE");
  unsetenv("ROS_DISCOVERY_SERVER");
  eprosima::fastrtps::LibrarySettingsAttributes library;
  library.intraprocess_delivery = eprosima::fastrtps::INTRAPROCESS_OFF;
  eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings(library);
}

fdds::DomainParticipantQos participant_qos(const Settings& settings, const char* node) {
  auto* factory = fdds::DomainParticipantFactory::get_instance();
  if (!settings.qos_profile.empty()) {
    if (factory->load_XML_profiles_file(settings.qos_profile) != ReturnCode_t::RETCODE_OK) {
      fail_with_log("the QoS profile " + settings.qos_profile + " is refused");
    }
    // The factory looks at loaded profiles only when its defaults are reset after loading.
    factory->load_profiles();
    factory->set_default_participant_qos(fdds::PARTICIPANT_QOS_DEFAULT);
  }
  fdds::DomainParticipantQos qos = factory->get_default_participant_qos();
  apply(settings, node, qos);
  return qos;
}

void open_participant(comseclab_transport& transport, const char* node) {
  capture_log();
  close_side_doors();
  take_logged_errors();
  const auto before = udp_sockets();
  transport.participant = fdds::DomainParticipantFactory::get_instance()->create_participant(
      transport.settings.domain, participant_qos(transport.settings, node), &transport, fdds::StatusMask::none());
  if (transport.participant == nullptr) fail_with_log("Fast DDS made no participant");
  auto sockets = udp_sockets();
  for (const int socket : before) sockets.erase(socket);
  if (sockets.empty()) {
    // Fast DDS passes over interfaces without a carrier, and says nothing.
    throw std::runtime_error("Fast DDS opened no socket: no interface of the addresses given is up with a carrier");
  }
  transport.buffers = force_buffers(sockets, transport.settings.send_buffer, transport.settings.receive_buffer);
  transport.publisher = transport.participant->create_publisher(fdds::PUBLISHER_QOS_DEFAULT);
  transport.subscriber = transport.participant->create_subscriber(fdds::SUBSCRIBER_QOS_DEFAULT);
  if (transport.publisher == nullptr || transport.subscriber == nullptr) {
    fail_with_log("Fast DDS made no publisher or subscriber");
  }
}

fdds::Topic* topic_of(comseclab_transport& transport, const comseclab_stream& stream) {
  const WireNames names = wire_names(stream.topic, stream.type, stream.codec);
  if (auto* known = transport.participant->lookup_topicdescription(names.topic))
    return static_cast<fdds::Topic*>(known);
  if (transport.participant->find_type(names.type).empty()) {
    fdds::TypeSupport type(new OctetsType(names.type, names.form, stream.max_size));
    if (type.register_type(transport.participant) != ReturnCode_t::RETCODE_OK) {
      fail_with_log("type " + names.type + " is not accepted");
    }
  }
  auto* topic = transport.participant->create_topic(names.topic, names.type, fdds::TOPIC_QOS_DEFAULT);
  if (topic == nullptr) fail_with_log("topic " + names.topic + " is not accepted");
  return topic;
}

// As rmw_fastrtps does: the profile named like the topic, else the default profile.
template <typename Owner, typename Qos>
Qos endpoint_qos(const comseclab_transport& transport, const comseclab_stream& stream, Owner* owner,
                 ReturnCode_t (Owner::*from_profile)(const std::string&, Qos&) const, const Qos& otherwise) {
  Qos qos = otherwise;
  if (!transport.settings.qos_profile.empty()) (owner->*from_profile)(stream.topic, qos);
  apply(transport.settings, stream, qos);
  return qos;
}

comseclab_status limits(comseclab_limits* out) {
  // Sent: into the history, then into the datagram. Received: out of the datagram, into the history; the application
  // sees it there. Protection adds copies of its own.
  out->max_message_size = UINT32_MAX - kMostAdded;
  out->copies_sent = 2;
  out->copies_received = 1;
  return COMSECLAB_OK;
}

void close(comseclab_transport* transport) {
  const std::unique_ptr<comseclab_transport> owner(transport);
  if (transport->participant == nullptr) return;
  transport->participant->set_listener(nullptr);
  transport->participant->delete_contained_entities();
  fdds::DomainParticipantFactory::get_instance()->delete_participant(transport->participant);
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
    auto* topic = topic_of(*transport, *stream);
    const auto qos =
        endpoint_qos(*transport, *stream, transport->publisher, &fdds::Publisher::get_datawriter_qos_from_profile,
                     std::as_const(*transport->publisher).get_default_datawriter_qos());
    auto writer =
        std::make_unique<comseclab_writer>(Reporter{transport->on_event, transport->context, stream->stream, true});
    writer->entity = transport->publisher->create_datawriter(topic, qos, writer.get());
    if (writer->entity == nullptr) fail_with_log("no writer for " + topic->get_name());
    const std::lock_guard lock(transport->mutex);
    *out = transport->writers.emplace_back(std::move(writer)).get();
  });
}

comseclab_status subscribe(comseclab_transport* transport, const comseclab_stream* stream,
                           comseclab_on_message on_message, void* context, comseclab_reader** out,
                           comseclab_error* error) {
  return guarded(error, [&] {
    auto* topic = topic_of(*transport, *stream);
    const auto qos =
        endpoint_qos(*transport, *stream, transport->subscriber, &fdds::Subscriber::get_datareader_qos_from_profile,
                     std::as_const(*transport->subscriber).get_default_datareader_qos());
    auto reader = std::make_unique<comseclab_reader>(
        Reporter{transport->on_event, transport->context, stream->stream, false}, on_message, context);
    reader->entity = transport->subscriber->create_datareader(topic, qos, reader.get());
    if (reader->entity == nullptr) fail_with_log("no reader for " + topic->get_name());
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
    const std::lock_guard lock(transport->mutex);
    nlohmann::json all = {{"send_buffer", transport->buffers.send},
                          {"receive_buffer", transport->buffers.receive},
                          {"participants_authenticated", transport->authenticated.load()},
                          {"participants_refused", transport->refused.load()},
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

}  // namespace

const comseclab_transport_api* comseclab_transport_entry(void) {
  static const comseclab_transport_api api = {
      COMSECLAB_TRANSPORT_ABI,
      sizeof(comseclab_transport_api),
      "fastdds",
      FASTRTPS_VERSION_STR,
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

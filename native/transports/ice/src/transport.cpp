// The C interface of comseclab/transport.h over topics of one IceStorm broker.

#include "comseclab/transport.h"

#include <Ice/Communicator.h>
#include <Ice/LocalException.h>
#include <Ice/ObjectAdapter.h>

#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "boundary.hpp"
#include "communicator.hpp"
#include "endpoint.hpp"
#include "errors.hpp"
#include "session.hpp"
#include "settings.hpp"

using namespace comseclab::ice;
using comseclab::fail;
using comseclab::guarded;
using std::chrono::milliseconds;

struct comseclab_transport {
  milliseconds count_subscribers();

  Settings settings;
  std::string node;
  comseclab_on_event on_event = nullptr;
  void* context = nullptr;
  std::shared_ptr<Ice::Communicator> communicator;
  std::shared_ptr<Ice::ObjectAdapter> adapter;  // only where something is read
  std::shared_ptr<IceStorm::TopicManagerPrx> manager;
  std::string no_manager = "it has not answered";  // why there is none
  std::mutex mutex;                                // guards the two lists
  std::vector<std::unique_ptr<comseclab_writer>> writers;
  std::vector<std::shared_ptr<comseclab_reader>> readers;
  std::unique_ptr<Session> session;  // last: its thread uses the others
};

milliseconds comseclab_transport::count_subscribers() {
  // Often while a writer waits for its matches, seldom beside the messages.
  constexpr milliseconds kOften{20};
  constexpr milliseconds kSeldom{1000};
  std::vector<comseclab_writer*> joined;
  {
    const std::lock_guard lock(mutex);
    for (const auto& writer : writers) {
      if (writer->joined) joined.push_back(writer.get());
    }
  }
  bool waiting = !joined.empty();
  for (auto* writer : joined) {
    waiting = waiting && writer->taken == 0;
    writer->count();
  }
  return waiting ? kOften : kSeldom;
}

namespace {

// Ice counts sizes in 32 bits with a sign, headers included.
constexpr uint64_t kMostBytes = std::numeric_limits<int32_t>::max() - 4096;

// For each request that is made while closing.
constexpr int kCloseTimeoutMs = 1000;

void connect(comseclab_transport& transport) {
  const std::string where =
      endpoint(transport.settings, transport.settings.broker_address, transport.settings.broker_port);
  const auto proxy = transport.communicator->stringToProxy("IceStorm/TopicManager:" + where);
  try {
    proxy->ice_getConnection();
    transport.manager = Ice::uncheckedCast<IceStorm::TopicManagerPrx>(proxy);
  } catch (const Ice::ConnectFailedException& exception) {
    throw std::runtime_error("no IceStorm at " + where + " (" + one_line(exception) +
                             "): start icebox with it there, or correct broker_address and broker_port");
  } catch (const Ice::ConnectionLostException& exception) {
    // Under TLS 1.3 a client has ended its handshake before the server looks at its certificate.
    const auto& tls = transport.settings.tls;
    throw std::runtime_error("IceStorm at " + where + " hung up (" + one_line(exception) + ")" +
                             (tls ? ": it does not accept the certificate " + tls->certificate : ""));
  } catch (const Ice::LocalException& exception) {
    throw std::runtime_error("IceStorm at " + where + " cannot be used: " + one_line(exception));
  }
}

// Ice refuses a message that is too large where it arrives, and often without the sender's knowing.
void warn_of_limit(const Settings& settings, const comseclab_stream& stream, const Reporter& report) {
  const int limit_kb = settings.message_size_max_kb;
  if (limit_kb == 0 || stream.max_size <= static_cast<uint64_t>(limit_kb) * 1024) return;
  const std::string text = "IceStorm refuses messages above message_size_max_kb, " + std::to_string(limit_kb) +
                           " kB; this stream's reach " + std::to_string(stream.max_size) + " bytes";
  report(COMSECLAB_REJECTED, 0, text.c_str());
}

// Joins a stream's end to its topic, on the session's thread.
template <typename End, typename Join>
void join(comseclab_transport& transport, const comseclab_stream& stream, End* end, Join how) {
  transport.session->step(
      [&transport, name = topic_name(stream), how] {
        if (!transport.manager) throw std::runtime_error("IceStorm: " + transport.no_manager);
        how(topic_of(*transport.manager, name));
      },
      [end](const std::string& failure) { end->report(COMSECLAB_REJECTED, 1, failure.c_str()); });
}

comseclab_status limits(comseclab_limits* out) {
  // Sent: into the request that is written to the socket. Received: the application sees the bytes where Ice has read
  // them. In between the broker copies twice, and TLS adds copies of its own.
  out->max_message_size = kMostBytes;
  out->copies_sent = 1;
  out->copies_received = 0;
  return COMSECLAB_OK;
}

void close(comseclab_transport* transport) {
  const std::unique_ptr<comseclab_transport> owner(transport);
  if (!transport->communicator) return;
  if (transport->session) transport->session->stop();
  for (const auto& reader : transport->readers) {
    if (!reader->joined) continue;
    guarded(
        nullptr, [&] { reader->topic->ice_invocationTimeout(kCloseTimeoutMs)->unsubscribe(reader->subscription); },
        one_line);
  }
  transport->communicator->destroy();
}

comseclab_status open(const comseclab_open* request, comseclab_transport** out, comseclab_error* error) {
  auto transport = std::make_unique<comseclab_transport>();
  const auto status = guarded(
      error,
      [&] {
        transport->settings = parse_settings(request->settings);
        transport->node = request->node;
        transport->on_event = request->on_event;
        transport->context = request->context;
        transport->communicator = make_communicator(transport->settings);
        auto* raw = transport.get();
        transport->session = std::make_unique<Session>([raw] { return raw->count_subscribers(); });
        transport->session->step([raw] { connect(*raw); },
                                 [raw](const std::string& failure) { raw->no_manager = failure; });
      },
      one_line);
  if (status == COMSECLAB_OK) {
    *out = transport.release();
  } else {
    close(transport.release());
  }
  return status;
}

comseclab_status advertise(comseclab_transport* transport, const comseclab_stream* stream, comseclab_writer** out,
                           comseclab_error* error) {
  return guarded(
      error,
      [&] {
        auto owned = std::make_unique<comseclab_writer>(
            Reporter{transport->on_event, transport->context, stream->stream, true}, stream->reliable != 0);
        auto* writer = owned.get();
        {
          const std::lock_guard lock(transport->mutex);
          transport->writers.push_back(std::move(owned));
        }
        warn_of_limit(transport->settings, *stream, writer->report);
        join(*transport, *stream, writer, [writer](const auto& topic) { writer->join(topic); });
        *out = writer;
      },
      one_line);
}

comseclab_status subscribe(comseclab_transport* transport, const comseclab_stream* stream,
                           comseclab_on_message on_message, void* context, comseclab_reader** out,
                           comseclab_error* error) {
  return guarded(
      error,
      [&] {
        if (!transport->adapter) {
          const std::string where = endpoint(transport->settings, transport->settings.address, 0);
          transport->adapter = transport->communicator->createObjectAdapterWithEndpoints("Subscriptions", where);
          transport->adapter->activate();
        }
        const auto reader =
            std::make_shared<comseclab_reader>(Reporter{transport->on_event, transport->context, stream->stream, false},
                                               stream->reliable != 0, on_message, context);
        {
          const std::lock_guard lock(transport->mutex);
          transport->readers.push_back(reader);
        }
        const auto proxy = transport->adapter->add(reader, {std::to_string(stream->stream), transport->node});
        join(*transport, *stream, reader.get(), [reader, proxy](const auto& topic) { reader->join(topic, proxy); });
        *out = reader.get();
      },
      one_line);
}

comseclab_status publish(comseclab_writer* writer, const uint8_t* bytes, size_t size, comseclab_error* error) {
  if (size > kMostBytes) return fail(error, "a message may not exceed 2 GiB", COMSECLAB_TOO_LARGE);
  return writer->publish(bytes, size, error);
}

comseclab_status statistics(comseclab_transport* transport, char* json, size_t capacity) {
  return guarded(
      nullptr,
      [&] {
        const std::lock_guard lock(transport->mutex);
        nlohmann::json all = {{"writers", nlohmann::json::object()}, {"readers", nlohmann::json::object()}};
        for (const auto& writer : transport->writers) {
          all["writers"][std::to_string(writer->report.stream)] = writer->statistics();
        }
        for (const auto& reader : transport->readers) {
          all["readers"][std::to_string(reader->report.stream)] = reader->statistics();
        }
        std::snprintf(json, capacity, "%s", all.dump().c_str());
      },
      one_line);
}

}  // namespace

const comseclab_transport_api* comseclab_transport_entry(void) {
  static const comseclab_transport_api api = {
      COMSECLAB_TRANSPORT_ABI,
      sizeof(comseclab_transport_api),
      "ice",
      loaded_version(),
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

// The C interface of comseclab/transport.h over one ROS 1 node.

#include "comseclab/transport.h"

#include <ros/callback_queue.h>
#include <ros/console.h>
#include <ros/init.h>
#include <ros/master.h>
#include <ros/node_handle.h>

#include <algorithm>
#include <atomic>
#include <boost/make_shared.hpp>
#include <cctype>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "boundary.hpp"
#include "endpoint.hpp"
#include "reach.hpp"
#include "settings.hpp"

using namespace comseclab::ros1;
using comseclab::guarded;

namespace {

constexpr double kMasterTimeoutS = 5;
constexpr double kUnmatchedWaitS = 0.02;
constexpr double kMatchedWaitS = 0.5;

struct WakeUp : ros::CallbackInterface {
  CallResult call() override { return Success; }
};

}  // namespace

struct comseclab_transport {
  // Runs all callbacks. A waiting callback wakes it at once; the waits only bound how late a match is seen.
  void serve() {
    while (!closing) {
      queue.callOne(ros::WallDuration(all_matched() ? kMatchedWaitS : kUnmatchedWaitS));
    }
  }

  bool all_matched() {
    const std::lock_guard lock(mutex);
    return std::count_if(readers.begin(), readers.end(), [](auto& reader) { return reader->poll() == 0; }) == 0;
  }

  Settings settings;
  comseclab_on_event on_event = nullptr;
  void* context = nullptr;
  ros::CallbackQueue queue;
  std::unique_ptr<ros::NodeHandle> node;
  std::mutex mutex;  // guards the two lists
  std::vector<std::unique_ptr<comseclab_writer>> writers;
  std::vector<std::unique_ptr<comseclab_reader>> readers;
  std::atomic<bool> closing = false;
  std::thread server;
};

namespace {

// ROS 1 takes letters, digits and underscores, a letter first.
std::string node_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return std::isalpha(static_cast<unsigned char>(name.front())) != 0 ? name : "n" + name;
}

void open_node(comseclab_transport& transport, const char* name) {
  if (ros::isInitialized()) throw std::runtime_error("roscpp makes one node a process, and there is one already");
  const Settings& settings = transport.settings;
  const std::string uri = "http://" + settings.master + ":" + std::to_string(settings.master_port);
  const std::string missing = "no ROS master answers at " + uri + ": start roscore there";
  if (!reachable(settings.master, settings.master_port, kMasterTimeoutS)) throw std::runtime_error(missing);
  ros::console::set_logger_level(ROSCONSOLE_DEFAULT_NAME, ros::console::levels::Warn);
  // roscpp writes no log, but makes the folder of one, in the user's home unless it is told another.
  ros::init(ros::M_string{{"__master", uri}, {"__ip", settings.address}, {"__log", "/dev/null"}}, node_name(name),
            ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
  if (!ros::master::check()) throw std::runtime_error(missing);
  ros::master::setRetryTimeout(ros::WallDuration(kMasterTimeoutS));
  transport.node = std::make_unique<ros::NodeHandle>();
  transport.node->setCallbackQueue(&transport.queue);
  transport.server = std::thread([&transport] { transport.serve(); });
}

comseclab_status limits(comseclab_limits* out) {
  // Sent: into roscpp's own buffer, from which the socket is written. Received: TCPROS reads from the socket into the
  // buffer that is delivered; UDPROS copies once, out of a datagram's buffer (a reader's statistics tell).
  out->max_message_size = kLargestMessage - 2 * kLengthPrefix;
  out->copies_sent = 1;
  out->copies_received = 0;
  return COMSECLAB_OK;
}

void close(comseclab_transport* transport) {
  const std::unique_ptr<comseclab_transport> owner(transport);
  transport->closing = true;
  transport->queue.disable();
  if (transport->server.joinable()) transport->server.join();
  transport->readers.clear();
  transport->writers.clear();
  if (ros::isStarted()) ros::shutdown();
  transport->node.reset();
}

comseclab_status open(const comseclab_open* request, comseclab_transport** out, comseclab_error* error) {
  auto transport = std::make_unique<comseclab_transport>();
  const auto status = guarded(error, [&] {
    transport->settings = parse_settings(request->settings);
    transport->on_event = request->on_event;
    transport->context = request->context;
    open_node(*transport, request->node);
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
    const Reporter reporter{transport->on_event, transport->context, stream->stream, true};
    auto writer = std::make_unique<comseclab_writer>(*transport->node, transport->settings, *stream, reporter);
    const std::lock_guard lock(transport->mutex);
    *out = transport->writers.emplace_back(std::move(writer)).get();
  });
}

comseclab_status subscribe(comseclab_transport* transport, const comseclab_stream* stream,
                           comseclab_on_message on_message, void* context, comseclab_reader** out,
                           comseclab_error* error) {
  return guarded(error, [&] {
    const Reporter reporter{transport->on_event, transport->context, stream->stream, false};
    auto reader = std::make_unique<comseclab_reader>(*transport->node, transport->settings, *stream, reporter,
                                                     on_message, context);
    const std::lock_guard lock(transport->mutex);
    *out = transport->readers.emplace_back(std::move(reader)).get();
    transport->queue.addCallback(boost::make_shared<WakeUp>());
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
    nlohmann::json all = {{"writers", nlohmann::json::object()}, {"readers", nlohmann::json::object()}};
    for (const auto& writer : transport->writers) {
      all["writers"][std::to_string(writer->report.stream)] = writer->statistics();
    }
    for (const auto& reader : transport->readers) {
      all["readers"][std::to_string(reader->report.stream)] = reader->statistics();
    }
    std::snprintf(json, capacity, "%s", all.dump().c_str());
  });
}

#define COMSECLAB_TEXT(number) #number
#define COMSECLAB_VERSION(major, minor, patch) COMSECLAB_TEXT(major) "." COMSECLAB_TEXT(minor) "." COMSECLAB_TEXT(patch)

}  // namespace

const comseclab_transport_api* comseclab_transport_entry(void) {
  static const comseclab_transport_api api = {
      COMSECLAB_TRANSPORT_ABI,
      sizeof(comseclab_transport_api),
      "ros1",
      COMSECLAB_VERSION(ROS_VERSION_MAJOR, ROS_VERSION_MINOR, ROS_VERSION_PATCH),
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

// One stream's sending or receiving end.
#pragma once

#include <ros/node_handle.h>
#include <ros/publisher.h>
#include <ros/subscriber.h>

#include <atomic>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "comseclab/transport.h"
#include "names.hpp"

namespace comseclab::ros1 {

// Hands events to the node.
struct Reporter {
  comseclab_on_event on_event;
  void* context;
  uint32_t stream;
  bool is_writer;

  void operator()(comseclab_event_kind kind, uint64_t count, const char* text = nullptr) const;
};

}  // namespace comseclab::ros1

struct comseclab_writer {
  // Advertises. Throws ros::Exception, or std::runtime_error with a line for the user.
  comseclab_writer(ros::NodeHandle& node, const comseclab::ros1::Settings& settings, const comseclab_stream& stream,
                   comseclab::ros1::Reporter reporter);

  comseclab_status publish(const uint8_t* bytes, size_t size, comseclab_error* error);
  [[nodiscard]] nlohmann::json statistics() const;

  const comseclab::ros1::Reporter report;

 private:
  void on_change();

  const comseclab::ros1::WireNames names_;
  const uint32_t queue_size_;
  const uint32_t largest_;
  std::atomic<uint64_t> taken_ = 0;
  std::mutex mutex_;  // a subscriber may come while we advertise
  ros::Publisher publisher_;
};

struct comseclab_reader {
  // Subscribes. Throws ros::Exception, or std::runtime_error with a line for the user.
  comseclab_reader(ros::NodeHandle& node, const comseclab::ros1::Settings& settings, const comseclab_stream& stream,
                   comseclab::ros1::Reporter reporter, comseclab_on_message on_message, void* context);

  // Reports the number of publishers if it has changed: roscpp has no callback for it. Returns it.
  uint32_t poll();
  // Called by roscpp with the message as received.
  void deliver(const uint8_t* bytes, size_t size, const std::string& sender);
  [[nodiscard]] nlohmann::json statistics() const;

  const comseclab::ros1::Reporter report;

 private:
  const comseclab::ros1::WireNames names_;
  const uint32_t queue_size_;
  const bool udpros_;
  comseclab_on_message on_message_;
  void* message_context_;
  uint32_t matched_ = 0;
  std::atomic<uint64_t> delivered_ = 0;
  std::atomic<uint64_t> malformed_ = 0;
  ros::Subscriber subscriber_;
};

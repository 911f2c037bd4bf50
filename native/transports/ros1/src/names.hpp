// How a stream stands in ROS 1's graph: its topic, its type, its queues, its limits.
#pragma once

#include <cstdint>
#include <string>

#include "comseclab/transport.h"
#include "settings.hpp"

namespace comseclab::ros1 {

// How a stream's bytes stand in the message on the wire.
enum class Form {
  kMessage,  // the bytes are the message
  kOctets,   // the message is `uint8[] bytes`: a length, then the bytes
};

// Under the codec ros1, bytes of a type that ROS 1 has go under that type on the stream's own topic. All others go as
// comseclab/Octets on a topic of their own, so that nobody takes them for what they are not: "/scan/cdr",
// "/scan/opaque", "/scan/ros1" (a type that ROS 1 does not have).
struct WireNames {
  Form form;
  std::string topic;
  MessageType type;
};
WireNames wire_names(const Settings& settings, const comseclab_stream& stream);

// Messages that wait on either side, as the plan says. Else 100, within 256 MiB, but at least 4. 0 would be no limit.
uint32_t queue_size(const Settings& settings, const comseclab_stream& stream);

// TCPROS: roscpp takes a length above 10^9 for a broken stream and drops the connection (connection.cpp,
// transport_publisher_link.cpp). UDPROS: datagrams are numbered with 16 bits.
constexpr uint32_t kLargestMessage = 1'000'000'000;
constexpr uint32_t kLengthPrefix = 4;
uint32_t largest_message(const Settings& settings, const comseclab_stream& stream);

}  // namespace comseclab::ros1

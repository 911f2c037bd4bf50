// What the DDS transports have in common: ROS 2's names on the wire, and a stream's bytes in a serialised payload. The
// stacks read each other because both are made here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace comseclab::dds {

// Bytes owned by someone else.
struct View {
  const uint8_t* bytes = nullptr;
  size_t size = 0;
};

// How a stream's bytes stand in the serialised payload.
enum class Form {
  kCdr,     // the bytes are the payload, encapsulation header included
  kOctets,  // the payload is a CDR `sequence<octet>` of the bytes
};

constexpr uint32_t kOctetsHeader = 8;               // encapsulation header, then the sequence's length
constexpr uint32_t kMostAdded = kOctetsHeader + 3;  // padding included

// Of a payload that holds `size` bytes; a multiple of four.
uint32_t payload_size(Form form, size_t size);
// Writes all payload_size() bytes; one copy of `view`.
void write_payload(Form form, View view, uint8_t* payload);
// The bytes a payload holds, in place; no bytes where the payload is shorter than its own header says.
View read_payload(Form form, const uint8_t* payload, size_t size);

// ROS 2's names on the wire: "/scan" -> "rt/scan", "sensor_msgs/msg/LaserScan" -> "sensor_msgs::msg::dds_::LaserScan_".
// Bytes that are not CDR of the type go under a type and a topic of their own: "rt/scan/ros1".
struct WireNames {
  Form form;
  std::string topic;
  std::string type;
};
// Throws std::invalid_argument where the type is not package/msg/Name.
WireNames wire_names(const std::string& topic, const std::string& type, const std::string& codec);

}  // namespace comseclab::dds

// What the laboratory's Python side hands to open(), as a struct.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace comseclab::ros1 {

// A message type as ROS 1 knows it, by which both ends of a connection check that they mean the same.
struct MessageType {
  std::string datatype;    // "sensor_msgs/LaserScan"
  std::string md5sum;      // of the definition, as ROS 1 computes it
  std::string definition;  // with those of the types it names
};

struct Settings {
  std::string master = "127.0.0.1";  // address
  uint16_t master_port = 11311;
  std::string address = "127.0.0.1";         // of the node's own interface
  std::optional<uint32_t> queue_size;        // messages, on either side; without it: names.hpp
  uint32_t max_datagram_size = 1500;         // bytes of one UDPROS datagram with its header; roscpp's default
  std::map<std::string, MessageType> types;  // by ROS 2 name, "sensor_msgs/msg/LaserScan"
};

// Throws std::invalid_argument with one line for the user.
Settings parse_settings(const char* json);

}  // namespace comseclab::ros1

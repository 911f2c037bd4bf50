// What the laboratory's Python side hands to open(), as a struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace comseclab::cyclonedds {

struct Settings {
  uint32_t domain = 0;
  // Cyclone DDS configuration, each an XML text; where two say different things, the later one holds.
  std::vector<std::string> configuration;
  uint32_t send_buffer = 4U << 20;             // bytes, of each socket
  uint32_t receive_buffer = 4U << 20;          // bytes, of each socket
  std::optional<uint32_t> history_depth;       // samples; where not given, see qos.hpp
  std::optional<uint32_t> publish_timeout_ms;  // how long publish() waits for room in a reliable history
};

// Throws std::invalid_argument with one line for the user.
Settings parse_settings(const char* json);

}  // namespace comseclab::cyclonedds

// What the laboratory's Python side hands to open(), as a struct.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace comseclab::fastdds {

enum class PublishMode { kSynchronous, kAsynchronous };

// Paths of the six documents of DDS Security's builtin plugins (DDS Security 1.1, clause 9).
struct Security {
  std::string identity_ca;
  std::string certificate;
  std::string key;
  std::string governance;
  std::string permissions;
  std::string permissions_ca;
};

struct Settings {
  uint32_t domain = 0;
  std::vector<std::string> addresses;  // of the interfaces to use; empty: all
  uint32_t max_message_size = 65500;   // bytes of one RTPS message (one UDP datagram)
  uint32_t send_buffer = 4U << 20;     // bytes, of each socket
  uint32_t receive_buffer = 4U << 20;  // bytes, of each socket
  // Where these are not given, the user's profile decides, else qos.hpp.
  std::optional<PublishMode> publish_mode;
  std::optional<uint32_t> history_depth;       // samples
  std::optional<uint32_t> publish_timeout_ms;  // how long publish() waits for room in a reliable history
  std::string qos_profile;                     // the user's XML file; empty: none
  std::optional<Security> security;
};

// Throws std::invalid_argument with one line for the user.
Settings parse_settings(const char* json);

}  // namespace comseclab::fastdds

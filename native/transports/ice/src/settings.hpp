// What the laboratory tells this transport, see src/comseclab/middleware/ice.py.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace comseclab::ice {

// PEM files. With them, nothing but TLS is spoken or listened to.
struct Tls {
  std::string identity_ca;
  std::string certificate;
  std::string key;
  // Whether a server's certificate must be made out to the address it is reached at.
  bool check_address = true;
};

struct Settings {
  std::string broker_address;
  uint16_t broker_port = 0;  // of IceStorm's topic manager
  std::string address;       // the node's own, where the broker reaches its subscriptions
  int message_size_max_kb = 1024;
  std::optional<Tls> tls;
};

// Throws std::invalid_argument with one line.
Settings parse_settings(const char* text);

}  // namespace comseclab::ice

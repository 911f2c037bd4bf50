#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "clock.h"

namespace comseclab {

enum class Role { publisher, subscriber, echo };

struct TransportConfig {
  std::string library;
  std::string settings;  ///< JSON, for the transport alone
};

struct StreamConfig {
  uint16_t id;
  uint32_t transport;
  std::string topic;
  std::string type;  ///< empty: opaque
  std::string codec;
  bool reliable;
  uint32_t max_size;
  double rate_hz;
  uint16_t reader;
  std::filesystem::path spool;
  uint32_t messages;
  bool echo;
};

/// A node's configuration: docs/formats.md, "Node".
struct Config {
  std::string node;
  Role role;
  std::string nonce;
  Calibration clock;
  std::vector<int> cpus;
  std::optional<int> fifo_priority;
  bool lock_memory;
  uint32_t rounds;
  std::filesystem::path records;
  uint32_t keep_bytes;  ///< of each message, beside its record; 0: none
  nlohmann::json types;
  std::vector<TransportConfig> transports;
  std::vector<StreamConfig> streams;
};

/// Throws Fatal, naming the key that is missing or wrong.
Config read_config(const std::filesystem::path& path);

}  // namespace comseclab

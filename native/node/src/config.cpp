#include "config.h"

#include <fstream>
#include <limits>
#include <set>

#include "fatal.h"

namespace comseclab {
namespace {

using nlohmann::json;

constexpr uint32_t kMostKeptBytes = 1U << 20U;
const std::string kRemedy = "see Node in docs/formats.md";

[[noreturn]] void refuse(const std::string& what) {
  throw Fatal("node configuration: " + what, kRemedy);
}

const json& member(const json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end()) refuse("'" + key + "' is missing");
  return *found;
}

template <typename T>
T value(const json& object, const std::string& key) {
  try {
    return member(object, key).get<T>();
  } catch (const json::exception&) {
    refuse("'" + key + "' has the wrong type");
  }
}

/// An integer that fits T, at least `least`.
template <typename T>
T whole(const json& object, const std::string& key, int64_t least = 0) {
  const json& number = member(object, key);
  const auto most = static_cast<int64_t>(std::numeric_limits<T>::max());
  if (!number.is_number_integer() || number.get<int64_t>() < least || number.get<int64_t>() > most) {
    refuse("'" + key + "' is not an integer in " + std::to_string(least) + " .. " + std::to_string(most));
  }
  return static_cast<T>(number.get<int64_t>());
}

const json& array(const json& object, const std::string& key) {
  const json& list = member(object, key);
  if (!list.is_array()) refuse("'" + key + "' is not a list");
  return list;
}

Role parse_role(const std::string& role) {
  if (role == "publisher") return Role::publisher;
  if (role == "subscriber") return Role::subscriber;
  if (role == "echo") return Role::echo;
  refuse("role '" + role + "' is none of publisher, subscriber, echo");
}

Calibration parse_clock(const json& clock) {
  const auto source = value<std::string>(clock, "source");
  if (source != "tsc" && source != "monotonic") refuse("clock source '" + source + "' is neither tsc nor monotonic");
  return {source == "tsc" ? ClockSource::tsc : ClockSource::monotonic, value<double>(clock, "ticks_per_second"),
          value<int64_t>(clock, "reference_tick"), value<int64_t>(clock, "reference_ns")};
}

StreamConfig parse_stream(const json& stream, Role role, size_t transports) {
  StreamConfig parsed{};
  parsed.id = whole<uint16_t>(stream, "id");
  parsed.transport = whole<uint32_t>(stream, "transport");
  parsed.topic = value<std::string>(stream, "topic");
  parsed.type = value<std::string>(stream, "type");
  parsed.codec = parsed.type.empty() ? "opaque" : value<std::string>(stream, "codec");
  parsed.reliable = value<bool>(stream, "reliable");
  parsed.max_size = whole<uint32_t>(stream, "max_size", 1);
  parsed.rate_hz = value<double>(stream, "rate_hz");
  parsed.reader = whole<uint16_t>(stream, "reader");
  parsed.messages = whole<uint32_t>(stream, "messages", 1);
  parsed.echo = value<bool>(stream, "echo");
  if (role == Role::publisher) parsed.spool = value<std::string>(stream, "spool");
  if (parsed.id >= 10000) refuse("stream id " + std::to_string(parsed.id) + " is not below 10000");
  if (parsed.transport >= transports)
    refuse("stream " + std::to_string(parsed.id) + " names a transport that is not listed");
  if (!parsed.type.empty() && parsed.codec != "cdr" && parsed.codec != "ros1") {
    refuse("codec '" + parsed.codec + "' is neither cdr nor ros1");
  }
  return parsed;
}

json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw Fatal("cannot read " + path.string(), "name a readable configuration");
  json config = json::parse(file, nullptr, false);
  if (!config.is_object()) throw Fatal(path.string() + " is not a JSON object", kRemedy);
  return config;
}

}  // namespace

Config read_config(const std::filesystem::path& path) {
  const json source = read_json(path);
  if (whole<int>(source, "version") != 1) refuse("version is not 1");
  Config config{};
  config.node = value<std::string>(source, "node");
  config.role = parse_role(value<std::string>(source, "role"));
  config.nonce = value<std::string>(source, "nonce");
  config.clock = parse_clock(member(source, "clock"));
  config.cpus = value<std::vector<int>>(source, "cpus");
  if (!member(source, "fifo_priority").is_null()) config.fifo_priority = whole<int>(source, "fifo_priority", 1);
  config.lock_memory = value<bool>(source, "lock_memory");
  config.rounds = whole<uint16_t>(source, "rounds", 1);
  config.records = value<std::string>(source, "records");
  if (source.contains("keep_bytes")) config.keep_bytes = whole<uint32_t>(source, "keep_bytes");
  config.types = member(source, "types");
  if (config.rounds > 1000) refuse("more than 1000 rounds");
  if (config.keep_bytes > kMostKeptBytes) refuse("'keep_bytes' is above " + std::to_string(kMostKeptBytes));
  if (!config.types.is_object()) refuse("'types' is not an object");
  for (const json& transport : array(source, "transports")) {
    config.transports.push_back({value<std::string>(transport, "library"), member(transport, "settings").dump()});
  }
  std::set<uint16_t> ids;
  for (const json& stream : array(source, "streams")) {
    config.streams.push_back(parse_stream(stream, config.role, config.transports.size()));
    if (!ids.insert(config.streams.back().id).second) refuse("two streams have one id");
  }
  if (config.streams.empty()) refuse("no streams");
  return config;
}

}  // namespace comseclab

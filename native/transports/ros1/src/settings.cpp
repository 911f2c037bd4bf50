#include "settings.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace comseclab::ros1 {
namespace {

using nlohmann::json;

std::map<std::string, MessageType> parse_types(const json& given) {
  std::map<std::string, MessageType> types;
  for (const auto& [name, type] : given.items()) {
    types[name] = {type.at("datatype"), type.at("md5sum"), type.at("definition")};
  }
  return types;
}

void assign(Settings& settings, const std::string& key, const json& value) {
  if (key == "master") {
    value.get_to(settings.master);
  } else if (key == "master_port") {
    value.get_to(settings.master_port);
  } else if (key == "address") {
    value.get_to(settings.address);
  } else if (key == "queue_size") {
    settings.queue_size = value.get<uint32_t>();
  } else if (key == "max_datagram_size") {
    value.get_to(settings.max_datagram_size);
  } else if (key == "types") {
    settings.types = parse_types(value);
  } else {
    throw std::invalid_argument("unknown setting \"" + key + "\" for ros1");
  }
}

}  // namespace

Settings parse_settings(const char* text) try {
  Settings settings;
  const json given = json::parse(text);
  for (const auto& [key, value] : given.items()) assign(settings, key, value);
  return settings;
} catch (const json::exception& error) {
  throw std::invalid_argument(std::string("the settings for ros1 are not understood: ") + error.what());
}

}  // namespace comseclab::ros1

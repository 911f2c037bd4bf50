#include "settings.hpp"

#include "settings_reader.hpp"

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

bool assign(Settings& settings, const std::string& key, const json& value) {
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
    return false;
  }
  return true;
}

}  // namespace

Settings parse_settings(const char* text) {
  return read_settings<Settings>(text, "ros1", assign);
}

}  // namespace comseclab::ros1

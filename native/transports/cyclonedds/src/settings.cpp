#include "settings.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>

namespace comseclab::cyclonedds {
namespace {

using nlohmann::json;

void assign(Settings& settings, const std::string& key, const json& value) {
  if (key == "domain") {
    value.get_to(settings.domain);
  } else if (key == "configuration") {
    value.get_to(settings.configuration);
  } else if (key == "send_buffer") {
    value.get_to(settings.send_buffer);
  } else if (key == "receive_buffer") {
    value.get_to(settings.receive_buffer);
  } else if (key == "history_depth") {
    settings.history_depth = value.get<uint32_t>();
  } else if (key == "publish_timeout_ms") {
    settings.publish_timeout_ms = value.get<uint32_t>();
  } else {
    throw std::invalid_argument("unknown setting \"" + key + "\" for cyclonedds");
  }
}

}  // namespace

Settings parse_settings(const char* text) try {
  Settings settings;
  const json given = json::parse(text);
  for (const auto& [key, value] : given.items()) assign(settings, key, value);
  return settings;
} catch (const json::exception& error) {
  throw std::invalid_argument(std::string("the settings for cyclonedds are not understood: ") + error.what());
}

}  // namespace comseclab::cyclonedds

#include "settings.hpp"

#include "settings_reader.hpp"

namespace comseclab::cyclonedds {
namespace {

using nlohmann::json;

bool assign(Settings& settings, const std::string& key, const json& value) {
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
    return false;
  }
  return true;
}

}  // namespace

Settings parse_settings(const char* text) {
  return read_settings<Settings>(text, "cyclonedds", assign);
}

}  // namespace comseclab::cyclonedds

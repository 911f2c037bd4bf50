#include "settings.hpp"

#include <stdexcept>

#include "settings_reader.hpp"

namespace comseclab::fastdds {
namespace {

using nlohmann::json;

PublishMode parse_mode(const json& mode) {
  if (mode == "synchronous") return PublishMode::kSynchronous;
  if (mode == "asynchronous") return PublishMode::kAsynchronous;
  throw std::invalid_argument("publish_mode is synchronous or asynchronous, not " + mode.dump());
}

Security parse_security(const json& documents) {
  return {
      .identity_ca = readable_at(documents, "identity_ca"),
      .certificate = readable_at(documents, "certificate"),
      .key = readable_at(documents, "key"),
      .governance = readable_at(documents, "governance"),
      .permissions = readable_at(documents, "permissions"),
      .permissions_ca = readable_at(documents, "permissions_ca"),
  };
}

bool assign(Settings& settings, const std::string& key, const json& value) {
  if (key == "domain") {
    value.get_to(settings.domain);
  } else if (key == "addresses") {
    value.get_to(settings.addresses);
  } else if (key == "max_message_size") {
    value.get_to(settings.max_message_size);
  } else if (key == "send_buffer") {
    value.get_to(settings.send_buffer);
  } else if (key == "receive_buffer") {
    value.get_to(settings.receive_buffer);
  } else if (key == "publish_mode") {
    settings.publish_mode = parse_mode(value);
  } else if (key == "history_depth") {
    settings.history_depth = value.get<uint32_t>();
  } else if (key == "publish_timeout_ms") {
    settings.publish_timeout_ms = value.get<uint32_t>();
  } else if (key == "qos_profile") {
    settings.qos_profile = readable(value.get<std::string>(), key);
  } else if (key == "security") {
    settings.security = parse_security(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Settings parse_settings(const char* text) {
  return read_settings<Settings>(text, "fastdds", assign);
}

}  // namespace comseclab::fastdds

#include "settings.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace comseclab::fastdds {
namespace {

using nlohmann::json;

std::string readable(const json& document, const char* what) {
  auto path = document.get<std::string>();
  if (!std::ifstream(path).good()) throw std::invalid_argument(std::string(what) + " " + path + " cannot be read");
  return path;
}

PublishMode parse_mode(const json& mode) {
  if (mode == "synchronous") return PublishMode::kSynchronous;
  if (mode == "asynchronous") return PublishMode::kAsynchronous;
  throw std::invalid_argument("publish_mode is synchronous or asynchronous, not " + mode.dump());
}

Security parse_security(const json& documents) {
  return {
      .identity_ca = readable(documents.at("identity_ca"), "identity_ca"),
      .certificate = readable(documents.at("certificate"), "certificate"),
      .key = readable(documents.at("key"), "key"),
      .governance = readable(documents.at("governance"), "governance"),
      .permissions = readable(documents.at("permissions"), "permissions"),
      .permissions_ca = readable(documents.at("permissions_ca"), "permissions_ca"),
  };
}

void assign(Settings& settings, const std::string& key, const json& value) {
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
    settings.qos_profile = readable(value, "qos_profile");
  } else if (key == "security") {
    settings.security = parse_security(value);
  } else {
    throw std::invalid_argument("unknown setting \"" + key + "\" for fastdds");
  }
}

}  // namespace

Settings parse_settings(const char* text) try {
  Settings settings;
  const json given = json::parse(text);
  for (const auto& [key, value] : given.items()) assign(settings, key, value);
  return settings;
} catch (const json::exception& error) {
  throw std::invalid_argument(std::string("the settings for fastdds are not understood: ") + error.what());
}

}  // namespace comseclab::fastdds

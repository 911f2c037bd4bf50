#include "settings.hpp"

#include <stdexcept>

#include "settings_reader.hpp"

namespace comseclab::ice {
namespace {

using nlohmann::json;

Tls parse_tls(const json& files) {
  return {
      .identity_ca = readable_at(files, "identity_ca"),
      .certificate = readable_at(files, "certificate"),
      .key = readable_at(files, "key"),
      .check_address = files.at("check_address").get<bool>(),
  };
}

bool assign(Settings& settings, const std::string& key, const json& value) {
  if (key == "broker_address") {
    value.get_to(settings.broker_address);
  } else if (key == "broker_port") {
    value.get_to(settings.broker_port);
  } else if (key == "address") {
    value.get_to(settings.address);
  } else if (key == "message_size_max_kb") {
    value.get_to(settings.message_size_max_kb);
  } else if (key == "tls") {
    settings.tls = parse_tls(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Settings parse_settings(const char* text) {
  auto settings = read_settings<Settings>(text, "ice", assign);
  if (settings.broker_address.empty()) throw std::invalid_argument("ice needs the setting broker_address");
  if (settings.broker_port == 0) throw std::invalid_argument("ice needs the setting broker_port");
  if (settings.address.empty()) throw std::invalid_argument("ice needs the setting address");
  return settings;
}

}  // namespace comseclab::ice

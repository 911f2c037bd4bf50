#include "settings.hpp"

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace comseclab::ice {
namespace {

using nlohmann::json;

std::string readable(const json& files, const char* what) {
  auto path = files.at(what).get<std::string>();
  if (!std::ifstream(path).good()) throw std::invalid_argument(std::string(what) + " " + path + " cannot be read");
  return path;
}

Tls parse_tls(const json& files) {
  return {
      .identity_ca = readable(files, "identity_ca"),
      .certificate = readable(files, "certificate"),
      .key = readable(files, "key"),
      .check_address = files.at("check_address").get<bool>(),
  };
}

void assign(Settings& settings, const std::string& key, const json& value) {
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
    throw std::invalid_argument("unknown setting \"" + key + "\" for ice");
  }
}

}  // namespace

Settings parse_settings(const char* text) try {
  Settings settings;
  const json given = json::parse(text);
  for (const auto& [key, value] : given.items()) assign(settings, key, value);
  for (const char* key : {"broker_address", "broker_port", "address"}) {
    if (!given.contains(key)) throw std::invalid_argument(std::string("ice needs the setting ") + key);
  }
  return settings;
} catch (const json::exception& error) {
  throw std::invalid_argument(std::string("the settings for ice are not understood: ") + error.what());
}

}  // namespace comseclab::ice

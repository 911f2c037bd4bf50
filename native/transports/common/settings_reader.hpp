// The settings that open() is handed: a JSON object, read key by key.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace comseclab {

[[noreturn]] inline void refuse_setting(const std::string& key, const std::string& stack) {
  throw std::invalid_argument("unknown setting \"" + key + "\" for " + stack);
}

// Calls `assign(settings, key, value)` for each key; it returns false for one the stack does not know. Throws
// std::invalid_argument, naming the stack, for that and for what is no such object.
template <typename Settings, typename Assign>
Settings read_settings(const char* text, const std::string& stack, Assign assign) try {
  Settings settings;
  const auto given = nlohmann::json::parse(text);
  for (const auto& [key, value] : given.items()) {
    if (!assign(settings, key, value)) refuse_setting(key, stack);
  }
  return settings;
} catch (const nlohmann::json::exception& error) {
  throw std::invalid_argument("the settings for " + stack + " are not understood: " + error.what());
}

// The path. Throws std::invalid_argument when the file, known as `name`, cannot be read.
inline std::string readable(const std::string& path, const std::string& name) {
  if (!std::ifstream(path).good()) throw std::invalid_argument(name + " " + path + " cannot be read");
  return path;
}

// The path that `files` has under a name, likewise.
inline std::string readable_at(const nlohmann::json& files, const char* name) {
  return readable(files.at(name).get<std::string>(), name);
}

}  // namespace comseclab

#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "spool.h"

namespace comseclab::testing {

/// A folder that ends with the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "comseclab-XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline void put(std::string& to, uint64_t value, size_t bytes) {
  to.append(reinterpret_cast<char*>(&value), bytes);
}

/// A spool of payloads a millisecond apart.
inline std::string spool_of(const std::vector<std::string>& payloads) {
  std::string body;
  std::string index;
  size_t largest = 0;
  for (size_t i = 0; i < payloads.size(); ++i) {
    body.resize((body.size() + 7) / 8 * 8);
    put(index, i * 1'000'000, 8);
    put(index, 64 + body.size(), 8);
    put(index, payloads[i].size(), 4);
    put(index, 0, 4);
    body += payloads[i];
    largest = std::max(largest, payloads[i].size());
  }
  body.resize((body.size() + 7) / 8 * 8);
  std::string file = "CSLSPOOL";
  put(file, 1, 8);
  put(file, payloads.size(), 8);
  put(file, 64 + body.size(), 8);
  put(file, largest, 8);
  file.resize(64);
  return file + body + index;
}

inline void write(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace comseclab::testing

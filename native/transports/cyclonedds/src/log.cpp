#include "log.hpp"

#include <dds/ddsrt/log.h>

#include <algorithm>
#include <iostream>
#include <mutex>
#include <utility>

namespace comseclab::cyclonedds {
namespace {

constexpr size_t kKept = 400;  // characters; a cause is one line

std::mutex mutex;
std::string errors;
std::function<void(const std::string&)> listener;

void sink(void* /*context*/, const dds_log_data_t* entry) {
  std::string line(entry->message, entry->size);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::cerr << "cyclonedds: " << line << '\n';
  if ((entry->priority & (DDS_LC_FATAL | DDS_LC_ERROR | DDS_LC_WARNING)) == 0) return;
  {
    const std::lock_guard lock(mutex);
    if (errors.size() <= kKept) errors += (errors.empty() ? "" : "; ") + line;
  }
  if (listener) listener(line);
}

}  // namespace

void capture_log(std::function<void(const std::string&)> on_error) {
  dds_set_log_sink(nullptr, nullptr);  // no other thread calls the listener while it changes
  listener = std::move(on_error);
  dds_set_log_sink(sink, nullptr);
}

std::string take_logged_errors() {
  const std::lock_guard lock(mutex);
  return std::exchange(errors, {});
}

}  // namespace comseclab::cyclonedds

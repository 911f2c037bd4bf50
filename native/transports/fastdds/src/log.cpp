#include "log.hpp"

#include <fastdds/dds/log/Log.hpp>
#include <iostream>
#include <memory>
#include <mutex>
#include <utility>

namespace comseclab::fastdds {

using eprosima::fastdds::dds::Log;
using eprosima::fastdds::dds::LogConsumer;

namespace {

constexpr size_t kKept = 400;  // characters; a cause is one line

std::mutex mutex;
std::string errors;

class Consumer : public LogConsumer {
 public:
  void Consume(const Log::Entry& entry) override {
    std::cerr << "fastdds: " << entry.context.category << ": " << entry.message << '\n';
    if (entry.kind != Log::Kind::Error) return;
    const std::lock_guard lock(mutex);
    if (errors.size() > kKept) return;
    if (!errors.empty()) errors += "; ";
    errors += entry.message;
  }
};

}  // namespace

void capture_log() {
  static const bool once = [] {
    Log::ClearConsumers();
    Log::RegisterConsumer(std::make_unique<Consumer>());
    Log::SetVerbosity(Log::Kind::Error);
    return true;
  }();
  static_cast<void>(once);
}

std::string take_logged_errors() {
  Log::Flush();
  const std::lock_guard lock(mutex);
  return std::exchange(errors, {});
}

}  // namespace comseclab::fastdds

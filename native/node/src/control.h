#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "comseclab/transport.h"

namespace comseclab {

/// The node's control line: commands come in on standard input, events go out on what was standard output.
class Control {
 public:
  /// From here on, standard output of this process, its libraries included, is standard error.
  Control();
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void emit(const nlohmann::json& event) const;

  /// Interrupts wait(); from any thread.
  void wake() const;

  struct Wakeup {
    std::optional<std::string> line;  ///< a command
    bool ended = false;               ///< standard input has ended
  };
  /// Waits for a command, the end of input or a wake().
  Wakeup wait();

 private:
  int out_;
  int wake_;
  std::string pending_;
  bool ended_ = false;
};

/// Events of the transports, kept without allocating until the main thread may print them.
class TransportEvents {
 public:
  explicit TransportEvents(const Control& control) : control_(control) {}
  void add(const comseclab_event& event, int64_t at_ns);
  /// While held, adding wakes nobody.
  void hold(bool held) { held_ = held; }
  [[nodiscard]] bool held() const { return held_; }
  /// Emits all events added so far.
  void flush();

 private:
  struct Entry {
    comseclab_event_kind kind;
    uint32_t stream;
    uint64_t count;
    int64_t at_ns;
    std::array<char, 160> text;
  };

  const Control& control_;
  std::mutex mutex_;
  std::array<Entry, 1024> entries_{};
  size_t used_ = 0;
  uint64_t dropped_ = 0;
  std::atomic<bool> held_{false};
};

}  // namespace comseclab

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "feed.h"
#include "pacer.h"
#include "receiver.h"
#include "recorder.h"

namespace comseclab {

/// One stream's sending end: a thread that encodes and publishes each message when its time has come.
class Sender {
 public:
  /// A closed-loop sender goes on without a reply after this long.
  static constexpr int64_t kReplyWaitNs = 1'000'000'000;

  struct Parts {
    const Clock& clock;
    const comseclab_transport_api& api;
    comseclab_writer* writer;
    const Typed* typed;  ///< null: opaque
    Recorder<Send>& sends;
    Feed::Source source;
    size_t buffer_size;
    Replies* replies;                     ///< closed loop (pattern echo) where given
    std::function<void()> on_round_done;  ///< also after a failure; from the sender's thread
  };

  explicit Sender(Parts parts);
  ~Sender();
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;

  void wait_filled() { feed_.wait_filled(); }
  /// Begins the next round: index 0's intended time is `at_ns` plus its own offset.
  void start(int64_t at_ns);
  [[nodiscard]] bool idle() const { return idle_; }
  /// Throws what the sender met, if anything.
  void check();
  [[nodiscard]] uint64_t refused() const { return refused_; }
  [[nodiscard]] uint64_t dry() const { return feed_.dry(); }

 private:
  void run();
  void send_round(int64_t at_ns);
  void send_one(Prepared& prepared, int64_t intended_ns);
  void await_reply(const Prepared& prepared, int64_t round_end_ns);

  Parts parts_;
  Feed feed_;
  std::vector<std::byte> buffer_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> idle_{true};
  std::atomic<uint64_t> refused_{0};
  std::exception_ptr failure_;  ///< read by others once idle
  std::mutex mutex_;
  std::condition_variable started_;
  std::optional<int64_t> start_at_ns_;
  Pacer pacer_;
  std::thread thread_;
};

}  // namespace comseclab

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "codec.h"
#include "identity.h"
#include "spool.h"

namespace comseclab {

/// How messages of a typed stream become bytes. An opaque stream has none of this.
struct Typed {
  explicit Typed(const Layout& layout, Wire wire) : spooled(layout, Wire::cdr), sent(layout, wire), carrier(layout) {}
  Codec spooled;
  Codec sent;
  Carrier carrier;
};

/// One message ready to be encoded, its identity written.
struct Prepared {
  uint32_t index = 0;
  uint32_t round = 0;
  int64_t intended_ns = 0;  ///< since the round's start
  std::optional<Message> message;
  std::vector<std::byte> opaque;
  size_t footprint = 0;
};

/// Keeps prepared messages ahead of a sender: a thread reads and decodes them into a ring bounded in number and bytes,
/// so that a recording of any length takes no more memory than the bound.
class Feed {
 public:
  static constexpr size_t kMessages = 64;
  static constexpr size_t kBytes = 256U << 20U;

  struct Source {
    const Spool& spool;
    const Typed* typed;  ///< null: opaque
    const Nonce& nonce;
    uint32_t stream;
    uint32_t messages;  ///< a round
    uint32_t rounds;
  };

  /// Starts the thread.
  explicit Feed(const Source& source);
  ~Feed();
  Feed(const Feed&) = delete;
  Feed& operator=(const Feed&) = delete;

  /// Waits until the ring is full or holds all there is. Throws what the thread met.
  void wait_filled();

  /// The next message, waiting for it where the ring has run dry. Throws what the thread met.
  Prepared& front();
  void pop();
  /// Passes over the next message, which nobody was to send in time: waiting for it does not count as running dry.
  void discard();

  /// How often front() found nothing.
  [[nodiscard]] uint64_t dry() const { return dry_.load(std::memory_order_relaxed); }

 private:
  void run();
  bool wait_for_room(size_t bytes);
  void prepare(Prepared& slot, uint32_t round, uint32_t index);
  void release_consumed();
  bool empty() const;
  void wait_for_message();
  void rethrow_failure();

  Source source_;
  std::array<Prepared, kMessages> ring_;
  std::vector<std::byte> payload_;
  std::atomic<uint64_t> pushed_{0};
  std::atomic<uint64_t> popped_{0};
  std::atomic<uint64_t> dry_{0};
  std::atomic<uint32_t> signals_{0};  ///< to the feeding thread: room, or stop
  std::atomic<bool> filled_{false};
  std::atomic<bool> stop_{false};
  std::exception_ptr failure_;  ///< set before `failed_`
  std::atomic<bool> failed_{false};
  uint64_t released_ = 0;  ///< the feeding thread's
  size_t held_bytes_ = 0;  ///< the feeding thread's
  std::thread thread_;
};

}  // namespace comseclab

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "clock.h"
#include "comseclab/transport.h"
#include "feed.h"
#include "identity.h"
#include "recorder.h"

namespace comseclab {

/// Lets a closed-loop sender wait for the reply to the message it sent.
class Replies {
 public:
  void arrived(uint32_t round, uint32_t index);
  /// False when the reply has not come by `deadline_ns` (CLOCK_MONOTONIC) or `stop` is set.
  bool wait(uint32_t round, uint32_t index, int64_t deadline_ns, const std::atomic<bool>& stop);

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t latest_ = kNone;
};

/// One stream's receiving end: stamps, decodes, records, and where it is to, sends each genuine message back.
class Receiver {
 public:
  struct Parts {
    const Clock& clock;
    const Nonce& nonce;
    const Typed* typed;  ///< null: opaque
    Recorder<Receipt>& receipts;
    uint16_t stream;
    uint16_t reader;
    Replies* replies;            ///< told of each genuine receipt; may be null
    std::atomic<bool>& flowing;  ///< set by the first receipt
  };

  explicit Receiver(const Parts& parts) : parts_(parts) {}

  /// Sends each genuine message back through `writer` from now on.
  void echo_through(const comseclab_transport_api& api, comseclab_writer* writer, size_t buffer_size);

  /// The callback of the transport; `context` is the Receiver.
  static void on_message(void* context, const uint8_t* bytes, size_t size, const comseclab_sender* sender);

  [[nodiscard]] uint64_t foreign() const { return foreign_; }
  [[nodiscard]] uint64_t decode_failed() const { return decode_failed_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }

 private:
  void receive(std::span<const std::byte> bytes, const comseclab_sender* sender, int64_t arrived);
  void record(const Mark& mark, bool decoded, std::span<const std::byte> bytes, int64_t arrived, int64_t done,
              const comseclab_sender* sender);
  void send_back(std::span<const std::byte> bytes, const Message* message);

  Parts parts_;
  std::atomic<uint64_t> foreign_{0};
  std::atomic<uint64_t> decode_failed_{0};
  std::atomic<uint64_t> refused_{0};
  const comseclab_transport_api* echo_api_ = nullptr;
  std::atomic<comseclab_writer*> echo_writer_{nullptr};
  std::mutex echo_mutex_;  ///< of the buffer
  std::vector<std::byte> echo_buffer_;
};

}  // namespace comseclab

#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>

#include "clock.h"

namespace comseclab {

/// A send as docs/formats.md lays it out; but for `intended`, its times are ticks until it is written to disk.
struct Send {
  uint16_t stream;
  uint16_t round;
  uint32_t index;
  uint32_t size;
  uint32_t status;
  int64_t intended;
  int64_t begin;
  int64_t serialised;
  int64_t sent;
  int64_t reserved[2];
};
static_assert(sizeof(Send) == 64);

enum ReceiptFlag : uint16_t { kForeign = 1, kUndecodable = 2 };

/// A receipt as docs/formats.md lays it out; its times are ticks until it is written to disk.
struct Receipt {
  uint16_t stream;
  uint16_t reader;
  uint16_t round;
  uint16_t flags;
  uint32_t index;
  uint32_t size;
  uint32_t writer;
  uint32_t reserved;
  int64_t arrived;
  int64_t done;
  uint8_t sender[16];
  int64_t reserved2;
};
static_assert(sizeof(Receipt) == 64);

/// Anonymous memory, zero, faulted in page by page before it is used.
class FaultedMemory {
 public:
  explicit FaultedMemory(size_t bytes);
  ~FaultedMemory();
  FaultedMemory(const FaultedMemory&) = delete;
  FaultedMemory& operator=(const FaultedMemory&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_;
  size_t bytes_;
};

/// Records of one kind, kept in memory while messages flow. Any thread may add; what does not fit is counted.
/// With each record goes the beginning of its message, `keep_bytes` of it at most.
template <typename Record>
class Recorder {
 public:
  Recorder(size_t capacity, uint32_t keep_bytes)
      : memory_(capacity * sizeof(Record)),
        kept_(keep_bytes == 0 ? 0 : capacity * (sizeof(uint32_t) + keep_bytes)),
        capacity_(capacity),
        keep_bytes_(keep_bytes) {}

  void add(Record record, std::span<const std::byte> message) {
    const size_t slot = next_.fetch_add(1, std::memory_order_relaxed);
    if (slot >= capacity_) return;
    if (keep_bytes_ > 0) keep(slot, message);
    // The last time is stored last: not zero means that the record is complete.
    const int64_t last = last_time(record);
    last_time(record) = 0;
    Record& place = static_cast<Record*>(memory_.data())[slot];
    place = record;
    std::atomic_ref(last_time(place)).store(last, std::memory_order_release);
  }

  /// Ends recording and writes what was recorded, times in nanoseconds, and to `kept_path` the messages, if they are
  /// kept. Returns how many records had found no room. Throws Fatal when the disk refuses.
  size_t write(const std::filesystem::path& path, const std::filesystem::path& kept_path, const Clock& clock);

 private:
  static int64_t& last_time(Send& send) { return send.sent; }
  static int64_t& last_time(Receipt& receipt) { return receipt.done; }

  /// Count and bytes of a slot's message.
  [[nodiscard]] std::byte* kept(size_t slot) const {
    return static_cast<std::byte*>(kept_.data()) + slot * (sizeof(uint32_t) + keep_bytes_);
  }

  void keep(size_t slot, std::span<const std::byte> message) {
    const auto count = static_cast<uint32_t>(std::min<size_t>(message.size(), keep_bytes_));
    std::memcpy(kept(slot), &count, sizeof count);
    if (count > 0) std::memcpy(kept(slot) + sizeof count, message.data(), count);
  }

  FaultedMemory memory_;
  FaultedMemory kept_;
  size_t capacity_;
  uint32_t keep_bytes_;
  std::atomic<size_t> next_{0};
};

extern template class Recorder<Send>;
extern template class Recorder<Receipt>;

}  // namespace comseclab

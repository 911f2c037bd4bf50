#include "receiver.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace comseclab {
namespace {

uint64_t key(uint32_t round, uint32_t index) {
  return uint64_t{round} << 32U | index;
}

}  // namespace

void Replies::arrived(uint32_t round, uint32_t index) {
  {
    const std::lock_guard lock(mutex_);
    latest_ = key(round, index);
  }
  changed_.notify_one();
}

bool Replies::wait(uint32_t round, uint32_t index, int64_t deadline_ns, const std::atomic<bool>& stop) {
  // steady_clock is CLOCK_MONOTONIC. Woken now and then to heed a stop.
  constexpr int64_t kSliceNs = 50'000'000;
  std::unique_lock lock(mutex_);
  while (latest_ != key(round, index)) {
    const int64_t now_ns = Clock::monotonic_ns();
    if (now_ns >= deadline_ns || stop.load(std::memory_order_relaxed)) return false;
    const int64_t until_ns = std::min(deadline_ns, now_ns + kSliceNs);
    changed_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(until_ns)));
  }
  return true;
}

void Receiver::echo_through(const comseclab_transport_api& api, comseclab_writer* writer, size_t buffer_size) {
  echo_api_ = &api;
  echo_buffer_.resize(buffer_size);
  echo_writer_.store(writer, std::memory_order_release);
}

void Receiver::on_message(void* context, const uint8_t* bytes, size_t size, const comseclab_sender* sender) {
  auto& receiver = *static_cast<Receiver*>(context);
  const int64_t arrived = receiver.parts_.clock.ticks();
  receiver.receive(std::as_bytes(std::span(bytes, size)), sender, arrived);
}

void Receiver::receive(std::span<const std::byte> bytes, const comseclab_sender* sender, int64_t arrived) {
  std::optional<Message> message;
  bool decoded = bytes.size() >= kMarkBytes;
  if (parts_.typed != nullptr) {
    message.emplace(parts_.typed->sent.layout());
    decoded = parts_.typed->sent.decode(bytes, *message);
  }
  const int64_t done = parts_.clock.ticks();
  Mark mark;
  if (decoded) mark = message ? parts_.typed->carrier.read(*message, parts_.nonce) : read_mark(bytes, parts_.nonce);
  mark.genuine = mark.genuine && mark.writer / kRoundsPerWriter == parts_.stream;
  record(mark, decoded, bytes, arrived, done, sender);
  if (!mark.genuine) return;
  if (parts_.replies != nullptr) parts_.replies->arrived(mark.writer % kRoundsPerWriter, mark.index);
  if (echo_writer_.load(std::memory_order_acquire) != nullptr) send_back(bytes, message ? &*message : nullptr);
}

void Receiver::record(const Mark& mark, bool decoded, std::span<const std::byte> bytes, int64_t arrived, int64_t done,
                      const comseclab_sender* sender) {
  Receipt receipt{};
  receipt.stream = parts_.stream;
  receipt.reader = parts_.reader;
  receipt.round = static_cast<uint16_t>(mark.writer % kRoundsPerWriter);
  receipt.flags = static_cast<uint16_t>((mark.genuine ? 0 : kForeign) | (decoded ? 0 : kUndecodable));
  receipt.index = mark.index;
  receipt.size = static_cast<uint32_t>(bytes.size());
  receipt.writer = mark.writer;
  receipt.arrived = arrived;
  receipt.done = done;
  if (sender != nullptr) std::memcpy(receipt.sender, sender->bytes, sizeof receipt.sender);
  parts_.receipts.add(receipt, bytes);
  parts_.flowing.store(true, std::memory_order_relaxed);
  if (!decoded) {
    decode_failed_.fetch_add(1, std::memory_order_relaxed);
  } else if (!mark.genuine) {
    foreign_.fetch_add(1, std::memory_order_relaxed);
  }
}

void Receiver::send_back(std::span<const std::byte> bytes, const Message* message) {
  const std::lock_guard lock(echo_mutex_);
  std::optional<size_t> size = bytes.size();
  if (message != nullptr) {
    size = parts_.typed->sent.encode(*message, echo_buffer_);
    bytes = echo_buffer_;
  }
  comseclab_error error{};
  const bool taken = size && echo_api_->publish(echo_writer_, reinterpret_cast<const uint8_t*>(bytes.data()), *size,
                                                &error) == COMSECLAB_OK;
  if (!taken) refused_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace comseclab

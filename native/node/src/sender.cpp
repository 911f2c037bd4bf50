#include "sender.h"

#include <algorithm>

#include "fatal.h"

namespace comseclab {

Sender::Sender(Parts parts)
    : parts_(std::move(parts)), feed_(parts_.source), buffer_(parts_.buffer_size), pacer_(parts_.clock, stop_) {
  thread_ = std::thread([this] { run(); });
}

Sender::~Sender() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  started_.notify_all();
  thread_.join();
}

void Sender::start(int64_t at_ns) {
  {
    const std::lock_guard lock(mutex_);
    start_at_ns_ = at_ns;
    idle_ = false;
  }
  started_.notify_all();
}

void Sender::check() {
  if (idle_ && failure_) std::rethrow_exception(failure_);
}

void Sender::run() {
  shorten_timer_slack();
  while (true) {
    int64_t at_ns = 0;
    {
      std::unique_lock lock(mutex_);
      started_.wait(lock, [this] { return stop_ || start_at_ns_.has_value(); });
      if (stop_) return;
      at_ns = *start_at_ns_;
      start_at_ns_.reset();
    }
    try {
      send_round(at_ns);
    } catch (...) {
      failure_ = std::current_exception();
    }
    idle_ = true;
    parts_.on_round_done();
  }
}

void Sender::send_round(int64_t at_ns) {
  const auto entries = parts_.source.spool.entries().first(parts_.source.messages);
  const int64_t round_end_ns = at_ns + entries.back().intended_ns;
  for (uint32_t passed = 0; passed < parts_.source.messages; ++passed) {
    // A closed loop that fell behind its schedule ends with the schedule.
    if (parts_.replies != nullptr && parts_.clock.now_ns() > round_end_ns) {
      feed_.discard();
      continue;
    }
    Prepared& prepared = feed_.front();
    const int64_t intended_ns = at_ns + prepared.intended_ns;
    if (!pacer_.wait_until(intended_ns)) return;
    send_one(prepared, intended_ns);
    if (parts_.replies != nullptr) await_reply(prepared, round_end_ns);
    feed_.pop();
  }
}

void Sender::send_one(Prepared& prepared, int64_t intended_ns) {
  const Clock& clock = parts_.clock;
  const int64_t begin = clock.ticks();
  std::span<const std::byte> bytes = prepared.opaque;
  if (prepared.message) {
    const auto size = parts_.typed->sent.encode(*prepared.message, buffer_);
    bytes = std::span(buffer_).first(size.value_or(0));
  }
  const int64_t serialised = clock.ticks();
  comseclab_error error{};
  const comseclab_status status =
      bytes.empty()
          ? COMSECLAB_TOO_LARGE
          : parts_.api.publish(parts_.writer, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), &error);
  const int64_t sent = clock.ticks();
  Send send{};
  send.stream = static_cast<uint16_t>(parts_.source.stream);
  send.round = static_cast<uint16_t>(prepared.round);
  send.index = prepared.index;
  send.size = static_cast<uint32_t>(bytes.size());
  send.status = status;
  send.intended = parts_.replies == nullptr ? intended_ns : clock.ns_of(begin);
  send.begin = begin;
  send.serialised = serialised;
  send.sent = sent;
  parts_.sends.add(send, bytes);
  if (status != COMSECLAB_OK) refused_.fetch_add(1, std::memory_order_relaxed);
}

void Sender::await_reply(const Prepared& prepared, int64_t round_end_ns) {
  const int64_t now_ns = Clock::monotonic_ns();
  const int64_t left_ns = std::max<int64_t>(round_end_ns - parts_.clock.now_ns(), 0);
  parts_.replies->wait(prepared.round, prepared.index, now_ns + std::min(left_ns, kReplyWaitNs), stop_);
}

}  // namespace comseclab

#include "feed.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>

#include "fatal.h"

namespace comseclab {
namespace {

constexpr size_t kRefillBelow = Feed::kMessages - Feed::kMessages / 4;  // so that the thread wakes seldom

/// The sender must come before the thread that feeds it, also where both run on one CPU.
void yield_to_senders() {
  const sched_param ordinary{};
  pthread_setschedparam(pthread_self(), SCHED_OTHER, &ordinary);
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 5);
}

}  // namespace

Feed::Feed(const Source& source) : source_(source) {
  if (source.spool.entries().size() < source.messages) {
    throw Fatal("spool " + source.spool.path().string() + " holds " + std::to_string(source.spool.entries().size()) +
                    " messages, " + std::to_string(source.messages) + " are asked for",
                "write it again, or ask for fewer");
  }
  payload_.reserve(source.spool.largest_payload());
  thread_ = std::thread([this] {
    try {
      run();
    } catch (...) {
      failure_ = std::current_exception();
      failed_ = true;
      failed_.notify_all();
    }
    filled_ = true;
    filled_.notify_all();
  });
}

Feed::~Feed() {
  stop_ = true;
  ++signals_;
  signals_.notify_all();
  thread_.join();
}

void Feed::run() {
  yield_to_senders();
  for (uint32_t round = 0; round < source_.rounds; ++round) {
    for (uint32_t index = 0; index < source_.messages; ++index) {
      if (!wait_for_room(source_.spool.entries()[index].size)) return;
      Prepared& slot = ring_[pushed_.load(std::memory_order_relaxed) % kMessages];
      prepare(slot, round, index);
      held_bytes_ += slot.footprint;
      pushed_.fetch_add(1, std::memory_order_release);
    }
  }
}

/// Once full, waits until a quarter of the ring is free before going on.
bool Feed::wait_for_room(size_t bytes) {
  bool was_full = false;
  while (!stop_.load(std::memory_order_relaxed)) {
    const uint32_t signals = signals_.load(std::memory_order_acquire);
    release_consumed();
    const size_t held = pushed_.load(std::memory_order_relaxed) - released_;
    const size_t most = was_full ? kRefillBelow : kMessages - 1;
    if (held == 0 || (held <= most && held_bytes_ + bytes <= kBytes)) return true;
    was_full = true;
    filled_.store(true, std::memory_order_release);
    filled_.notify_all();
    signals_.wait(signals, std::memory_order_acquire);
  }
  return false;
}

void Feed::release_consumed() {
  for (const uint64_t popped = popped_.load(std::memory_order_acquire); released_ < popped; ++released_) {
    Prepared& slot = ring_[released_ % kMessages];
    held_bytes_ -= slot.footprint;
    slot.message.reset();
    slot.opaque = {};
  }
}

void Feed::prepare(Prepared& slot, uint32_t round, uint32_t index) {
  const Spool::Entry& entry = source_.spool.entries()[index];
  const Mark mark{index, source_.stream * kRoundsPerWriter + round, true};
  slot.index = index;
  slot.round = round;
  slot.intended_ns = entry.intended_ns;
  const auto refuse = [&](const char* what) {
    throw Fatal("message " + std::to_string(index) + " of " + source_.spool.path().string() + " " + what,
                "leave it out of the workload");
  };
  if (source_.typed == nullptr) {
    slot.opaque.resize(entry.size);
    source_.spool.read(entry, slot.opaque);
    if (entry.size < kMarkBytes) refuse("is too short to carry its identity");
    write_mark(slot.opaque, source_.nonce, mark);
    slot.footprint = entry.size;
    return;
  }
  payload_.resize(entry.size);
  source_.spool.read(entry, payload_);
  slot.message.emplace(source_.typed->spooled.layout());
  if (!source_.typed->spooled.decode(payload_, *slot.message)) refuse("is not CDR of its type");
  if (!source_.typed->carrier.write(*slot.message, source_.nonce, mark)) refuse("has no header to carry its identity");
  slot.footprint = slot.message->footprint();
}

void Feed::rethrow_failure() {
  if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(failure_);
}

void Feed::wait_filled() {
  filled_.wait(false, std::memory_order_acquire);
  rethrow_failure();
}

bool Feed::empty() const {
  return pushed_.load(std::memory_order_acquire) == popped_.load(std::memory_order_relaxed);
}

void Feed::wait_for_message() {
  while (empty()) {
    rethrow_failure();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

Prepared& Feed::front() {
  if (empty()) {
    dry_.fetch_add(1, std::memory_order_relaxed);
    wait_for_message();
  }
  return ring_[popped_.load(std::memory_order_relaxed) % kMessages];
}

void Feed::discard() {
  wait_for_message();
  pop();
}

void Feed::pop() {
  const uint64_t popped = popped_.fetch_add(1, std::memory_order_release) + 1;
  signals_.fetch_add(1, std::memory_order_release);
  if (pushed_.load(std::memory_order_relaxed) - popped <= kRefillBelow) signals_.notify_one();
}

}  // namespace comseclab

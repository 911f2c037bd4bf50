#include "pacer.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

namespace comseclab {
namespace {

constexpr int64_t kLongestSleepNs = 50'000'000;  // so that a stop is heeded

}  // namespace

bool Pacer::wait_until(int64_t target_ns) const {
  while (!stop_.load(std::memory_order_relaxed)) {
    const int64_t left_ns = target_ns - clock_.now_ns();
    if (left_ns <= 0) return true;
    if (left_ns <= kSpinNs) {
      while (clock_.now_ns() < target_ns) {
      }
      return true;
    }
    // From the kernel's own "now", so that a drift between TSC and CLOCK_MONOTONIC does not add up.
    const int64_t wake_ns = Clock::monotonic_ns() + std::min(left_ns - kSpinNs, kLongestSleepNs);
    const timespec wake{wake_ns / 1'000'000'000, wake_ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
  }
  return false;
}

void shorten_timer_slack() {
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

}  // namespace comseclab

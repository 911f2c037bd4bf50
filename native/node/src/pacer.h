#pragma once

#include <atomic>
#include <cstdint>

#include "clock.h"

namespace comseclab {

/// Waits for intended send times: sleeps until shortly before, then spins at most `kSpinNs`.
class Pacer {
 public:
  static constexpr int64_t kSpinNs = 50'000;

  Pacer(const Clock& clock, const std::atomic<bool>& stop) : clock_(clock), stop_(stop) {}

  /// Returns true at `target_ns` (at once when it has passed), false when told to stop first.
  [[nodiscard]] bool wait_until(int64_t target_ns) const;

 private:
  const Clock& clock_;
  const std::atomic<bool>& stop_;
};

/// Lets the calling thread's sleeps end when they should, not up to 50 us later.
void shorten_timer_slack();

}  // namespace comseclab

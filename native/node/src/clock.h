#pragma once

#include <time.h>

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace comseclab {

enum class ClockSource { tsc, monotonic };

/// How ticks of one machine's counter become nanoseconds on CLOCK_MONOTONIC's scale. Every node of a trial is given the
/// same one, so that their times compare.
struct Calibration {
  ClockSource source = ClockSource::monotonic;
  double ticks_per_second = 1e9;
  int64_t reference_tick = 0;
  int64_t reference_ns = 0;
};

/// Reads a counter as cheaply as possible; conversion to nanoseconds comes later, in integers.
class Clock {
 public:
  explicit Clock(const Calibration& calibration);

  /// Raw ticks. Neither earlier nor later instructions move across the read.
  [[nodiscard]] int64_t ticks() const {
#if defined(__x86_64__)
    if (source_ == ClockSource::tsc) {
      unsigned processor = 0;
      const auto counter = static_cast<int64_t>(__rdtscp(&processor));
      _mm_lfence();
      return counter;
    }
#endif
    return monotonic_ns();
  }

  [[nodiscard]] int64_t ns_of(int64_t ticks) const {
    __extension__ using Wide = __int128;
    return reference_ns_ + static_cast<int64_t>((static_cast<Wide>(ticks - reference_tick_) * multiplier_) >> shift_);
  }

  [[nodiscard]] int64_t now_ns() const {
    return ns_of(ticks());
  }

  static int64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

 private:
  ClockSource source_;
  int64_t reference_tick_;
  int64_t reference_ns_;
  int64_t multiplier_;
  int shift_;
};

/// The invariant TSC where the processor has one, else CLOCK_MONOTONIC. Takes about 0.3 s.
Calibration calibrate();

/// Median time of one read, ns.
double read_cost_ns(const Clock& clock);

}  // namespace comseclab

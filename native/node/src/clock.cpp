#include "clock.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "fatal.h"

namespace comseclab {
namespace {

bool has_invariant_tsc() {
#if defined(__x86_64__)
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags")) continue;
    line += ' ';
    const auto has = [&](const char* flag) { return line.find(std::string(" ") + flag + " ") != std::string::npos; };
    return has("constant_tsc") && has("nonstop_tsc") && has("rdtscp");
  }
#endif
  return false;
}

struct Pair {
  int64_t tick;
  int64_t ns;
};

/// A tick and the CLOCK_MONOTONIC time that belongs to it: of many tries the one whose two ticks lie closest.
Pair read_pair(const Clock& counter) {
  Pair best{};
  int64_t narrowest = std::numeric_limits<int64_t>::max();
  for (int attempt = 0; attempt < 200; ++attempt) {
    const int64_t before = counter.ticks();
    const int64_t ns = Clock::monotonic_ns();
    const int64_t after = counter.ticks();
    if (after - before < narrowest) {
      narrowest = after - before;
      best = {before + (after - before) / 2, ns};
    }
  }
  return best;
}

}  // namespace

Clock::Clock(const Calibration& calibration)
    : source_(calibration.source),
      reference_tick_(calibration.reference_tick),
      reference_ns_(calibration.reference_ns) {
  if (!(calibration.ticks_per_second >= 1e6 && calibration.ticks_per_second <= 1e12)) {
    throw Fatal("clock.ticks_per_second is outside 1e6 .. 1e12", "take the output of comseclab-node --calibrate");
  }
  // As many fractional bits as keep the multiplier below 2^62; its relative error is then below 2^-60.
  const long double ns_per_tick = 1e9L / calibration.ticks_per_second;
  int exponent = 0;
  std::frexp(ns_per_tick, &exponent);
  shift_ = 62 - exponent;
  multiplier_ = static_cast<int64_t>(std::ldexp(ns_per_tick, shift_));
}

Calibration calibrate() {
  if (!has_invariant_tsc()) return {};
  const Clock counter({ClockSource::tsc, 1e9, 0, 0});
  const Pair first = read_pair(counter);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const Pair second = read_pair(counter);
  const double seconds = static_cast<double>(second.ns - first.ns) * 1e-9;
  return {ClockSource::tsc, static_cast<double>(second.tick - first.tick) / seconds, second.tick, second.ns};
}

double read_cost_ns(const Clock& clock) {
  constexpr int kReads = 100;
  std::array<double, 501> costs{};
  for (double& cost : costs) {
    const int64_t begin = clock.ticks();
    int64_t end = begin;
    for (int read = 0; read < kReads; ++read) end = clock.ticks();
    cost = static_cast<double>(clock.ns_of(end) - clock.ns_of(begin)) / kReads;
  }
  std::nth_element(costs.begin(), costs.begin() + costs.size() / 2, costs.end());
  return costs[costs.size() / 2];
}

}  // namespace comseclab

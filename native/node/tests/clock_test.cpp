#include "clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "fatal.h"
#include "pacer.h"

namespace comseclab {
namespace {

TEST(Clock, ConvertsExactlyOverDays) {
  const Clock identity({ClockSource::monotonic, 1e9, 0, 0});
  const Clock slow({ClockSource::tsc, 1e6, 5, 7});
  const Clock fast({ClockSource::tsc, 4e9, 1000, 0});
  for (const int64_t ticks : {int64_t{0}, int64_t{1}, int64_t{123456789}, int64_t{1} << 52}) {
    EXPECT_EQ(identity.ns_of(ticks), ticks);
    EXPECT_EQ(slow.ns_of(ticks + 5), ticks * 1000 + 7);
    EXPECT_EQ(fast.ns_of(ticks + 1000), ticks / 4);
  }
}

TEST(Clock, ConvertsAnOddRateWithinANanosecondADay) {
  constexpr double kTicksPerSecond = 2596120124.4535484;
  const Clock clock({ClockSource::tsc, kTicksPerSecond, 0, 0});
  for (const int64_t seconds : {1, 100, 86400}) {
    const auto ticks = static_cast<int64_t>(std::llround(static_cast<long double>(seconds) * kTicksPerSecond));
    const long double expected = static_cast<long double>(ticks) * 1e9L / kTicksPerSecond;
    EXPECT_NEAR(static_cast<double>(clock.ns_of(ticks) - std::llround(expected)), 0.0, 1.0);
  }
}

TEST(Clock, KeepsTheOrderOfEarlierTicks) {
  const Clock clock({ClockSource::tsc, 3e9, 1'000'000, 1'000'000});
  for (int64_t ticks = 0; ticks < 1'000'010; ++ticks) ASSERT_LE(clock.ns_of(ticks), clock.ns_of(ticks + 1));
}

TEST(Clock, RefusesImpossibleRates) {
  for (const double rate : {0.0, -1.0, 1e300, std::nan("")}) {
    EXPECT_THROW(Clock({ClockSource::tsc, rate, 0, 0}), Fatal);
  }
}

TEST(Clock, CalibratedStandsOnTheKernelsScale) {
  const Clock clock(calibrate());
  const int64_t before = Clock::monotonic_ns();
  const int64_t now = clock.now_ns();
  const int64_t after = Clock::monotonic_ns();
  constexpr int64_t kTolerance = 20'000;
  EXPECT_GE(now, before - kTolerance);
  EXPECT_LE(now, after + kTolerance);
}

TEST(Pacer, NeverReturnsEarly) {
  const Clock clock(calibrate());
  const std::atomic<bool> stop{false};
  const Pacer pacer(clock, stop);
  for (const int64_t wait_ns : {-1'000'000, 0, 10'000, 100'000, 3'000'000, 70'000'000}) {
    const int64_t target = clock.now_ns() + wait_ns;
    EXPECT_TRUE(pacer.wait_until(target));
    EXPECT_GE(clock.now_ns(), target);
  }
}

TEST(Pacer, HeedsAStop) {
  const Clock clock(calibrate());
  std::atomic<bool> stop{false};
  const Pacer pacer(clock, stop);
  std::thread stopper([&] { stop = true; });
  EXPECT_FALSE(pacer.wait_until(clock.now_ns() + 3'600'000'000'000));
  stopper.join();
}

}  // namespace
}  // namespace comseclab

// comseclab-bench-stamp: what it costs the node to stamp and record one message, as JSON.
//
// A receipt is two clock reads and one record, as in the transport's callback. Every message is timed by itself, with
// the cost of reading the clock for that taken off; the records' memory is faulted in, as in a trial.

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "clock.h"
#include "recorder.h"

namespace {

constexpr size_t kMessages = 1'000'000;

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main() {
  using namespace comseclab;
  const Calibration calibration = calibrate();
  const Clock clock(calibration);
  const double read_ns = read_cost_ns(clock);
  Recorder<Receipt> receipts(kMessages, 0);
  std::vector<double> cost_ns(kMessages);
  for (size_t message = 0; message < kMessages; ++message) {
    const int64_t before = clock.ticks();
    Receipt receipt{};
    receipt.index = static_cast<uint32_t>(message);
    receipt.arrived = clock.ticks();
    receipt.done = clock.ticks();
    receipts.add(receipt, {});
    cost_ns[message] = static_cast<double>(clock.ns_of(clock.ticks()) - clock.ns_of(before)) - read_ns;
  }
  std::sort(cost_ns.begin(), cost_ns.end());
  std::cout << nlohmann::json{{"messages", kMessages},
                              {"clock", calibration.source == ClockSource::tsc ? "tsc" : "monotonic"},
                              {"read_ns", read_ns},
                              {"p50_ns", quantile(cost_ns, 0.5)},
                              {"p99_ns", quantile(cost_ns, 0.99)}}
            << '\n';
  return 0;
}

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "clock.h"
#include "config.h"
#include "control.h"
#include "fatal.h"
#include "node.h"
#include "process.h"

namespace {

constexpr int kWrongInput = 2;

int print_calibration() {
  const comseclab::Calibration calibration = comseclab::calibrate();
  const nlohmann::json result = {{"source", calibration.source == comseclab::ClockSource::tsc ? "tsc" : "monotonic"},
                                 {"ticks_per_second", calibration.ticks_per_second},
                                 {"reference_tick", calibration.reference_tick},
                                 {"reference_ns", calibration.reference_ns},
                                 {"read_cost_ns", comseclab::read_cost_ns(comseclab::Clock(calibration))}};
  std::cout << result << std::endl;
  return EXIT_SUCCESS;
}

int run_node(const char* config_path) {
  std::signal(SIGPIPE, SIG_IGN);
  comseclab::Control control;
  try {
    const comseclab::Config config = comseclab::read_config(config_path);
    comseclab::apply_scheduling(config);
    comseclab::Node(config, control).run();
    return EXIT_SUCCESS;
  } catch (const std::bad_alloc&) {
    control.emit({{"event", "fatal"}, {"message", "out of memory (smaller messages, or fewer)"}});
  } catch (const std::exception& failure) {
    control.emit({{"event", "fatal"}, {"message", failure.what()}});
  }
  return kWrongInput;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count == 2 && std::string(arguments[1]) == "--calibrate") return print_calibration();
    if (count == 2 && arguments[1][0] != '-') return run_node(arguments[1]);
    std::cerr << "usage: comseclab-node CONFIG.json | comseclab-node --calibrate (see docs/formats.md)\n";
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "comseclab-node: %s\n", failure.what());
  }
  return kWrongInput;
}

#include "process.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>

#include "fatal.h"

namespace comseclab {

void apply_scheduling(const Config& config) {
  if (!config.cpus.empty()) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    for (const int cpu : config.cpus) {
      if (cpu < 0 || cpu >= CPU_SETSIZE)
        throw Fatal("CPU " + std::to_string(cpu) + " does not exist", "correct 'cpus'");
      CPU_SET(static_cast<size_t>(cpu), &cpus);
    }
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
      throw Fatal(std::string("cannot run on the asked-for CPUs: ") + std::strerror(errno),
                  "name CPUs of this machine");
    }
  }
  if (config.fifo_priority) {
    const sched_param priority{*config.fifo_priority};
    if (sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
      throw Fatal(std::string("SCHED_FIFO refused: ") + std::strerror(errno), "run as root or leave out the priority");
    }
  }
}

namespace {

/// Whether this process may lock memory whatever its limit: CAP_IPC_LOCK outside of any user namespace.
bool no_limit_applies() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return false;
  const rlimit none{0, limit.rlim_max};
  setrlimit(RLIMIT_MEMLOCK, &none);
  const bool allowed = mlock(&limit, sizeof limit) == 0;
  setrlimit(RLIMIT_MEMLOCK, &limit);
  return allowed;
}

bool limit_is_lifted() {
  const rlimit unlimited{RLIM_INFINITY, RLIM_INFINITY};
  rlimit limit{};
  setrlimit(RLIMIT_MEMLOCK, &unlimited);
  return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

}  // namespace

bool lock_memory() {
  // Under a finite limit, MCL_FUTURE would make later allocations fail: all or nothing.
  return (limit_is_lifted() || no_limit_applies()) && mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) == 0;
}

}  // namespace comseclab

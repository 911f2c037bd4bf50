#pragma once

#include "config.h"

namespace comseclab {

/// Pins this process to the configured CPUs and gives it its SCHED_FIFO priority, for all threads made later.
/// Throws Fatal when the machine refuses.
void apply_scheduling(const Config& config);

/// Locks this process's memory, present and future, as it is faulted in. False where that is not allowed.
bool lock_memory();

}  // namespace comseclab

// Fast DDS says why something failed only in its log: keep the last error to hand it to the caller.
#pragma once

#include <string>

namespace comseclab::fastdds {

// Sends the middleware's log to standard error (its default, standard output, belongs to the node). Idempotent.
void capture_log();

// The errors logged since the last call, joined; "" where there were none.
std::string take_logged_errors();

}  // namespace comseclab::fastdds

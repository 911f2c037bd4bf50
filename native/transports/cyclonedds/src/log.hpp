// Cyclone DDS says why something failed only in its log: keep the errors to hand them to the caller.
#pragma once

#include <functional>
#include <string>

namespace comseclab::cyclonedds {

// Sends the log to standard error. `on_error` gets each warning and error as one line, from any thread; it may be
// empty.
void capture_log(std::function<void(const std::string&)> on_error);

// The errors and warnings logged since the last call, joined; "" where there were none.
std::string take_logged_errors();

}  // namespace comseclab::cyclonedds

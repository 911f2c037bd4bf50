// Whether something listens at an address, within a time: roscpp itself would wait for minutes.
#pragma once

#include <cstdint>
#include <string>

namespace comseclab::ros1 {

// Connects to a TCP port of an IPv4 address and closes again. Throws std::invalid_argument if it is no address.
bool reachable(const std::string& address, uint16_t port, double timeout_s);

}  // namespace comseclab::ros1

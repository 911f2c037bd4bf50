// The sockets Fast DDS opens are private to it; the kernel knows them all the same.
#pragma once

#include <cstdint>
#include <set>

namespace comseclab::dds {

// File descriptors of this process that are UDP sockets now.
std::set<int> udp_sockets();

struct Buffers {
  uint64_t send = 0;  // bytes the kernel really grants, its own bookkeeping included (socket(7)); the least of all
  uint64_t receive = 0;
};

// Raises the buffers to the sizes asked for past net.core.[rw]mem_max where the process may (CAP_NET_ADMIN in the
// initial user namespace), and says what the sockets have.
Buffers force_buffers(const std::set<int>& sockets, uint32_t send, uint32_t receive);

}  // namespace comseclab::dds

#include "sockets.hpp"

#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <string>

namespace comseclab::dds {
namespace {

int option(int socket, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(socket, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

uint64_t raise(int socket, int read, int force, uint32_t wanted) {
  // The kernel doubles what is set and reports the double.
  if (option(socket, read) < 2 * static_cast<int64_t>(wanted)) {
    const int size = static_cast<int>(wanted);
    setsockopt(socket, SOL_SOCKET, force, &size, sizeof size);
  }
  return static_cast<uint64_t>(option(socket, read));
}

}  // namespace

std::set<int> udp_sockets() {
  std::set<int> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const std::string name = entry.path().filename();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    if (option(descriptor, SO_TYPE) == SOCK_DGRAM && option(descriptor, SO_DOMAIN) == AF_INET) found.insert(descriptor);
  }
  return found;
}

Buffers force_buffers(const std::set<int>& sockets, uint32_t send, uint32_t receive) {
  if (sockets.empty()) return {};
  Buffers least{std::numeric_limits<uint64_t>::max(), std::numeric_limits<uint64_t>::max()};
  for (const int socket : sockets) {
    least.send = std::min(least.send, raise(socket, SO_SNDBUF, SO_SNDBUFFORCE, send));
    least.receive = std::min(least.receive, raise(socket, SO_RCVBUF, SO_RCVBUFFORCE, receive));
  }
  return least;
}

}  // namespace comseclab::dds

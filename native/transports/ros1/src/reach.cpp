#include "reach.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace comseclab::ros1 {
namespace {

bool connects(int handle, const sockaddr_in& to, double timeout_s) {
  if (connect(handle, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return true;
  pollfd waiting{handle, POLLOUT, 0};
  if (poll(&waiting, 1, static_cast<int>(timeout_s * 1000)) != 1) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(handle, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

}  // namespace

bool reachable(const std::string& address, uint16_t port, double timeout_s) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  if (inet_pton(AF_INET, address.c_str(), &to.sin_addr) != 1) {
    throw std::invalid_argument("master is an IPv4 address, not " + address);
  }
  const int handle = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const bool reached = handle >= 0 && connects(handle, to, timeout_s);
  if (handle >= 0) close(handle);
  return reached;
}

}  // namespace comseclab::ros1

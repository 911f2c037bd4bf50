#include "control.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "fatal.h"

namespace comseclab {
namespace {

const char* kind_name(comseclab_event_kind kind) {
  switch (kind) {
    case COMSECLAB_LOST:
      return "lost";
    case COMSECLAB_DEADLINE:
      return "deadline";
    case COMSECLAB_REJECTED:
      return "rejected";
    default:
      return "unknown";
  }
}

}  // namespace

Control::Control() : out_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)), wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (out_ < 0 || wake_ < 0) throw Fatal("no file descriptor for control", "raise the limit of open files");
  std::fflush(stdout);
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

Control::~Control() {
  close(out_);
  close(wake_);
}

void Control::emit(const nlohmann::json& event) const {
  const std::string line = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const char* at = line.data();
  size_t left = line.size();
  while (left > 0) {
    const ssize_t written = write(out_, at, left);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return;  // nobody listens any more; the end of standard input will tell
    at += written;
    left -= static_cast<size_t>(written);
  }
}

void Control::wake() const {
  eventfd_write(wake_, 1);
}

Control::Wakeup Control::wait() {
  while (true) {
    const size_t newline = pending_.find('\n');
    if (newline != std::string::npos) {
      std::string line = pending_.substr(0, newline);
      pending_.erase(0, newline + 1);
      return {.line = std::move(line)};
    }
    if (ended_) return {.ended = true};
    pollfd waited[] = {{STDIN_FILENO, POLLIN, 0}, {wake_, POLLIN, 0}};
    if (poll(waited, 2, -1) < 0) continue;
    if (waited[1].revents != 0) {
      eventfd_t count = 0;
      eventfd_read(wake_, &count);
      return {};
    }
    char buffer[4096];
    const ssize_t got = read(STDIN_FILENO, buffer, sizeof buffer);
    if (got > 0) {
      pending_.append(buffer, static_cast<size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      ended_ = true;
    }
  }
}

void TransportEvents::add(const comseclab_event& event, int64_t at_ns) {
  {
    const std::lock_guard lock(mutex_);
    if (used_ == entries_.size()) {
      ++dropped_;
      return;
    }
    Entry& entry = entries_[used_++];
    entry = {event.kind, event.stream, event.count, at_ns, {}};
    if (event.text != nullptr) std::strncpy(entry.text.data(), event.text, entry.text.size() - 1);
  }
  if (!held_) control_.wake();
}

void TransportEvents::flush() {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < used_; ++i) {
    const Entry& entry = entries_[i];
    if (entry.kind == COMSECLAB_MATCHED) {
      control_.emit({{"event", "matched"}, {"stream", entry.stream}, {"count", entry.count}, {"at_ns", entry.at_ns}});
    } else {
      control_.emit({{"event", "transport"},
                     {"kind", kind_name(entry.kind)},
                     {"stream", entry.stream},
                     {"count", entry.count},
                     {"at_ns", entry.at_ns},
                     {"text", entry.text.data()}});
    }
  }
  if (dropped_ > 0) {
    control_.emit({{"event", "transport"},
                   {"kind", "rejected"},
                   {"stream", 0},
                   {"count", dropped_},
                   {"text", "further events of the transport, beyond what the node keeps"}});
  }
  used_ = 0;
  dropped_ = 0;
}

}  // namespace comseclab

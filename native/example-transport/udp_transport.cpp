// A transport over plain UDP: the shortest complete one, to copy from and to test with.
//
// Settings: {"listen": "ADDRESS:PORT", "peers": ["ADDRESS"]}. Each node takes the first free of sixteen ports from PORT
// on; it looks for its peers at the same sixteen ports of each peer's address. A datagram begins with a Prefix. A
// reader sends hellos until it is answered and from then on to keep the match alive; a writer answers, and sends its
// data to whom it has heard from. Nothing is sent again, and a message must fit one datagram.

#include <arpa/inet.h>
#include <comseclab/transport.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Steady = std::chrono::steady_clock;

constexpr int kPorts = 16;
constexpr auto kHelloEvery = std::chrono::milliseconds(100);
constexpr auto kForgetAfter = std::chrono::seconds(3);
constexpr int kSocketBuffer = 4 << 20;

enum class Kind : uint8_t { hello = 1, answer = 2, data = 3 };

/// The beginning of every datagram, little-endian.
struct Prefix {
  char magic[3] = {'C', 'S', 'U'};
  Kind kind;
  uint32_t topic;  ///< hash of topic, type and codec: which stream
};
static_assert(sizeof(Prefix) == 8);

constexpr size_t kLargestMessage = 65507 - sizeof(Prefix);

/// FNV-1a.
uint32_t hash(const std::string& text) {
  uint32_t value = 2166136261U;
  for (const char letter : text) value = (value ^ static_cast<uint8_t>(letter)) * 16777619U;
  return value;
}

struct Peer {
  sockaddr_in address;
  Steady::time_point heard;
};

bool same(const sockaddr_in& a, const sockaddr_in& b) {
  return a.sin_addr.s_addr == b.sin_addr.s_addr && a.sin_port == b.sin_port;
}

comseclab_status fail(comseclab_error* error, const std::string& text) {
  if (error != nullptr) std::snprintf(error->text, sizeof error->text, "%s", text.c_str());
  return COMSECLAB_FAILED;
}

/// A writer or a reader: the stream, and whom it is matched with.
struct End {
  End(const comseclab_stream& described, bool writes)
      : stream(described.stream),
        topic(hash(std::string(described.topic) + '\n' + described.type + '\n' + described.codec)),
        is_writer(writes) {}
  uint32_t stream;
  uint32_t topic;
  bool is_writer;
  std::mutex mutex{};
  std::vector<Peer> matched{};
};

}  // namespace

struct comseclab_writer {
  comseclab_writer(comseclab_transport* owner, const comseclab_stream& stream) : transport(owner), end(stream, true) {}
  comseclab_transport* transport;
  End end;
};

struct comseclab_reader {
  comseclab_reader(const comseclab_stream& stream, comseclab_on_message callback, void* its_context)
      : end(stream, false), on_message(callback), context(its_context) {}
  End end;
  comseclab_on_message on_message;
  void* context;
};

struct comseclab_transport {
 public:
  explicit comseclab_transport(const comseclab_open& request) : on_event_(request.on_event), context_(request.context) {
    const auto settings = nlohmann::json::parse(request.settings);
    bind_first_free(settings.at("listen").get<std::string>());
    for (const auto& peer : settings.at("peers")) peers_.push_back(address_of(peer.get<std::string>(), base_port_));
    thread_ = std::thread([this] { serve(); });
  }

  ~comseclab_transport() {
    stop_ = true;
    eventfd_write(wake_, 1);
    thread_.join();
    close(socket_);
    close(wake_);
  }

  comseclab_writer* advertise(const comseclab_stream& stream) {
    const std::lock_guard lock(mutex_);
    writers_.push_back(std::make_unique<comseclab_writer>(this, stream));
    return writers_.back().get();
  }

  comseclab_reader* subscribe(const comseclab_stream& stream, comseclab_on_message on_message, void* context) {
    const std::lock_guard lock(mutex_);
    readers_.push_back(std::make_unique<comseclab_reader>(stream, on_message, context));
    return readers_.back().get();
  }

  /// Sends to every matched reader. One whose socket is full misses the message, and the caller is told to try again.
  comseclab_status publish(comseclab_writer& writer, const uint8_t* bytes, size_t size, comseclab_error* error) {
    if (size > kLargestMessage) return COMSECLAB_TOO_LARGE;
    Prefix prefix{.kind = Kind::data, .topic = writer.end.topic};
    iovec parts[] = {{&prefix, sizeof prefix}, {const_cast<uint8_t*>(bytes), size}};
    const std::lock_guard lock(writer.end.mutex);
    for (Peer& peer : writer.end.matched) {
      msghdr message{};
      message.msg_name = &peer.address;
      message.msg_namelen = sizeof peer.address;
      message.msg_iov = parts;
      message.msg_iovlen = 2;
      if (sendmsg(socket_, &message, MSG_DONTWAIT) >= 0) continue;
      if (errno == EAGAIN || errno == ENOBUFS) return COMSECLAB_AGAIN;
      return fail(error, std::string("sendmsg: ") + std::strerror(errno));
    }
    ++messages_sent_;
    return COMSECLAB_OK;
  }

  [[nodiscard]] std::string statistics() const {
    return nlohmann::json{{"messages_sent", messages_sent_.load()}, {"messages_received", messages_received_.load()}}
        .dump();
  }

 private:
  static sockaddr_in address_of(const std::string& address, uint16_t port) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_port = htons(port);
    if (inet_pton(AF_INET, address.c_str(), &result.sin_addr) != 1) {
      throw std::invalid_argument("'" + address + "' is no IPv4 address");
    }
    return result;
  }

  void bind_first_free(const std::string& listen) {
    const size_t colon = listen.rfind(':');
    if (colon == std::string::npos) throw std::invalid_argument("listen '" + listen + "' is not ADDRESS:PORT");
    const int base = std::stoi(listen.substr(colon + 1));
    if (base < 1 || base > 65535 - kPorts) throw std::invalid_argument("listen: port out of range");
    base_port_ = static_cast<uint16_t>(base);
    sockaddr_in address = address_of(listen.substr(0, colon), base_port_);
    socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    wake_ = eventfd(0, EFD_CLOEXEC);
    if (socket_ < 0 || wake_ < 0) throw std::runtime_error("no socket");
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &kSocketBuffer, sizeof kSocketBuffer);
    setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &kSocketBuffer, sizeof kSocketBuffer);
    for (int offset = 0; offset < kPorts; ++offset) {
      address.sin_port = htons(static_cast<uint16_t>(base_port_ + offset));
      if (bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
    }
    const std::string cause = std::strerror(errno);
    close(socket_);
    close(wake_);
    throw std::runtime_error("cannot listen on " + listen + ": " + cause);
  }

  void serve() {
    std::vector<uint8_t> datagram(65536);
    auto next_hello = Steady::now();
    while (!stop_) {
      if (Steady::now() >= next_hello) {
        greet();
        next_hello += kHelloEvery;
      }
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_hello - Steady::now()).count();
      pollfd waited[] = {{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
      poll(waited, 2, static_cast<int>(std::max<int64_t>(left, 0)));
      if ((waited[0].revents & POLLIN) == 0) continue;
      sockaddr_in from{};
      socklen_t length = sizeof from;
      const ssize_t got = recvfrom(socket_, datagram.data(), datagram.size(), MSG_DONTWAIT,
                                   reinterpret_cast<sockaddr*>(&from), &length);
      if (got >= static_cast<ssize_t>(sizeof(Prefix))) receive(datagram.data(), static_cast<size_t>(got), from);
    }
  }

  /// Says hello for every reader to every port where a peer may listen, and forgets who has fallen silent.
  void greet() {
    const std::lock_guard lock(mutex_);
    for (auto& reader : readers_) {
      forget_silent(reader->end);
      for (sockaddr_in peer : peers_) {
        for (int offset = 0; offset < kPorts; ++offset) {
          peer.sin_port = htons(static_cast<uint16_t>(base_port_ + offset));
          send_prefix(Kind::hello, reader->end.topic, peer);
        }
      }
    }
    for (auto& writer : writers_) forget_silent(writer->end);
  }

  void send_prefix(Kind kind, uint32_t topic, const sockaddr_in& to) const {
    const Prefix prefix{.kind = kind, .topic = topic};
    sendto(socket_, &prefix, sizeof prefix, MSG_DONTWAIT, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }

  void receive(const uint8_t* bytes, size_t size, const sockaddr_in& from) {
    Prefix prefix{};
    std::memcpy(&prefix, bytes, sizeof prefix);
    if (std::memcmp(prefix.magic, Prefix{}.magic, sizeof prefix.magic) != 0) return;
    const std::lock_guard lock(mutex_);
    if (prefix.kind == Kind::hello) {
      for (auto& writer : writers_) {
        if (writer->end.topic != prefix.topic) continue;
        send_prefix(Kind::answer, prefix.topic, from);
        heard_from(writer->end, from);
      }
      return;
    }
    for (auto& reader : readers_) {
      if (reader->end.topic != prefix.topic) continue;
      if (prefix.kind == Kind::answer) {
        heard_from(reader->end, from);
      } else if (prefix.kind == Kind::data) {
        deliver(*reader, bytes + sizeof prefix, size - sizeof prefix, from);
      }
    }
  }

  void deliver(comseclab_reader& reader, const uint8_t* bytes, size_t size, const sockaddr_in& from) {
    comseclab_sender sender{};
    std::memcpy(sender.bytes, &from.sin_addr, 4);
    std::memcpy(sender.bytes + 4, &from.sin_port, 2);
    ++messages_received_;
    reader.on_message(reader.context, bytes, size, &sender);
  }

  void heard_from(End& end, const sockaddr_in& from) {
    {
      const std::lock_guard lock(end.mutex);
      for (Peer& peer : end.matched) {
        if (!same(peer.address, from)) continue;
        peer.heard = Steady::now();
        return;
      }
      end.matched.push_back({from, Steady::now()});
    }
    report(end);
  }

  void forget_silent(End& end) {
    {
      const std::lock_guard lock(end.mutex);
      const auto silent = [](const Peer& peer) { return Steady::now() - peer.heard > kForgetAfter; };
      if (std::erase_if(end.matched, silent) == 0) return;
    }
    report(end);
  }

  void report(const End& end) {
    const comseclab_event event{.struct_size = sizeof event,
                                .kind = COMSECLAB_MATCHED,
                                .stream = end.stream,
                                .is_writer = end.is_writer ? 1 : 0,
                                .count = end.matched.size(),
                                .text = nullptr};
    on_event_(context_, &event);
  }

  comseclab_on_event on_event_;
  void* context_;
  int socket_ = -1;
  int wake_ = -1;
  uint16_t base_port_ = 0;
  std::vector<sockaddr_in> peers_;
  std::mutex mutex_;  ///< of the two lists below
  std::vector<std::unique_ptr<comseclab_writer>> writers_;
  std::vector<std::unique_ptr<comseclab_reader>> readers_;
  std::atomic<uint64_t> messages_sent_{0};
  std::atomic<uint64_t> messages_received_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

namespace {

comseclab_status limits(comseclab_limits* out) {
  *out = {.struct_size = sizeof *out, .max_message_size = kLargestMessage, .copies_sent = 0, .copies_received = 0};
  return COMSECLAB_OK;
}

comseclab_status open_transport(const comseclab_open* request, comseclab_transport** out, comseclab_error* error) {
  try {
    *out = new comseclab_transport(*request);
    return COMSECLAB_OK;
  } catch (const std::exception& problem) {
    return fail(error, problem.what());
  }
}

comseclab_status advertise(comseclab_transport* transport, const comseclab_stream* stream, comseclab_writer** out,
                           comseclab_error*) {
  *out = transport->advertise(*stream);
  return COMSECLAB_OK;
}

comseclab_status subscribe(comseclab_transport* transport, const comseclab_stream* stream,
                           comseclab_on_message on_message, void* context, comseclab_reader** out, comseclab_error*) {
  *out = transport->subscribe(*stream, on_message, context);
  return COMSECLAB_OK;
}

comseclab_status publish(comseclab_writer* writer, const uint8_t* bytes, size_t size, comseclab_error* error) {
  return writer->transport->publish(*writer, bytes, size, error);
}

comseclab_status statistics(comseclab_transport* transport, char* json, size_t capacity) {
  std::snprintf(json, capacity, "%s", transport->statistics().c_str());
  return COMSECLAB_OK;
}

void close_transport(comseclab_transport* transport) {
  delete transport;
}

}  // namespace

const comseclab_transport_api* comseclab_transport_entry(void) {
  static const comseclab_transport_api api = {.abi_version = COMSECLAB_TRANSPORT_ABI,
                                              .struct_size = sizeof api,
                                              .name = "udp",
                                              .version = "1",
                                              .limits = limits,
                                              .open = open_transport,
                                              .advertise = advertise,
                                              .subscribe = subscribe,
                                              .publish = publish,
                                              .statistics = statistics,
                                              .close = close_transport};
  return &api;
}

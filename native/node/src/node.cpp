#include "node.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "fatal.h"
#include "library.h"
#include "process.h"

namespace comseclab {
namespace {

using nlohmann::json;

constexpr uint32_t kReplyStreams = 10000;  // an echoed stream's id is this much higher

/// Receipts to expect, with room for duplicates and forgeries.
size_t receipt_capacity(const Config& config) {
  size_t messages = 0;
  for (const StreamConfig& stream : config.streams) messages += size_t{stream.messages} * config.rounds;
  return messages * 2 + 1000;
}

/// What the largest message may take once encoded: the identity and the other codec may lengthen it a little.
size_t buffer_size(const StreamConfig& stream, const Spool* spool) {
  const size_t spooled = spool == nullptr ? 0 : spool->largest_payload();
  return std::max<size_t>(stream.max_size, spooled + spooled / 4) + 1024;
}

/// A stream as the transport is told of it, and what holds its strings.
struct Described {
  Described(const StreamConfig& stream, bool reply)
      : topic(reply ? stream.topic + "/echo" : stream.topic),
        c{.struct_size = sizeof c,
          .stream = reply ? stream.id + kReplyStreams : stream.id,
          .topic = topic.c_str(),
          .type = stream.type.c_str(),
          .codec = stream.codec.c_str(),
          .reliable = stream.reliable ? 1 : 0,
          .max_size = stream.max_size,
          .rate_hz = stream.rate_hz} {}
  std::string topic;
  comseclab_stream c;
};

size_t send_capacity(const Config& config) {
  if (config.role != Role::publisher) return 0;
  size_t messages = 0;
  for (const StreamConfig& stream : config.streams) messages += size_t{stream.messages} * config.rounds;
  return messages;
}

/// All records of a trial may have to keep a message.
void check_kept(const Config& config) {
  constexpr size_t kMostBytes = size_t{1} << 30U;
  const size_t records = send_capacity(config) + receipt_capacity(config);
  if (config.keep_bytes > 0 && records > kMostBytes / config.keep_bytes) {
    throw Fatal("keeping " + std::to_string(config.keep_bytes) + " bytes of " + std::to_string(records) +
                    " messages takes more than 1 GiB",
                "lower keep_bytes or ask for fewer messages a trial");
  }
}

}  // namespace

struct Node::Transport {
  const comseclab_transport_api* api = nullptr;
  comseclab_transport* handle = nullptr;
  const Clock* clock = nullptr;
  TransportEvents* events = nullptr;
  std::atomic<bool>* flowing = nullptr;

  static void on_event(void* context, const comseclab_event* event) {
    auto& transport = *static_cast<Transport*>(context);
    if (*transport.flowing) transport.events->hold(true);
    transport.events->add(*event, transport.clock->now_ns());
  }
};

struct Node::Stream {
  const StreamConfig& config;
  Transport& transport;
  std::unique_ptr<Typed> typed = nullptr;
  std::unique_ptr<Spool> spool = nullptr;
  std::unique_ptr<Receiver> receiver = nullptr;
  std::unique_ptr<Replies> replies = nullptr;
  comseclab_writer* writer = nullptr;
  std::unique_ptr<Sender> sender = nullptr;
};

Node::Node(const Config& config, Control& control)
    : config_(config),
      control_(control),
      clock_(config.clock),
      nonce_(config.nonce),
      types_(config.types),
      events_(control),
      memory_locked_(config.lock_memory && lock_memory()) {
  std::error_code error;
  std::filesystem::create_directories(config.records, error);
  if (error) throw Fatal("cannot make " + config.records.string() + ": " + error.message(), "name another folder");
  check_kept(config);
  sends_ = std::make_unique<Recorder<Send>>(send_capacity(config), config.keep_bytes);
  receipts_ = std::make_unique<Recorder<Receipt>>(receipt_capacity(config), config.keep_bytes);
}

/// Also after a failure: first nobody sends, then nobody delivers, then the rest may go.
Node::~Node() {
  for (auto& stream : streams_) stream->sender.reset();
  for (auto& transport : transports_) {
    if (transport->handle != nullptr) transport->api->close(transport->handle);
  }
}

void Node::run() {
  open_transports();
  open_streams();
  for (auto& stream : streams_) {
    if (stream->sender) stream->sender->wait_filled();
  }
  events_.flush();
  control_.emit({{"event", "ready"}});
  serve();
  stop();
}

void Node::open_transports() {
  for (const TransportConfig& wanted : config_.transports) {
    transports_.push_back(std::make_unique<Transport>());
    Transport& transport = *transports_.back();
    transport.api = &load_transport(wanted.library);
    transport.clock = &clock_;
    transport.events = &events_;
    transport.flowing = &flowing_;
    comseclab_limits limits{.struct_size = sizeof limits};
    transport.api->limits(&limits);
    const comseclab_open request{.struct_size = sizeof request,
                                 .node = config_.node.c_str(),
                                 .settings = wanted.settings.c_str(),
                                 .on_event = Transport::on_event,
                                 .context = &transport};
    comseclab_error error{};
    if (transport.api->open(&request, &transport.handle, &error) != COMSECLAB_OK) {
      throw Fatal(std::string(transport.api->name) + " does not open: " + error.text, "correct its settings");
    }
    for (const StreamConfig& stream : config_.streams) {
      if (&transport != transports_[stream.transport].get() || limits.max_message_size == 0) continue;
      if (stream.max_size > limits.max_message_size) {
        throw Fatal(std::string(transport.api->name) + " carries no message above " +
                        std::to_string(limits.max_message_size) + " bytes, and " + stream.topic + " has one of " +
                        std::to_string(stream.max_size),
                    "send smaller ones, or take another transport");
      }
    }
    control_.emit({{"event", "opened"},
                   {"transport", transport.api->name},
                   {"version", transport.api->version},
                   {"copies_sent", limits.copies_sent},
                   {"copies_received", limits.copies_received}});
  }
}

void Node::open_streams() {
  for (const StreamConfig& config : config_.streams) {
    streams_.push_back(std::make_unique<Stream>(Stream{config, *transports_[config.transport]}));
    Stream& stream = *streams_.back();
    if (!config.type.empty()) {
      stream.typed =
          std::make_unique<Typed>(types_.layout(config.type), config.codec == "ros1" ? Wire::ros1 : Wire::cdr);
    }
    if (config_.role == Role::publisher) {
      open_writing(stream);
    } else {
      open_reading(stream);
    }
  }
}

void Node::open_writing(Stream& stream) {
  stream.spool = std::make_unique<Spool>(stream.config.spool);
  if (stream.config.echo) {
    stream.replies = std::make_unique<Replies>();
    open_reading(stream);
  }
  stream.writer = advertise(stream);
  stream.sender = std::make_unique<Sender>(Sender::Parts{
      .clock = clock_,
      .api = *stream.transport.api,
      .writer = stream.writer,
      .typed = stream.typed.get(),
      .sends = *sends_,
      .source = {*stream.spool, stream.typed.get(), nonce_, stream.config.id, stream.config.messages, config_.rounds},
      .buffer_size = buffer_size(stream.config, stream.spool.get()),
      .replies = stream.replies.get(),
      .on_round_done = [this] { control_.wake(); }});
}

void Node::open_reading(Stream& stream) {
  stream.receiver = std::make_unique<Receiver>(Receiver::Parts{.clock = clock_,
                                                               .nonce = nonce_,
                                                               .typed = stream.typed.get(),
                                                               .receipts = *receipts_,
                                                               .stream = stream.config.id,
                                                               .reader = stream.config.reader,
                                                               .replies = stream.replies.get(),
                                                               .flowing = flowing_});
  if (config_.role == Role::echo) {
    stream.writer = advertise(stream);
    stream.receiver->echo_through(*stream.transport.api, stream.writer, buffer_size(stream.config, stream.spool.get()));
  }
  subscribe(stream);
}

comseclab_writer* Node::advertise(const Stream& stream) const {
  const Described described(stream.config, config_.role == Role::echo);
  comseclab_writer* writer = nullptr;
  comseclab_error error{};
  if (stream.transport.api->advertise(stream.transport.handle, &described.c, &writer, &error) != COMSECLAB_OK) {
    throw Fatal("cannot write " + described.topic + ": " + error.text,
                "correct the stream or the transport's settings");
  }
  return writer;
}

void Node::subscribe(Stream& stream) const {
  const Described described(stream.config, config_.role == Role::publisher);
  comseclab_reader* reader = nullptr;
  comseclab_error error{};
  if (stream.transport.api->subscribe(stream.transport.handle, &described.c, Receiver::on_message,
                                      stream.receiver.get(), &reader, &error) != COMSECLAB_OK) {
    throw Fatal("cannot read " + described.topic + ": " + error.text, "correct the stream or the transport's settings");
  }
}

void Node::serve() {
  while (true) {
    const Control::Wakeup wakeup = control_.wait();
    if (wakeup.ended) return;
    if (!wakeup.line) {
      if (sending_) report_finished();
      if (!events_.held()) events_.flush();
      continue;
    }
    const json given = json::parse(*wakeup.line, nullptr, false);
    const std::string command = given.is_object() ? given.value("command", "") : "";
    if (command == "stop") return;
    if (command != "start" || config_.role != Role::publisher) {
      throw Fatal("unexpected command: " + *wakeup.line, "see Node in docs/formats.md");
    }
    start(given);
  }
}

void Node::start(const json& command) {
  const auto integer = [&](const char* key) {
    const auto found = command.find(key);
    if (found == command.end() || !found->is_number_integer()) {
      throw Fatal(std::string("start lacks the integer '") + key + "'", "see Node in docs/formats.md");
    }
    return found->get<int64_t>();
  };
  const int64_t at_ns = integer("at_ns");
  if (sending_ || integer("round") != next_round_ || next_round_ >= config_.rounds) {
    throw Fatal("start of a round out of turn", "start each round once, after the one before has finished");
  }
  events_.hold(true);
  sending_ = true;
  for (auto& stream : streams_) stream->sender->start(at_ns);
}

void Node::report_finished() {
  for (auto& stream : streams_) stream->sender->check();
  if (!std::all_of(streams_.begin(), streams_.end(), [](auto& stream) { return stream->sender->idle(); })) return;
  sending_ = false;
  flowing_ = false;
  events_.hold(false);
  control_.emit({{"event", "finished"}, {"round", next_round_++}});
}

/// Records reach the disk before the middleware closes: if it fails at that, they are safe.
void Node::stop() {
  json refused = json::object();
  uint64_t dry = 0;
  uint64_t foreign = 0;
  uint64_t decode_failed = 0;
  for (auto& stream : streams_) {
    uint64_t not_taken = 0;
    if (stream->sender) {
      dry += stream->sender->dry();
      not_taken += stream->sender->refused();
      stream->sender.reset();
    }
    if (stream->receiver) {
      foreign += stream->receiver->foreign();
      decode_failed += stream->receiver->decode_failed();
      not_taken += stream->receiver->refused();
    }
    refused[std::to_string(stream->config.id)] = not_taken;
  }
  const size_t sends_lost = sends_->write(config_.records / "sends.bin", config_.records / "sent.bin", clock_);
  const size_t receipts_lost =
      receipts_->write(config_.records / "receipts.bin", config_.records / "received.bin", clock_);
  json statistics = json::object();
  for (auto& transport : transports_) {
    std::array<char, 65536> text{};
    const comseclab_status status = transport->api->statistics(transport->handle, text.data(), text.size());
    json counters = json::parse(text.data(), nullptr, false);
    if (status == COMSECLAB_OK && counters.is_object()) statistics[transport->api->name] = std::move(counters);
    transport->api->close(transport->handle);
    transport->handle = nullptr;
  }
  events_.flush();
  control_.emit({{"event", "closed"},
                 {"refused", refused},
                 {"dry", dry},
                 {"decode_failed", decode_failed},
                 {"foreign", foreign},
                 {"memory_locked", memory_locked_},
                 {"not_recorded", sends_lost + receipts_lost},
                 {"statistics", statistics}});
}

}  // namespace comseclab

#include "endpoint.hpp"

#include <Ice/LocalException.h>

#include <string_view>

#include "boundary.hpp"
#include "communicator.hpp"
#include "errors.hpp"

using comseclab::fail;
using comseclab::ice::one_line;
using comseclab::storm::SinkPrx;

namespace comseclab::ice {

void Reporter::operator()(comseclab_event_kind kind, uint64_t count, const char* text) const {
  if (on_event == nullptr) return;
  const comseclab_event event{sizeof event, kind, stream, is_writer ? 1 : 0, count, text};
  on_event(context, &event);
}

std::string topic_name(const comseclab_stream& stream) {
  const std::string codec = std::string_view(stream.type).empty() ? "opaque" : stream.codec;
  return codec == "cdr" ? stream.topic : stream.topic + ("/" + codec);
}

std::shared_ptr<IceStorm::TopicPrx> topic_of(IceStorm::TopicManagerPrx& manager, const std::string& name) {
  while (true) {
    try {
      return manager.retrieve(name);
    } catch (const IceStorm::NoSuchTopic&) {
    }
    try {
      return manager.create(name);
    } catch (const IceStorm::TopicExists&) {  // another node was faster
    }
  }
}

}  // namespace comseclab::ice

namespace {

// A publish that takes longer is given up, so that a node can always end.
constexpr int kPublishTimeoutMs = 5000;

}  // namespace

void comseclab_writer::join(const std::shared_ptr<IceStorm::TopicPrx>& joined_topic) {
  const auto publisher = joined_topic->getPublisher()->ice_invocationTimeout(kPublishTimeoutMs);
  sink = Ice::uncheckedCast<SinkPrx>(reliable ? publisher->ice_twoway() : publisher->ice_oneway());
  connection = comseclab::ice::describe(sink->ice_getConnection());
  topic = joined_topic;
  joined.store(true, std::memory_order_release);
}

void comseclab_writer::count() {
  uint64_t now = 0;
  try {
    now = topic->getSubscribers().size();
  } catch (const Ice::LocalException&) {  // no broker, no subscribers
  }
  if (now == subscribers) return;
  subscribers = now;
  report(COMSECLAB_MATCHED, now);
}

comseclab_status comseclab_writer::publish(const uint8_t* bytes, size_t size, comseclab_error* error) {
  if (!joined.load(std::memory_order_acquire)) return fail(error, "IceStorm has not answered yet", COMSECLAB_AGAIN);
  try {
    sink->push({bytes, bytes + size});
    ++taken;
    return COMSECLAB_OK;
  } catch (const Ice::InvocationTimeoutException&) {
    ++timed_out;
    return fail(error, "IceStorm did not take the message in " + std::to_string(kPublishTimeoutMs) + " ms",
                COMSECLAB_AGAIN);
  } catch (const std::exception& exception) {
    ++failed;
    return fail(error, one_line(exception));
  }
}

nlohmann::json comseclab_writer::statistics() const {
  if (!joined.load(std::memory_order_acquire)) return {{"joined", false}};
  return {{"joined", true},          {"subscribers", subscribers.load()},
          {"taken", taken.load()},   {"timed_out", timed_out.load()},
          {"failed", failed.load()}, {"connection", connection}};
}

void comseclab_reader::join(const std::shared_ptr<IceStorm::TopicPrx>& joined_topic,
                            const std::shared_ptr<Ice::ObjectPrx>& reached_at) {
  subscription = reliable ? reached_at->ice_twoway() : reached_at->ice_oneway();
  topic = joined_topic;
  Ice::uncheckedCast<SinkPrx>(subscribe())->reached();
}

std::shared_ptr<Ice::ObjectPrx> comseclab_reader::subscribe() {
  try {
    auto own = topic->subscribeAndGetPublisher({}, subscription);
    joined = true;
    return own;
  } catch (const IceStorm::AlreadySubscribed&) {  // by a node of this name that ended without a word
    topic->unsubscribe(subscription);
    return subscribe();
  }
}

void comseclab_reader::push(std::pair<const Ice::Byte*, const Ice::Byte*> message, const Ice::Current& /*current*/) {
  static constexpr comseclab_sender kUnknown{};  // IceStorm passes on nothing of the publisher
  ++delivered;
  on_message(message_context, message.first, static_cast<size_t>(message.second - message.first), &kUnknown);
}

void comseclab_reader::reached(const Ice::Current& current) {
  {
    const std::lock_guard lock(mutex);
    connection = comseclab::ice::describe(current.con);
  }
  report(COMSECLAB_MATCHED, 1);
}

nlohmann::json comseclab_reader::statistics() const {
  const std::lock_guard lock(mutex);
  return {{"delivered", delivered.load()}, {"connection", connection}};
}

// One stream's sending or receiving end at an IceStorm topic.
#pragma once

#include <Ice/ObjectAdapter.h>
#include <IceStorm/IceStorm.h>
#include <sink.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>

#include "comseclab/transport.h"

namespace comseclab::ice {

// Tells the node what happens to one stream.
struct Reporter {
  comseclab_on_event on_event;
  void* context;
  uint32_t stream;
  bool is_writer;

  void operator()(comseclab_event_kind kind, uint64_t count, const char* text = nullptr) const;
};

// The stream's topic: the ROS name, with /CODEC appended where the bytes are not CDR of the named type.
std::string topic_name(const comseclab_stream& stream);

// Whichever node comes first makes the topic.
std::shared_ptr<IceStorm::TopicPrx> topic_of(IceStorm::TopicManagerPrx& manager, const std::string& name);

}  // namespace comseclab::ice

struct comseclab_writer {
  comseclab_writer(comseclab::ice::Reporter reporter, bool twoway) : report(reporter), reliable(twoway) {}

  void join(const std::shared_ptr<IceStorm::TopicPrx>& joined);
  // Asks IceStorm how many subscribers there are, and reports a change.
  void count();
  comseclab_status publish(const uint8_t* bytes, size_t size, comseclab_error* error);
  [[nodiscard]] nlohmann::json statistics() const;

  const comseclab::ice::Reporter report;
  const bool reliable;
  std::shared_ptr<IceStorm::TopicPrx> topic;
  std::shared_ptr<comseclab::storm::SinkPrx> sink;
  std::atomic<bool> joined = false;  // set once `sink` stands
  nlohmann::json connection;
  std::atomic<uint64_t> subscribers = 0;
  std::atomic<uint64_t> taken = 0;
  std::atomic<uint64_t> timed_out = 0;
  std::atomic<uint64_t> failed = 0;
};

struct comseclab_reader : comseclab::storm::Sink {
  comseclab_reader(comseclab::ice::Reporter reporter, bool twoway, comseclab_on_message message, void* context)
      : report(reporter), reliable(twoway), on_message(message), message_context(context) {}

  // `reached_at`: the proxy by which the broker reaches this reader.
  void join(const std::shared_ptr<IceStorm::TopicPrx>& joined, const std::shared_ptr<Ice::ObjectPrx>& reached_at);
  [[nodiscard]] nlohmann::json statistics() const;

  void push(std::pair<const Ice::Byte*, const Ice::Byte*> message, const Ice::Current& current) override;
  void reached(const Ice::Current& current) override;

  const comseclab::ice::Reporter report;
  const bool reliable;
  comseclab_on_message on_message;
  void* message_context;
  std::shared_ptr<IceStorm::TopicPrx> topic;
  std::shared_ptr<Ice::ObjectPrx> subscription;
  std::atomic<bool> joined = false;  // set once both stand
  mutable std::mutex mutex;          // guards `connection`
  nlohmann::json connection;
  std::atomic<uint64_t> delivered = 0;

 private:
  // Returns the proxy by which one publishes to this subscription alone.
  std::shared_ptr<Ice::ObjectPrx> subscribe();
};

#include "endpoint.hpp"

#include <ros/init.h>
#include <ros/subscription_callback_helper.h>

#include <boost/make_shared.hpp>
#include <cstring>
#include <stdexcept>

#include "boundary.hpp"
#include "message.hpp"

using namespace comseclab::ros1;
using comseclab::fail;

namespace comseclab::ros1 {

void Reporter::operator()(comseclab_event_kind kind, uint64_t count, const char* text) const {
  if (on_event == nullptr) return;
  const comseclab_event event{sizeof event, kind, stream, is_writer ? 1 : 0, count, text};
  on_event(context, &event);
}

namespace {

// The 128-bit FNV-1a hash of a node's name, which may be longer than the field.
comseclab_sender sender_of(const std::string& name) {
  __extension__ using Wide = unsigned __int128;
  constexpr Wide kPrime = (Wide{1} << 88U) + 0x13b;
  Wide hash = (Wide{0x6c62272e07bb0142} << 64U) + 0x62b821756295c58d;
  for (const char character : name) hash = (hash ^ static_cast<uint8_t>(character)) * kPrime;
  comseclab_sender sender{};
  std::memcpy(sender.bytes, &hash, sizeof sender.bytes);
  return sender;
}

// Where roscpp deserialises, we deliver: there the bytes are those of the buffer that was received into, and stay so
// until we return. Its own helper would copy them into an object first.
class Delivery : public ros::SubscriptionCallbackHelper {
 public:
  explicit Delivery(comseclab_reader& reader) : reader_(reader) {}

  ros::VoidConstPtr deserialize(const ros::SubscriptionCallbackHelperDeserializeParams& received) override {
    static const std::string kUnknown;
    const auto header = received.connection_header;
    const auto caller = header ? header->find("callerid") : ros::M_string::iterator();
    const bool named = header && caller != header->end();
    reader_.deliver(received.buffer, received.length, named ? caller->second : kUnknown);
    return {};
  }
  void call(ros::SubscriptionCallbackHelperCallParams& /*params*/) override {}
  const std::type_info& getTypeInfo() override { return typeid(Delivery); }
  bool isConst() override { return true; }
  bool hasHeader() override { return false; }

 private:
  comseclab_reader& reader_;
};

ros::TransportHints hints(const Settings& settings, bool reliable) {
  if (reliable) return ros::TransportHints().tcp().tcpNoDelay(true);
  return ros::TransportHints().udp().maxDatagramSize(static_cast<int>(settings.max_datagram_size));
}

uint32_t checked_largest(const Settings& settings, const comseclab_stream& stream) {
  const uint32_t largest = largest_message(settings, stream);
  if (stream.max_size > largest) {
    throw std::runtime_error(std::string(stream.topic) + " has messages of " + std::to_string(stream.max_size) +
                             " bytes, and " + (stream.reliable != 0 ? "TCPROS" : "UDPROS") + " carries " +
                             std::to_string(largest) + ": send smaller ones" +
                             (stream.reliable != 0 ? "" : ", or raise max_datagram_size"));
  }
  return largest;
}

}  // namespace
}  // namespace comseclab::ros1

comseclab_writer::comseclab_writer(ros::NodeHandle& node, const Settings& settings, const comseclab_stream& stream,
                                   Reporter reporter)
    : report(reporter),
      names_(wire_names(settings, stream)),
      queue_size_(queue_size(settings, stream)),
      largest_(checked_largest(settings, stream)) {
  const auto changed = [this](const ros::SingleSubscriberPublisher& /*link*/) { on_change(); };
  const MessageType& type = names_.type;
  ros::AdvertiseOptions options(names_.topic, queue_size_, type.md5sum, type.datatype, type.definition, changed,
                                changed);
  // As for a type of ROS 1's own: roscpp numbers the messages in their header.
  options.has_header = type.definition.starts_with("std_msgs/Header header\n");
  const std::lock_guard lock(mutex_);
  publisher_ = node.advertise(options);
  if (!publisher_) throw std::runtime_error("the ROS master did not register a publisher of " + names_.topic);
}

void comseclab_writer::on_change() {
  const std::lock_guard lock(mutex_);
  report(COMSECLAB_MATCHED, publisher_.getNumSubscribers());
}

comseclab_status comseclab_writer::publish(const uint8_t* bytes, size_t size, comseclab_error* error) {
  if (size > largest_) {
    return fail(error, "a message may not exceed " + std::to_string(largest_) + " bytes", COMSECLAB_TOO_LARGE);
  }
  if (!ros::ok()) return fail(error, "roscpp was shut down, as by another node of the same name");
  publisher_.publish(Outgoing{names_, bytes, size});
  ++taken_;
  return COMSECLAB_OK;
}

nlohmann::json comseclab_writer::statistics() const {
  return {{"topic", names_.topic},
          {"type", names_.type.datatype},
          {"queue_size", queue_size_},
          {"matched", publisher_.getNumSubscribers()},
          {"taken", taken_.load()}};
}

comseclab_reader::comseclab_reader(ros::NodeHandle& node, const Settings& settings, const comseclab_stream& stream,
                                   Reporter reporter, comseclab_on_message on_message, void* context)
    : report(reporter),
      names_(wire_names(settings, stream)),
      queue_size_(queue_size(settings, stream)),
      udpros_(stream.reliable == 0),
      on_message_(on_message),
      message_context_(context) {
  checked_largest(settings, stream);
  ros::SubscribeOptions options(names_.topic, queue_size_, names_.type.md5sum, names_.type.datatype);
  options.helper = boost::make_shared<Delivery>(*this);
  options.transport_hints = hints(settings, stream.reliable != 0);
  subscriber_ = node.subscribe(options);
  if (!subscriber_) throw std::runtime_error("the ROS master did not register a subscriber of " + names_.topic);
}

uint32_t comseclab_reader::poll() {
  const uint32_t count = subscriber_.getNumPublishers();
  if (count != matched_) report(COMSECLAB_MATCHED, count);
  return matched_ = count;
}

void comseclab_reader::deliver(const uint8_t* bytes, size_t size, const std::string& sender) {
  if (names_.form == Form::kOctets) {
    uint32_t length = 0;
    if (size >= kLengthPrefix) std::memcpy(&length, bytes, kLengthPrefix);
    if (size < kLengthPrefix || length != size - kLengthPrefix) {
      ++malformed_;
      report(COMSECLAB_REJECTED, 1, "a message's length is not what it says itself");
      return;
    }
    bytes += kLengthPrefix;
    size = length;
  }
  ++delivered_;
  const comseclab_sender claimed = sender.empty() ? comseclab_sender{} : sender_of(sender);
  on_message_(message_context_, bytes, size, &claimed);
}

nlohmann::json comseclab_reader::statistics() const {
  return {
      {"topic", names_.topic},          {"type", names_.type.datatype},  {"carrier", udpros_ ? "UDPROS" : "TCPROS"},
      {"copies", udpros_ ? 1 : 0},      {"queue_size", queue_size_},     {"matched", subscriber_.getNumPublishers()},
      {"delivered", delivered_.load()}, {"malformed", malformed_.load()}};
}

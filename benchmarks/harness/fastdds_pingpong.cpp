// Round trips of Fast DDS by its own API: the reference for comseclab's `echo` (see compare.py).
//
//   fastdds_pingpong ping|pong ADDRESS SIZE RELIABLE BUFFER MAX_MESSAGE_SIZE [SECONDS RATE_HZ]
//
// ADDRESS: of the interface to use. SIZE: bytes of the sequence of octets. RELIABLE: 0 or 1. BUFFER: bytes of each
// socket's buffers. `pong` sends back what comes until it is ended. `ping` waits for it, sends for SECONDS, each
// message when the reply to the one before is in and, with a RATE_HZ above 0, not before its time; then it prints
// the round trips in nanoseconds, one a line, in order.

#include <fastdds/rtps/common/SerializedPayload.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace {

namespace dds = eprosima::fastdds::dds;
using eprosima::fastrtps::Duration_t;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using eprosima::fastrtps::types::ReturnCode_t;
using Octets = std::vector<uint8_t>;

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kSpinNs = 50'000;          // comseclab's pacer spins as long before a message
constexpr int64_t kReplyWaitNs = kSecondNs;  // a reply not in by then is lost
constexpr uint32_t kCdrHeader = 4;
constexpr uint32_t kLength = 4;

struct Options {
  bool ping;
  std::string address;
  uint32_t size;
  bool reliable;
  uint32_t buffer;
  uint32_t max_message_size;
  double seconds = 0;
  double rate_hz = 0;
};

int64_t now_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecondNs + time.tv_nsec;
}

// A CDR sequence<octet>; the application's type is a vector.
class OctetsType : public dds::TopicDataType {
 public:
  explicit OctetsType(uint32_t size) {
    setName("Octets");
    m_typeSize = kCdrHeader + kLength + size + 3;
    m_isGetKeyDefined = false;
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }
  bool serialize(void* data, SerializedPayload_t* payload) override {
    const auto& octets = *static_cast<const Octets*>(data);
    const auto size = static_cast<uint32_t>(octets.size());
    const std::array<uint8_t, kCdrHeader> header{0, 1, 0, 0};
    std::memcpy(payload->data, header.data(), kCdrHeader);
    std::memcpy(payload->data + kCdrHeader, &size, kLength);
    std::memcpy(payload->data + kCdrHeader + kLength, octets.data(), size);
    payload->encapsulation = CDR_LE;
    payload->length = kCdrHeader + kLength + size;
    return true;
  }
  bool deserialize(SerializedPayload_t* payload, void* data) override {
    auto& octets = *static_cast<Octets*>(data);
    uint32_t size = 0;
    std::memcpy(&size, payload->data + kCdrHeader, kLength);
    const uint8_t* first = payload->data + kCdrHeader + kLength;
    octets.assign(first, first + size);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void* data) override {
    const auto size = static_cast<uint32_t>(kCdrHeader + kLength + static_cast<const Octets*>(data)->size());
    return [size] { return size; };
  }
  void* createData() override { return new Octets; }
  void deleteData(void* data) override { delete static_cast<Octets*>(data); }
  bool getKey(void* /*data*/, InstanceHandle_t* /*handle*/, bool /*force_md5*/) override { return false; }
};

template <typename Qos>
Qos endpoint_qos(const Options& options) {
  Qos qos;
  qos.reliability().kind = options.reliable ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
  qos.durability().kind = dds::VOLATILE_DURABILITY_QOS;
  qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = 5;
  qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  qos.data_sharing().off();
  return qos;
}

dds::DomainParticipant* make_participant(const Options& options) {
  eprosima::fastrtps::LibrarySettingsAttributes library;
  library.intraprocess_delivery = eprosima::fastrtps::INTRAPROCESS_OFF;
  eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings(library);
  dds::DomainParticipantQos qos;
  qos.wire_protocol().builtin.discovery_config.initial_announcements = {50, Duration_t(0, 200'000'000)};
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  udp->maxMessageSize = options.max_message_size;
  udp->sendBufferSize = options.buffer;
  udp->receiveBufferSize = options.buffer;
  udp->interfaceWhiteList = {options.address};
  qos.transport().user_transports.push_back(udp);
  qos.transport().use_builtin_transports = false;
  return dds::DomainParticipantFactory::get_instance()->create_participant(0, qos);
}

// Both ends have one writer, one reader, and know when each has found its other end.
class End : public dds::DataWriterListener, public dds::DataReaderListener {
 public:
  explicit End(const Options& options) : participant_(make_participant(options)) {
    if (participant_ == nullptr) fail("no participant");
    dds::TypeSupport type(new OctetsType(options.size));
    type.register_type(participant_);
    const std::array<const char*, 2> names{"ping", "pong"};
    auto topic = [&](bool there) {
      return participant_->create_topic(names.at(there ? 0 : 1), type.get_type_name(), dds::TOPIC_QOS_DEFAULT);
    };
    auto reader_qos = endpoint_qos<dds::DataReaderQos>(options);
    auto writer_qos = endpoint_qos<dds::DataWriterQos>(options);
    writer_qos.publish_mode().kind = dds::SYNCHRONOUS_PUBLISH_MODE;
    writer_ = participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT)
                  ->create_datawriter(topic(options.ping), writer_qos, this);
    reader_ = participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT)
                  ->create_datareader(topic(!options.ping), reader_qos, this);
    if (writer_ == nullptr || reader_ == nullptr) fail("no writer or reader");
  }
  ~End() override {
    participant_->delete_contained_entities();
    dds::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;
  End(End&&) = delete;
  End& operator=(End&&) = delete;

  void wait_matched() {
    std::unique_lock lock(mutex_);
    const auto both = [this] { return writers_ > 0 && readers_ > 0; };
    if (!changed_.wait_for(lock, std::chrono::seconds(15), both)) fail("no other end in 15 s");
  }

 protected:
  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "fastdds_pingpong: %s\n", what);
    std::exit(2);
  }
  void on_publication_matched(dds::DataWriter* /*writer*/, const dds::PublicationMatchedStatus& status) override {
    const std::lock_guard lock(mutex_);
    readers_ = status.current_count;
    changed_.notify_one();
  }
  void on_subscription_matched(dds::DataReader* /*reader*/, const dds::SubscriptionMatchedStatus& status) override {
    const std::lock_guard lock(mutex_);
    writers_ = status.current_count;
    changed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  dds::DomainParticipant* participant_;
  dds::DataWriter* writer_ = nullptr;
  dds::DataReader* reader_ = nullptr;
  int writers_ = 0;
  int readers_ = 0;
};

class Pong : public End {
 public:
  using End::End;
  void on_data_available(dds::DataReader* reader) override {
    dds::SampleInfo info;
    while (reader->take_next_sample(&octets_, &info) == ReturnCode_t::RETCODE_OK) {
      if (info.valid_data) writer_->write(&octets_);
    }
  }

 private:
  Octets octets_;
};

class Ping : public End {
 public:
  explicit Ping(const Options& options) : End(options), options_(options), sent_(options.size) {}

  void on_data_available(dds::DataReader* reader) override {
    dds::SampleInfo info;
    while (reader->take_next_sample(&received_, &info) == ReturnCode_t::RETCODE_OK) {
      const int64_t arrived = now_ns();
      uint32_t index = 0;
      std::memcpy(&index, received_.data(), sizeof index);
      {
        const std::lock_guard lock(mutex_);
        replied_ = index;
        arrived_ = arrived;
      }
      changed_.notify_one();
    }
  }

  std::vector<int64_t> round_trips() {
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    const int64_t begin = now_ns();
    const int64_t end = begin + static_cast<int64_t>(options_.seconds * kSecondNs);
    const int64_t period = options_.rate_hz > 0 ? static_cast<int64_t>(kSecondNs / options_.rate_hz) : 0;
    std::vector<int64_t> found;
    found.reserve(1'000'000);
    for (uint32_t index = 1; now_ns() < end; ++index) {
      wait_until(begin + index * period);
      const int64_t sent = now_ns();
      std::memcpy(sent_.data(), &index, sizeof index);
      writer_->write(&sent_);
      if (reply_to(index)) found.push_back(arrived_ - sent);
    }
    return found;
  }

 private:
  static void wait_until(int64_t target) {
    const int64_t wake = target - kSpinNs;
    const timespec time{wake / kSecondNs, wake % kSecondNs};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
    while (now_ns() < target) {
    }
  }
  bool reply_to(uint32_t index) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::nanoseconds(kReplyWaitNs), [&] { return replied_ == index; });
  }

  Options options_;
  Octets sent_;
  Octets received_;
  uint32_t replied_ = 0;
  int64_t arrived_ = 0;
};

}  // namespace

int main(int count, char** words) {
  if (count != 7 && count != 9) {
    std::fprintf(stderr, "usage: see the head of fastdds_pingpong.cpp\n");
    return 2;
  }
  Options options{.ping = std::string(words[1]) == "ping",
                  .address = words[2],
                  .size = static_cast<uint32_t>(std::stoul(words[3])),
                  .reliable = std::stoi(words[4]) != 0,
                  .buffer = static_cast<uint32_t>(std::stoul(words[5])),
                  .max_message_size = static_cast<uint32_t>(std::stoul(words[6]))};
  if (!options.ping) {
    const Pong pong(options);
    pause();
    return 0;
  }
  options.seconds = std::stod(words[7]);
  options.rate_hz = std::stod(words[8]);
  Ping ping(options);
  ping.wait_matched();
  for (const int64_t round_trip : ping.round_trips()) std::printf("%lld\n", static_cast<long long>(round_trip));
  return 0;
}

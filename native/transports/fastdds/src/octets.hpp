// The type support that carries bytes as they are, so that every copy is ours to count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <string>

namespace comseclab::fastdds {

// What write() is given and a loaned sample holds: bytes owned by someone else.
struct View {
  const uint8_t* bytes = nullptr;
  size_t size = 0;
};

// How a stream's bytes stand in the serialised payload.
enum class Form {
  kCdr,     // the bytes are the payload, encapsulation header included
  kOctets,  // the payload is a CDR `sequence<octet>` of the bytes
};

// Serialising copies the bytes once, into the writer's history. Deserialising copies nothing: the view points into the
// reader's history, which a loaned sample keeps alive.
class OctetsType : public eprosima::fastdds::dds::TopicDataType {
 public:
  OctetsType(const std::string& name, Form form, uint32_t max_size);

  bool serialize(void* data, eprosima::fastrtps::rtps::SerializedPayload_t* payload) override;
  bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t* payload, void* data) override;
  std::function<uint32_t()> getSerializedSizeProvider(void* data) override;
  void* createData() override;
  void deleteData(void* data) override;
  bool getKey(void* data, eprosima::fastrtps::rtps::InstanceHandle_t* handle, bool force_md5) override;

  static constexpr uint32_t kOctetsHeader = 8;               // encapsulation header, then the sequence's length
  static constexpr uint32_t kMostAdded = kOctetsHeader + 3;  // padding included

 private:
  [[nodiscard]] uint32_t header() const { return form_ == Form::kOctets ? kOctetsHeader : 0; }
  [[nodiscard]] uint32_t serialized_size(uint32_t size) const;

  Form form_;
};

// ROS 2's names on the wire: "/scan" -> "rt/scan", "sensor_msgs/msg/LaserScan" -> "sensor_msgs::msg::dds_::LaserScan_".
// Bytes that are not CDR of the type go under a type and a topic of their own: "rt/scan/ros1".
struct WireNames {
  Form form;
  std::string topic;
  std::string type;
};
// Throws std::invalid_argument where the type is not package/msg/Name.
WireNames wire_names(const std::string& topic, const std::string& type, const std::string& codec);

}  // namespace comseclab::fastdds

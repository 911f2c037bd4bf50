// The type support that carries bytes as they are, so that every copy is ours to count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <string>

#include "payload.hpp"

namespace comseclab::fastdds {

// What write() is given and a loaned sample holds is a View. Serialising copies its bytes once, into the writer's
// history. Deserialising copies nothing: the view points into the reader's history, which a loaned sample keeps alive.
class OctetsType : public eprosima::fastdds::dds::TopicDataType {
 public:
  OctetsType(const std::string& name, dds::Form form, uint32_t max_size);

  bool serialize(void* data, eprosima::fastrtps::rtps::SerializedPayload_t* payload) override;
  bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t* payload, void* data) override;
  std::function<uint32_t()> getSerializedSizeProvider(void* data) override;
  void* createData() override;
  void deleteData(void* data) override;
  bool getKey(void* data, eprosima::fastrtps::rtps::InstanceHandle_t* handle, bool force_md5) override;

 private:
  dds::Form form_;
};

}  // namespace comseclab::fastdds

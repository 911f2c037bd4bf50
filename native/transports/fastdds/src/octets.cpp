#include "octets.hpp"

#include <fastdds/rtps/common/SerializedPayload.h>

namespace comseclab::fastdds {

using dds::View;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;

OctetsType::OctetsType(const std::string& name, dds::Form form, uint32_t max_size) : form_(form) {
  setName(name.c_str());
  m_typeSize = max_size + dds::kMostAdded;
  m_isGetKeyDefined = false;
  auto_fill_type_object(false);
  auto_fill_type_information(false);
}

bool OctetsType::serialize(void* data, SerializedPayload_t* payload) {
  const auto& view = *static_cast<const View*>(data);
  const uint32_t size = dds::payload_size(form_, view.size);
  if (size > payload->max_size) return false;
  dds::write_payload(form_, view, payload->data);
  payload->encapsulation = CDR_LE;
  payload->length = size;
  return true;
}

bool OctetsType::deserialize(SerializedPayload_t* payload, void* data) {
  auto& view = *static_cast<View*>(data);
  view = dds::read_payload(form_, payload->data, payload->length);
  return view.bytes != nullptr;
}

std::function<uint32_t()> OctetsType::getSerializedSizeProvider(void* data) {
  const uint32_t size = dds::payload_size(form_, static_cast<const View*>(data)->size);
  return [size] { return size; };
}

void* OctetsType::createData() {
  return new View;
}
void OctetsType::deleteData(void* data) {
  delete static_cast<View*>(data);
}
bool OctetsType::getKey(void* /*data*/, InstanceHandle_t* /*handle*/, bool /*force_md5*/) {
  return false;
}

}  // namespace comseclab::fastdds

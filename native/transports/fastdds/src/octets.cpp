#include "octets.hpp"

#include <fastdds/rtps/common/SerializedPayload.h>

#include <cstring>
#include <stdexcept>

namespace comseclab::fastdds {

using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;

namespace {
constexpr uint8_t kCdrLittleEndian[4] = {0, 1, 0, 0};
constexpr uint32_t kCdrHeader = 4;

// RTPS pads a payload to a multiple of four. We do it first: under payload signing, readers of Fast DDS 2.9.1
// accept no sample of another size. The last two bits of the encapsulation header say how many bytes were added
// (DDS-XTypes 1.3, clause 7.6.3.1.2), so that the reader finds the size that was sent.
constexpr size_t kOptions = 3;
uint8_t padding(uint32_t size) {
  return static_cast<uint8_t>(-size & 3U);
}
}  // namespace

OctetsType::OctetsType(const std::string& name, Form form, uint32_t max_size) : form_(form) {
  setName(name.c_str());
  m_typeSize = max_size + kMostAdded;
  m_isGetKeyDefined = false;
  auto_fill_type_object(false);
  auto_fill_type_information(false);
}

uint32_t OctetsType::serialized_size(uint32_t size) const {
  return header() + size + padding(size);
}

bool OctetsType::serialize(void* data, SerializedPayload_t* payload) {
  const auto& view = *static_cast<const View*>(data);
  const auto size = static_cast<uint32_t>(view.size);
  if (serialized_size(size) > payload->max_size) return false;
  if (form_ == Form::kOctets) {
    std::memcpy(payload->data, kCdrLittleEndian, sizeof kCdrLittleEndian);
    std::memcpy(payload->data + sizeof kCdrLittleEndian, &size, sizeof size);
  }
  std::memcpy(payload->data + header(), view.bytes, view.size);
  std::memset(payload->data + header() + size, 0, padding(size));
  if (form_ == Form::kCdr && size >= kCdrHeader) payload->data[kOptions] |= padding(size);
  payload->encapsulation = CDR_LE;
  payload->length = serialized_size(size);
  return true;
}

bool OctetsType::deserialize(SerializedPayload_t* payload, void* data) {
  auto& view = *static_cast<View*>(data);
  view = {};
  if (payload->length < (form_ == Form::kOctets ? kOctetsHeader : kCdrHeader)) return false;
  uint32_t size = payload->length;
  if (form_ == Form::kOctets) {
    std::memcpy(&size, payload->data + sizeof kCdrLittleEndian, sizeof size);
    if (size > payload->length - kOctetsHeader) return false;
  } else if (size % 4 == 0 && size > kCdrHeader) {  // another's payload may come without padding, once decrypted
    size -= payload->data[kOptions] & 3U;
  }
  view = {payload->data + header(), size};
  return true;
}

std::function<uint32_t()> OctetsType::getSerializedSizeProvider(void* data) {
  const uint32_t size = serialized_size(static_cast<uint32_t>(static_cast<const View*>(data)->size));
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

WireNames wire_names(const std::string& topic, const std::string& type, const std::string& codec) {
  const std::string path = "rt" + (topic.starts_with('/') ? topic : "/" + topic);
  if (codec != "cdr" || type.empty()) {
    const std::string kind = type.empty() ? "opaque" : codec;
    return {Form::kOctets, path + "/" + kind, "comseclab::msg::dds_::Octets_"};
  }
  const auto first = type.find('/');
  const auto last = type.rfind('/');
  if (first == std::string::npos || first == last) {
    throw std::invalid_argument("type " + type + " is not of the form package/msg/Name");
  }
  const std::string kind = type.substr(first + 1, last - first - 1);
  return {Form::kCdr, path, type.substr(0, first) + "::" + kind + "::dds_::" + type.substr(last + 1) + "_"};
}

}  // namespace comseclab::fastdds

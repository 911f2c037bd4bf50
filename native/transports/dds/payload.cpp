#include "payload.hpp"

#include <cstring>
#include <stdexcept>

namespace comseclab::dds {
namespace {

constexpr uint8_t kCdrLittleEndian[4] = {0, 1, 0, 0};
constexpr uint32_t kCdrHeader = 4;

// RTPS pads a payload to a multiple of four. We do it first: under payload signing, readers of Fast DDS 2.9.1
// accept no sample of another size. The last two bits of the encapsulation header say how many bytes were added
// (DDS-XTypes 1.3, clause 7.6.3.1.2), so that the reader finds the size that was sent.
constexpr size_t kOptions = 3;
uint8_t padding(size_t size) {
  return static_cast<uint8_t>(-size & 3U);
}

uint32_t header(Form form) {
  return form == Form::kOctets ? kOctetsHeader : 0;
}

}  // namespace

uint32_t payload_size(Form form, size_t size) {
  return header(form) + static_cast<uint32_t>(size) + padding(size);
}

void write_payload(Form form, View view, uint8_t* payload) {
  if (form == Form::kOctets) {
    const auto size = static_cast<uint32_t>(view.size);
    std::memcpy(payload, kCdrLittleEndian, sizeof kCdrLittleEndian);
    std::memcpy(payload + sizeof kCdrLittleEndian, &size, sizeof size);
  }
  std::memcpy(payload + header(form), view.bytes, view.size);
  std::memset(payload + header(form) + view.size, 0, padding(view.size));
  if (form == Form::kCdr && view.size >= kCdrHeader) payload[kOptions] |= padding(view.size);
}

View read_payload(Form form, const uint8_t* payload, size_t size) {
  if (size < (form == Form::kOctets ? kOctetsHeader : kCdrHeader)) return {};
  if (form == Form::kOctets) {
    uint32_t length = 0;
    std::memcpy(&length, payload + sizeof kCdrLittleEndian, sizeof length);
    if (length > size - kOctetsHeader) return {};
    return {payload + kOctetsHeader, length};
  }
  // Another's payload may come without padding, once decrypted.
  if (size % 4 == 0 && size > kCdrHeader) size -= payload[kOptions] & 3U;
  return {payload, size};
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

}  // namespace comseclab::dds

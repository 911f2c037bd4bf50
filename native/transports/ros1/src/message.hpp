// A message class for roscpp whose serialisation is the stream's bytes as they are.
#pragma once

#include <ros/message_traits.h>
#include <ros/serialization.h>

#include <cstring>

#include "names.hpp"

namespace comseclab::ros1 {

struct Outgoing {
  const WireNames& names;
  const uint8_t* bytes;
  size_t size;
};

}  // namespace comseclab::ros1

template <>
struct ros::message_traits::MD5Sum<comseclab::ros1::Outgoing> {
  static const char* value(const comseclab::ros1::Outgoing& message) { return message.names.type.md5sum.c_str(); }
};

template <>
struct ros::message_traits::DataType<comseclab::ros1::Outgoing> {
  static const char* value(const comseclab::ros1::Outgoing& message) { return message.names.type.datatype.c_str(); }
};

template <>
struct ros::serialization::Serializer<comseclab::ros1::Outgoing> {
  template <typename Stream>
  static void write(Stream& stream, const comseclab::ros1::Outgoing& message) {
    const auto size = static_cast<uint32_t>(message.size);
    if (message.names.form == comseclab::ros1::Form::kOctets) stream.next(size);
    std::memcpy(stream.advance(size), message.bytes, size);
  }

  static uint32_t serializedLength(const comseclab::ros1::Outgoing& message) {
    const uint32_t prefix = message.names.form == comseclab::ros1::Form::kOctets ? comseclab::ros1::kLengthPrefix : 0;
    return prefix + static_cast<uint32_t>(message.size);
  }
};

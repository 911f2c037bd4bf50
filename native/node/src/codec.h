#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "layout.h"

namespace comseclab {

/// `cdr`: XCDR version 1, little-endian, with its 4-byte encapsulation header, as ROS 2 sends it (OMG DDS-XTypes 1.3,
/// 7.4.1). `ros1`: the serialisation of ROS 1, packed little-endian.
enum class Wire { cdr, ros1 };

/// Turns messages of one type into bytes and back: a flat programme in which runs of primitives that lie alike in
/// memory and on the wire, and sequences of such runs, are single copies.
class Codec {
 public:
  Codec(const Layout& layout, Wire wire);

  /// Bytes written to `buffer`, or nothing where it is too small.
  [[nodiscard]] std::optional<size_t> encode(const Message& message, std::span<std::byte> buffer) const;

  /// Fills `message`, fresh and of this codec's layout. Any bytes at all are safe: false where they are not a message.
  [[nodiscard]] bool decode(std::span<const std::byte> bytes, Message& message) const;

  [[nodiscard]] const Layout& layout() const { return layout_; }

  struct Programme;

 private:
  const Layout& layout_;
  Wire wire_;
  std::shared_ptr<const Programme> programme_;
};

}  // namespace comseclab

#include "names.hpp"

#include <algorithm>

namespace comseclab::ros1 {
namespace {

constexpr uint32_t kQueueSize = 100;
constexpr uint32_t kLeastQueueSize = 4;
constexpr uint32_t kQueueBytes = 256U << 20U;
constexpr uint64_t kUdprosHeader = 8;
constexpr uint64_t kUdprosBlocks = 65535;

// The md5sum is that of the definition.
const MessageType kOctets = {"comseclab/Octets", "d159f2bd8169d3b3339e6f1fce045c6d", "uint8[] bytes\n"};

}  // namespace

WireNames wire_names(const Settings& settings, const comseclab_stream& stream) {
  const std::string codec = stream.codec;
  if (codec == "ros1") {
    const auto known = settings.types.find(stream.type);
    if (known != settings.types.end()) return {Form::kMessage, stream.topic, known->second};
  }
  return {Form::kOctets, std::string(stream.topic) + "/" + codec, kOctets};
}

uint32_t queue_size(const Settings& settings, const comseclab_stream& stream) {
  if (settings.queue_size) return *settings.queue_size;
  return std::clamp(kQueueBytes / std::max(stream.max_size, 1U), kLeastQueueSize, kQueueSize);
}

uint32_t largest_message(const Settings& settings, const comseclab_stream& stream) {
  constexpr uint32_t kAdded = 2 * kLengthPrefix;  // the message's, and that of Octets
  if (stream.reliable != 0) return kLargestMessage - kAdded;
  const uint64_t most = kUdprosBlocks * (settings.max_datagram_size - kUdprosHeader);
  return static_cast<uint32_t>(std::min<uint64_t>(most, kLargestMessage)) - kAdded;
}

}  // namespace comseclab::ros1

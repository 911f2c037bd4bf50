#include "qos.hpp"

#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace comseclab::fastdds {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using eprosima::fastdds::rtps::UDPv4TransportDescriptor;
using eprosima::fastrtps::Duration_t;

namespace {

constexpr int32_t kBestEffortDepth = 5;
constexpr double kReliableSeconds = 15;
constexpr double kReliableBytes = 256 << 20;
constexpr double kReliableLeast = 4;
constexpr double kPreallocatedBytes = 64 << 20;
constexpr uint32_t kPublishTimeoutMs = 100;

int32_t reliable_samples(const comseclab_stream& stream) {
  const double wanted = std::ceil(kReliableSeconds * stream.rate_hz);
  const double affordable = kReliableBytes / std::max(stream.max_size, 1U);
  return static_cast<int32_t>(std::max(kReliableLeast, std::min(wanted, affordable)));
}

Duration_t milliseconds(uint32_t count) {
  return {static_cast<int32_t>(count / 1000), count % 1000 * 1000000};
}

template <typename Qos>
void keep_last(Qos& qos, int32_t depth) {
  qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = depth;
}

template <typename Qos>
void apply_history(const Settings& settings, const comseclab_stream& stream, Qos& qos) {
  if (settings.history_depth) {
    keep_last(qos, static_cast<int32_t>(*settings.history_depth));
  } else if (!settings.qos_profile.empty()) {
    return;
  } else if (stream.reliable != 0) {
    qos.history().kind = dds::KEEP_ALL_HISTORY_QOS;
  } else {
    keep_last(qos, kBestEffortDepth);
  }
  const bool all = qos.history().kind == dds::KEEP_ALL_HISTORY_QOS;
  auto& limits = qos.resource_limits();
  limits.max_instances = 1;
  limits.max_samples = all ? reliable_samples(stream) : qos.history().depth;
  limits.max_samples_per_instance = limits.max_samples;
  const auto affordable = static_cast<int32_t>(kPreallocatedBytes / std::max(stream.max_size, 1U));
  limits.allocated_samples = std::clamp(affordable, 1, limits.max_samples);
}

// What the writer's and the reader's QoS have in common.
template <typename Qos>
void apply_endpoint(const Settings& settings, const comseclab_stream& stream, Qos& qos) {
  qos.reliability().kind = stream.reliable != 0 ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
  qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  qos.data_sharing().off();
  if (settings.qos_profile.empty()) qos.durability().kind = dds::VOLATILE_DURABILITY_QOS;
  apply_history(settings, stream, qos);
}

void apply_security(const Security& security, rtps::PropertySeq& properties) {
  const auto set = [&properties](const char* name, const std::string& value) { properties.emplace_back(name, value); };
  const auto file = [&set](const char* name, const std::string& path) { set(name, "file://" + path); };
  set("dds.sec.auth.plugin", "builtin.PKI-DH");
  file("dds.sec.auth.builtin.PKI-DH.identity_ca", security.identity_ca);
  file("dds.sec.auth.builtin.PKI-DH.identity_certificate", security.certificate);
  file("dds.sec.auth.builtin.PKI-DH.private_key", security.key);
  set("dds.sec.access.plugin", "builtin.Access-Permissions");
  file("dds.sec.access.builtin.Access-Permissions.permissions_ca", security.permissions_ca);
  file("dds.sec.access.builtin.Access-Permissions.governance", security.governance);
  file("dds.sec.access.builtin.Access-Permissions.permissions", security.permissions);
  set("dds.sec.crypto.plugin", "builtin.AES-GCM-GMAC");
}

}  // namespace

void apply(const Settings& settings, const char* node, dds::DomainParticipantQos& qos) {
  qos.name(node);
  // 50 announcements 200 ms apart: with the default five, discovery over a lossy link sometimes takes seconds.
  qos.wire_protocol().builtin.discovery_config.initial_announcements = {50, milliseconds(200)};
  if (qos.transport().user_transports.empty()) {
    auto udp = std::make_shared<UDPv4TransportDescriptor>();
    udp->maxMessageSize = settings.max_message_size;
    udp->sendBufferSize = settings.send_buffer;
    udp->receiveBufferSize = settings.receive_buffer;
    udp->interfaceWhiteList = settings.addresses;
    qos.transport().user_transports.push_back(std::move(udp));
    qos.transport().use_builtin_transports = false;
  }
  if (settings.security) apply_security(*settings.security, qos.properties().properties());
}

void apply(const Settings& settings, const comseclab_stream& stream, dds::DataWriterQos& qos) {
  apply_endpoint(settings, stream, qos);
  if (settings.publish_mode || settings.qos_profile.empty()) {
    const bool asynchronous = settings.publish_mode == PublishMode::kAsynchronous;
    qos.publish_mode().kind = asynchronous ? dds::ASYNCHRONOUS_PUBLISH_MODE : dds::SYNCHRONOUS_PUBLISH_MODE;
  }
  if (settings.publish_timeout_ms || settings.qos_profile.empty()) {
    qos.reliability().max_blocking_time = milliseconds(settings.publish_timeout_ms.value_or(kPublishTimeoutMs));
  }
}

void apply(const Settings& settings, const comseclab_stream& stream, dds::DataReaderQos& qos) {
  apply_endpoint(settings, stream, qos);
}

}  // namespace comseclab::fastdds

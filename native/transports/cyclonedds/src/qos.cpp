#include "qos.hpp"

namespace comseclab::cyclonedds {
namespace {

constexpr int32_t kBestEffortDepth = 5;
constexpr uint32_t kPublishTimeoutMs = 100;

}  // namespace

Qos endpoint_qos(const Settings& settings, const comseclab_stream& stream) {
  Qos qos(dds_create_qos(), &dds_delete_qos);
  const bool reliable = stream.reliable != 0;
  const dds_duration_t wait = DDS_MSECS(static_cast<int64_t>(settings.publish_timeout_ms.value_or(kPublishTimeoutMs)));
  dds_qset_reliability(qos.get(), reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, wait);
  dds_qset_durability(qos.get(), DDS_DURABILITY_VOLATILE);
  if (settings.history_depth) {
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_LAST, static_cast<int32_t>(*settings.history_depth));
  } else if (reliable) {
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_ALL, 0);
  } else {
    dds_qset_history(qos.get(), DDS_HISTORY_KEEP_LAST, kBestEffortDepth);
  }
  return qos;
}

}  // namespace comseclab::cyclonedds

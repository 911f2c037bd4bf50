// The QoS of endpoints, like ROS 2's:
//
//   best effort  KEEP_LAST 5, volatile (rmw's sensor data)
//   reliable     KEEP_ALL, volatile: KEEP_LAST would let a new sample push out one that is not acknowledged yet, a loss
//                no reader hears of. publish() waits up to publish_timeout_ms (100) while the samples not acknowledged
//                exceed the configuration's Watermarks, then gives up.
//
// history_depth makes either KEEP_LAST of that depth.
#pragma once

#include <dds/dds.h>

#include <memory>

#include "comseclab/transport.h"
#include "settings.hpp"

namespace comseclab::cyclonedds {

using Qos = std::unique_ptr<dds_qos_t, decltype(&dds_delete_qos)>;

// For a writer and a reader alike.
Qos endpoint_qos(const Settings& settings, const comseclab_stream& stream);

}  // namespace comseclab::cyclonedds

// The QoS of participants and endpoints. Without a profile of the user's it resembles ROS 2's:
//
//   best effort  KEEP_LAST 5, volatile (rmw's sensor data)
//   reliable     KEEP_ALL, volatile: KEEP_LAST would let a new sample push out one that is not acknowledged yet, a
//                loss no reader hears of. publish() waits up to publish_timeout_ms (100) for room, then gives up. There
//                is room for 15 s at the stream's mean rate, within 256 MiB, at least 4 samples.
//
// history_depth makes either KEEP_LAST of that depth. A profile of the user's decides on everything but reliability (a
// factor of the plan), data sharing (off, as shared memory would bypass the link) and the memory policy.
#pragma once

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>

#include "comseclab/transport.h"
#include "settings.hpp"

namespace comseclab::fastdds {

// UDPv4 on the given interfaces alone (unless the profile brings transports), frequent announcements, security.
void apply(const Settings& settings, const char* node, eprosima::fastdds::dds::DomainParticipantQos& qos);
void apply(const Settings& settings, const comseclab_stream& stream, eprosima::fastdds::dds::DataWriterQos& qos);
void apply(const Settings& settings, const comseclab_stream& stream, eprosima::fastdds::dds::DataReaderQos& qos);

}  // namespace comseclab::fastdds

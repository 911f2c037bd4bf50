// The type that carries serialised bytes as they are. Cyclone DDS lets an application bring its own (de)serialiser, a
// "sertype" whose samples are "serdata", as ROS 2's rmw_cyclonedds does; ours copies once on each side.
#pragma once

#include <dds/ddsi/ddsi_serdata.h>
#include <dds/ddsi/ddsi_sertype.h>

#include <string>

#include "payload.hpp"

namespace comseclab::cyclonedds {

// A new type of one reference. Cyclone DDS frees it with the last topic.
ddsi_sertype* make_sertype(const std::string& name, dds::Form form);

// A sample to write: one copy of `view`. Throws std::bad_alloc.
ddsi_serdata* make_serdata(const ddsi_sertype* type, dds::View view);

// The bytes of a sample received, as long as it lives; no bytes where it is malformed.
dds::View bytes_of(const ddsi_serdata* sample);

}  // namespace comseclab::cyclonedds

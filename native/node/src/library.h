#pragma once

#include <string>

#include "comseclab/transport.h"

namespace comseclab {

/// Loads a transport library, for good. Throws Fatal when it is missing, is no transport, or is of another ABI.
const comseclab_transport_api& load_transport(const std::string& path);

}  // namespace comseclab

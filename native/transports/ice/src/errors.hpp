// Errors across the C interface: a status and one line of text.
#pragma once

#include <exception>
#include <string>

#include "comseclab/transport.h"

namespace comseclab::ice {

comseclab_status fail(comseclab_error* error, const std::string& text, comseclab_status status = COMSECLAB_FAILED);

// What went wrong in one line, without the place in Ice's source.
std::string one_line(const std::exception& exception);

}  // namespace comseclab::ice

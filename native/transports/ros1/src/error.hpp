// Errors across the C interface: a status and one line of text.
#pragma once

#include <cstdio>
#include <string>

#include "comseclab/transport.h"

namespace comseclab::ros1 {

inline comseclab_status fail(comseclab_error* error, const std::string& text,
                             comseclab_status status = COMSECLAB_FAILED) {
  if (error != nullptr) std::snprintf(error->text, sizeof error->text, "%s", text.c_str());
  return status;
}

}  // namespace comseclab::ros1

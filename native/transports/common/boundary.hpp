// What every C++ transport does at the C interface: errors as a status and one line of text, and no exception across
// it.
#pragma once

#include <cstdio>
#include <exception>
#include <string>

#include "comseclab/transport.h"

namespace comseclab {

inline comseclab_status fail(comseclab_error* error, const std::string& text,
                             comseclab_status status = COMSECLAB_FAILED) {
  if (error != nullptr) std::snprintf(error->text, sizeof error->text, "%s", text.c_str());
  return status;
}

// Runs `work`; turns an exception into a status and what `describe` says of it.
template <typename Work, typename Describe>
comseclab_status guarded(comseclab_error* error, Work work, Describe describe) noexcept {
  try {
    work();
    return COMSECLAB_OK;
  } catch (const std::exception& exception) {
    return fail(error, describe(exception));
  } catch (...) {
    return fail(error, "the middleware threw something unknown");
  }
}

template <typename Work>
comseclab_status guarded(comseclab_error* error, Work work) noexcept {
  return guarded(error, work, [](const std::exception& exception) { return exception.what(); });
}

}  // namespace comseclab

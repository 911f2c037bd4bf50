// What Ice throws, in words.
#pragma once

#include <exception>
#include <string>

namespace comseclab::ice {

// What went wrong in one line, without the place in Ice's source.
std::string one_line(const std::exception& exception);

}  // namespace comseclab::ice

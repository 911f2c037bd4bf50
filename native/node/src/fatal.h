#pragma once

#include <stdexcept>
#include <string>

namespace comseclab {

/// Wrong input or environment: becomes the node's one `fatal` line, naming cause and remedy, and exit code 2.
class Fatal : public std::runtime_error {
 public:
  Fatal(const std::string& cause, const std::string& remedy) : std::runtime_error(cause + " (" + remedy + ")") {}
};

}  // namespace comseclab

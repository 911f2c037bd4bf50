#include "errors.hpp"

#include <Ice/Exception.h>

#include <sstream>

namespace comseclab::ice {

std::string one_line(const std::exception& exception) {
  std::istringstream lines(exception.what());
  std::string first;
  std::getline(lines, first);
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (!rest.empty()) rest += rest.back() == ':' ? " " : "; ";
    rest += line;
  }
  // Ice's first line is the place in its source and the exception's name: needed only where nothing more is said.
  if (dynamic_cast<const Ice::Exception*>(&exception) == nullptr) return rest.empty() ? first : first + "; " + rest;
  return rest.empty() ? first : rest;
}

}  // namespace comseclab::ice

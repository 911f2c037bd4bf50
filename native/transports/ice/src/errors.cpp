#include "errors.hpp"

#include <Ice/Exception.h>

#include <cstdio>
#include <sstream>

namespace comseclab::ice {

comseclab_status fail(comseclab_error* error, const std::string& text, comseclab_status status) {
  if (error != nullptr) std::snprintf(error->text, sizeof error->text, "%s", text.c_str());
  return status;
}

std::string one_line(const std::exception& exception) {
  std::string text = exception.what();
  // Ice begins with "File.cpp:123: ", and goes on over several lines.
  if (dynamic_cast<const Ice::Exception*>(&exception) != nullptr) {
    if (const auto place = text.find(": "); place != std::string::npos) text.erase(0, place + 2);
  }
  std::istringstream lines(text);
  std::string joined;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (!joined.empty()) joined += joined.back() == ':' ? " " : "; ";
    joined += line;
  }
  return joined;
}

}  // namespace comseclab::ice

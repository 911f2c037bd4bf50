// One node's Ice run time: its properties come from the settings alone.
#pragma once

#include <Ice/Communicator.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "settings.hpp"

namespace comseclab::ice {

// The version in the file name of the library that was loaded; Ice has no call for it.
const char* loaded_version();

// Throws Ice::Exception, for instance where a certificate cannot be used.
std::shared_ptr<Ice::Communicator> make_communicator(const Settings& settings);

// "tcp -h ADDRESS" or "ssl -h ADDRESS"; with a port above 0 also " -p PORT".
std::string endpoint(const Settings& settings, const std::string& address, uint16_t port);

// What a connection is: its far end, and where it is TLS its cipher suite, version and the peer's certificate.
nlohmann::json describe(const Ice::ConnectionPtr& connection);

}  // namespace comseclab::ice

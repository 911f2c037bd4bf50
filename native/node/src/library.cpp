#include "library.h"

#include <dlfcn.h>

#include "fatal.h"

namespace comseclab {
namespace {

using Entry = decltype(&comseclab_transport_entry);

void check(const comseclab_transport_api* api, const std::string& path) {
  const std::string rebuild = "build it with this version's comseclab/transport.h";
  if (api == nullptr) throw Fatal("transport " + path + " gave no interface", rebuild);
  if (api->abi_version != COMSECLAB_TRANSPORT_ABI) {
    throw Fatal("transport " + path + " has ABI version " + std::to_string(api->abi_version) + ", this node has " +
                    std::to_string(COMSECLAB_TRANSPORT_ABI),
                rebuild);
  }
  if (api->struct_size < sizeof(comseclab_transport_api)) {
    throw Fatal("transport " + path + " has an interface of " + std::to_string(api->struct_size) + " bytes, expected " +
                    std::to_string(sizeof(comseclab_transport_api)),
                rebuild);
  }
  const bool complete = api->name != nullptr && api->version != nullptr && api->limits != nullptr &&
                        api->open != nullptr && api->advertise != nullptr && api->subscribe != nullptr &&
                        api->publish != nullptr && api->statistics != nullptr && api->close != nullptr;
  if (!complete) throw Fatal("transport " + path + " lacks a function", "give every function of the interface");
}

}  // namespace

const comseclab_transport_api& load_transport(const std::string& path) {
  // RTLD_LOCAL: middlewares in one process must not see each other's symbols.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Fatal(std::string("cannot load transport: ") + dlerror(), "build it, or install its middleware");
  }
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "comseclab_transport_entry"));
  if (entry == nullptr)
    throw Fatal(path + " is no transport: it lacks comseclab_transport_entry", "name another library");
  const comseclab_transport_api* api = entry();
  check(api, path);
  return *api;
}

}  // namespace comseclab

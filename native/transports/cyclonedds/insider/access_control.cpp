// Access control for the laboratory's own rogue nodes: the genuine plugin, but what this node itself creates is always
// granted. Governance, the permissions that peers are sent, and what peers may do stay the genuine plugin's. A node
// with the genuine plugin refuses itself what its permissions lack, so that nobody else is ever asked.
#include <dds/security/dds_security_api_access_control.h>

extern "C" {
// Of libdds_security_ac (no header declares them; the types are plugin_init and plugin_finalize of dds_security_api.h).
int init_access_control(const char* argument, void** context, struct ddsi_domaingv* gv);
int finalize_access_control(void* context);

__attribute__((visibility("default"))) int comseclab_init_insider(const char* argument, void** context,
                                                                  struct ddsi_domaingv* gv);
__attribute__((visibility("default"))) int comseclab_finalize_insider(void* context);
}

namespace {

// The specification's checks of local entities differ in their arguments alone.
template <typename... Arguments>
DDS_Security_boolean grant(Arguments... /*arguments*/) {
  return true;
}

}  // namespace

int comseclab_init_insider(const char* argument, void** context, struct ddsi_domaingv* gv) {
  const int result = init_access_control(argument, context, gv);
  if (result != 0) return result;
  auto* plugin = static_cast<dds_security_access_control*>(*context);
  plugin->check_create_participant = grant;
  plugin->check_create_topic = grant;
  plugin->check_create_datawriter = grant;
  plugin->check_create_datareader = grant;
  return 0;
}

int comseclab_finalize_insider(void* context) {
  return finalize_access_control(context);
}

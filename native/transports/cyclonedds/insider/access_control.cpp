// Access control for the laboratory's own rogue nodes: the genuine plugin, but what this node itself creates is always
// granted, and peers are shown the permissions in the file NAME.shown beside its own, NAME. Governance and what peers
// may do stay the genuine plugin's. With that one a node would refuse itself what its permissions lack, or refuse
// permissions that others might take, so that nobody else is ever asked. It works in the laboratory's testbeds only.
#include <arpa/inet.h>
#include <dds/ddsrt/heap.h>
#include <dds/ddsrt/log.h>
#include <dds/ddsrt/string.h>
#include <dds/security/dds_security_api_access_control.h>
#include <ifaddrs.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

extern "C" {
// Of libdds_security_ac (no header declares them; the types are plugin_init and plugin_finalize of dds_security_api.h).
int init_access_control(const char* argument, void** context, struct ddsi_domaingv* gv);
int finalize_access_control(void* context);

__attribute__((visibility("default"))) int comseclab_init_insider(const char* argument, void** context,
                                                                  struct ddsi_domaingv* gv);
__attribute__((visibility("default"))) int comseclab_finalize_insider(void* context);
}

namespace {

constexpr in_addr_t kTestbed = 0x0A4D0000;  // 10.77.0.0/24, as testbed/network.py has it; a testbed has no IPv6
constexpr in_addr_t kTestbedMask = 0xFFFFFF00;

dds_security_access_control genuine;
std::string shown;

// Whether this process could reach a testbed's hosts at most: every address of its network namespace is a testbed's or
// the loopback's.
bool is_in_testbed() {
  ifaddrs* addresses = nullptr;
  if (getifaddrs(&addresses) != 0) return false;
  bool inside = true;
  for (const ifaddrs* one = addresses; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr) continue;
    if (one->ifa_addr->sa_family == AF_INET6) {
      const auto& address = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
      inside = inside && IN6_IS_ADDR_LOOPBACK(&address);
    } else if (one->ifa_addr->sa_family == AF_INET) {
      const in_addr_t address = ntohl(reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr.s_addr);
      inside = inside && (address >> 24 == IN_LOOPBACKNET || (address & kTestbedMask) == kTestbed);
    }
  }
  freeifaddrs(addresses);
  return inside;
}

// The value of a property (DDS Security 1.1, 9.3.1 and 9.4.1: documents, and what a handshake carries), or null.
DDS_Security_string* find(const DDS_Security_PropertySeq& properties, const char* name) {
  for (DDS_Security_unsigned_long i = 0; i < properties._length; ++i) {
    if (std::strcmp(properties._buffer[i].name, name) == 0) return &properties._buffer[i].value;
  }
  return nullptr;
}

// The specification's checks of local entities differ in their arguments alone.
template <typename... Arguments>
DDS_Security_boolean grant(Arguments... /*arguments*/) {
  return true;
}

DDS_Security_PermissionsHandle validate_local_permissions(dds_security_access_control* instance,
                                                          const dds_security_authentication* auth_plugin,
                                                          const DDS_Security_IdentityHandle identity,
                                                          const DDS_Security_DomainId domain_id,
                                                          const DDS_Security_Qos* participant_qos,
                                                          DDS_Security_SecurityException* ex) {
  const auto* own = find(participant_qos->property.value, "dds.sec.access.permissions");
  const std::string path = own != nullptr ? *own : "";
  std::ifstream file(path.substr(path.find(':') + 1) + ".shown");
  shown.assign(std::istreambuf_iterator<char>(file), {});
  if (shown.empty()) {
    ex->code = 1;
    ex->message = ddsrt_strdup("there is no file of the permissions to be shown to peers");
    return DDS_SECURITY_HANDLE_NIL;
  }
  return genuine.validate_local_permissions(instance, auth_plugin, identity, domain_id, participant_qos, ex);
}

DDS_Security_boolean get_permissions_credential_token(dds_security_access_control* instance,
                                                      DDS_Security_PermissionsCredentialToken* token,
                                                      const DDS_Security_PermissionsHandle handle,
                                                      DDS_Security_SecurityException* ex) {
  if (!genuine.get_permissions_credential_token(instance, token, handle, ex)) return false;
  if (auto* document = find(token->properties, "dds.perm.cert")) {
    ddsrt_free(*document);
    *document = ddsrt_strdup(shown.c_str());
  }
  return true;
}

}  // namespace

int comseclab_init_insider(const char* argument, void** context, struct ddsi_domaingv* gv) {
  if (!is_in_testbed()) {
    dds_log(DDS_LC_ERROR, __FILE__, __LINE__, __func__, "insiders work in a testbed of the laboratory only\n");
    return 1;
  }
  const int result = init_access_control(argument, context, gv);
  if (result != 0) return result;
  auto* plugin = static_cast<dds_security_access_control*>(*context);
  genuine = *plugin;
  plugin->check_create_participant = grant;
  plugin->check_create_topic = grant;
  plugin->check_create_datawriter = grant;
  plugin->check_create_datareader = grant;
  plugin->validate_local_permissions = validate_local_permissions;
  plugin->get_permissions_credential_token = get_permissions_credential_token;
  return 0;
}

int comseclab_finalize_insider(void* context) {
  return finalize_access_control(context);
}

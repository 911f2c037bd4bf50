#include "communicator.hpp"

#include <Ice/Connection.h>
#include <Ice/Initialize.h>
#include <Ice/Properties.h>
#include <IceSSL/IceSSL.h>
#include <dlfcn.h>

#include <filesystem>

namespace comseclab::ice {
namespace {

// No time-out of Ice's own may end a connection while a slow link is at work; the laboratory decides when it is over.
constexpr const char* kOff = "0";
// A connection that cannot be closed in order, since its far end does not read, is cut.
constexpr const char* kCloseTimeoutMs = "1000";

// TLS 1.3 has suites of its own, and in OpenSSL's naming only they begin like this (RFC 8446, appendix B.4).
const char* version_of(const std::string& cipher) {
  return cipher.starts_with("TLS_") ? "TLS 1.3" : "TLS 1.2";
}

std::string find_version() {
  const auto function = static_cast<Ice::PropertiesPtr (*)()>(&Ice::createProperties);
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(function), &info) == 0) return ICE_STRING_VERSION;
  const std::string file = std::filesystem::canonical(info.dli_fname).filename();
  const auto suffix = file.find(".so.");
  return suffix == std::string::npos ? ICE_STRING_VERSION : file.substr(suffix + 4);
}

}  // namespace

const char* loaded_version() {
  static const std::string version = find_version();
  return version.c_str();
}

std::shared_ptr<Ice::Communicator> make_communicator(const Settings& settings) {
  Ice::InitializationData data;
  data.properties = Ice::createProperties();  // without arguments it reads neither files nor the environment
  const auto set = [&](const char* name, const std::string& value) { data.properties->setProperty(name, value); };
  set("Ice.MessageSizeMax", std::to_string(settings.message_size_max_kb));
  set("Ice.ACM.Close", kOff);
  set("Ice.ACM.Heartbeat", kOff);
  set("Ice.Override.CloseTimeout", kCloseTimeoutMs);
  set("Ice.Warn.Connections", "1");
  if (settings.tls) {
    set("Ice.Plugin.IceSSL", "IceSSL:createIceSSL");
    set("IceSSL.CAs", settings.tls->identity_ca);
    set("IceSSL.CertFile", settings.tls->certificate);
    set("IceSSL.KeyFile", settings.tls->key);
    set("IceSSL.VerifyPeer", "2");
    set("IceSSL.CheckCertName", settings.tls->check_address ? "1" : "0");
    set("IceSSL.Protocols", "TLS1_2,TLS1_3");
  }
  return Ice::initialize(data);
}

std::string endpoint(const Settings& settings, const std::string& address, uint16_t port) {
  const std::string text = (settings.tls ? "ssl -h " : "tcp -h ") + address;
  return port == 0 ? text : text + " -p " + std::to_string(port);
}

nlohmann::json describe(const Ice::ConnectionPtr& connection) {
  const auto info = connection->getInfo();
  nlohmann::json described = {{"incoming", info->incoming}};
  if (const auto ssl = std::dynamic_pointer_cast<IceSSL::ConnectionInfo>(info)) {
    described["cipher"] = ssl->cipher;
    described["version"] = version_of(ssl->cipher);
    described["verified"] = ssl->verified;
    if (!ssl->certs.empty()) described["peer"] = std::string(ssl->certs.front()->getSubjectDN());
  }
  const auto& underlying = info->underlying ? info->underlying : info;
  if (const auto tcp = std::dynamic_pointer_cast<Ice::TCPConnectionInfo>(underlying)) {
    described["remote"] = tcp->remoteAddress + ":" + std::to_string(tcp->remotePort);
    described["send_buffer"] = tcp->sndSize;
    described["receive_buffer"] = tcp->rcvSize;
  }
  return described;
}

}  // namespace comseclab::ice

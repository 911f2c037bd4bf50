// The example transport with a protection that holds what it claims, or does not: for tests of the verdicts.
//
// Setting "sealed", with "key" (64 hexadecimal digits): every message is AES-256-GCM, a random nonce and the tag before
// it; what does not open is not delivered. Setting "defect": "accepts" delivers what does not open as it came, "drops"
// delivers nothing, "leaks" sends each message a second time in clear, which no reader of its own takes.

#include <comseclab/transport.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#define comseclab_transport_entry example_entry
#include "../../../native/example-transport/udp_transport.cpp"
#undef comseclab_transport_entry

namespace {

constexpr size_t kNonce = 12;
constexpr size_t kTag = 16;
constexpr size_t kOverhead = kNonce + kTag;

struct Seal {
  bool on = false;
  std::vector<uint8_t> key;
  std::string defect;
};
Seal seal;  // of this process, which opens one transport

using Cipher = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

std::vector<uint8_t> sealed(const uint8_t* bytes, size_t size) {
  std::vector<uint8_t> out(kOverhead + size);
  RAND_bytes(out.data(), kNonce);
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int length = 0;
  EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, seal.key.data(), out.data());
  EVP_EncryptUpdate(cipher.get(), out.data() + kOverhead, &length, bytes, static_cast<int>(size));
  EVP_EncryptFinal_ex(cipher.get(), out.data() + kOverhead + length, &length);
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, kTag, out.data() + kNonce);
  return out;
}

/// Empty when it does not open.
std::vector<uint8_t> opened(const uint8_t* bytes, size_t size) {
  if (size <= kOverhead) return {};
  std::vector<uint8_t> out(size - kOverhead);
  const Cipher cipher(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  int length = 0;
  EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, seal.key.data(), bytes);
  EVP_DecryptUpdate(cipher.get(), out.data(), &length, bytes + kOverhead, static_cast<int>(out.size()));
  EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, kTag, const_cast<uint8_t*>(bytes) + kNonce);
  if (EVP_DecryptFinal_ex(cipher.get(), out.data() + length, &length) != 1) return {};
  return out;
}

struct Delivery {
  comseclab_on_message on_message;
  void* context;
};

void deliver(void* context, const uint8_t* bytes, size_t size, const comseclab_sender* sender) {
  const auto& to = *static_cast<const Delivery*>(context);
  if (seal.defect == "drops") return;
  if (const auto content = seal.on ? opened(bytes, size) : std::vector<uint8_t>{}; !content.empty()) {
    to.on_message(to.context, content.data(), content.size(), sender);
  } else if (!seal.on || seal.defect == "accepts") {
    to.on_message(to.context, bytes, size, sender);
  }
}

comseclab_status open_sealed(const comseclab_open* request, comseclab_transport** out, comseclab_error* error) {
  const auto settings = nlohmann::json::parse(request->settings);
  seal.on = settings.value("sealed", false);
  seal.defect = settings.value("defect", "");
  const auto key = settings.value("key", "");
  for (size_t at = 0; at + 1 < key.size(); at += 2) {
    seal.key.push_back(static_cast<uint8_t>(std::stoi(key.substr(at, 2), nullptr, 16)));
  }
  if (seal.on && seal.key.size() != 32) return fail(error, "sealed needs a key of 64 hexadecimal digits");
  return open_transport(request, out, error);
}

comseclab_status subscribe_sealed(comseclab_transport* transport, const comseclab_stream* stream,
                                  comseclab_on_message on_message, void* context, comseclab_reader** out,
                                  comseclab_error* error) {
  static std::vector<std::unique_ptr<Delivery>> deliveries;
  deliveries.push_back(std::make_unique<Delivery>(Delivery{on_message, context}));
  return subscribe(transport, stream, deliver, deliveries.back().get(), out, error);
}

comseclab_status publish_sealed(comseclab_writer* writer, const uint8_t* bytes, size_t size, comseclab_error* error) {
  if (!seal.on) return publish(writer, bytes, size, error);
  if (seal.defect == "leaks") {
    if (const auto status = publish(writer, bytes, size, error); status != COMSECLAB_OK) return status;
  }
  const auto content = sealed(bytes, size);
  return publish(writer, content.data(), content.size(), error);
}

}  // namespace

const comseclab_transport_api* comseclab_transport_entry(void) {
  static const comseclab_transport_api api = [] {
    auto changed = *example_entry();
    changed.name = "claims";
    changed.open = open_sealed;
    changed.subscribe = subscribe_sealed;
    changed.publish = publish_sealed;
    return changed;
  }();
  return &api;
}

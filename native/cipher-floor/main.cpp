// comseclab-cipher-floor --sizes 64,9000,921600 --cipher aes-256-gcm --seconds 0.2
//
// Median time to seal and to open one message with OpenSSL, as a middleware does it: the cipher is initialised anew for
// each message, with a fresh nonce and the same key. Ciphers: the AEADs OpenSSL's EVP interface knows by name.

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Steady = std::chrono::steady_clock;
using Bytes = std::vector<unsigned char>;

constexpr int kTagBytes = 16;
constexpr int kNonceBytes = 12;
constexpr size_t kLargestMessage = 1U << 30U;
constexpr int kWrongInput = 2;
const char* const kUsage = "usage: comseclab-cipher-floor --sizes 64,9000 --cipher aes-256-gcm --seconds 0.2";

struct Options {
  std::vector<size_t> sizes;
  std::string cipher;
  double seconds;
};

template <typename Number>
Number parse(const std::string& text, Number least, Number most) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !(number >= least && number <= most)) {
    throw std::invalid_argument("'" + text + "' is not a number in range");
  }
  return number;
}

Options parse(int count, char** arguments) {
  std::map<std::string, std::string> given;
  for (int i = 1; i + 1 < count; i += 2) given[arguments[i]] = arguments[i + 1];
  if (count != 7 || !given.contains("--sizes") || !given.contains("--cipher") || !given.contains("--seconds")) {
    throw std::invalid_argument(kUsage);
  }
  Options options{{}, given["--cipher"], parse(given["--seconds"], 0.001, 3600.0)};
  std::istringstream sizes(given["--sizes"]);
  for (std::string size; std::getline(sizes, size, ',');) {
    options.sizes.push_back(parse<size_t>(size, 1, kLargestMessage));
  }
  if (options.sizes.empty()) throw std::invalid_argument("no sizes");
  return options;
}

void require(int result) {
  if (result == 1) return;
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  throw std::runtime_error(std::string("OpenSSL: ") + text.data());
}

/// One key, and messages sealed and opened with it.
class Cipher {
 public:
  explicit Cipher(const std::string& name)
      : cipher_(EVP_CIPHER_fetch(nullptr, name.c_str(), nullptr), EVP_CIPHER_free),
        context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
    if (cipher_ == nullptr) throw std::invalid_argument("OpenSSL has no cipher '" + name + "'");
    const bool stream = EVP_CIPHER_get_mode(cipher_.get()) == EVP_CIPH_GCM_MODE || name == "chacha20-poly1305";
    if (!stream) throw std::invalid_argument("cipher '" + name + "' is neither GCM nor chacha20-poly1305");
    key_.assign(static_cast<size_t>(EVP_CIPHER_get_key_length(cipher_.get())), 0x5a);
  }

  void seal(const Bytes& clear, Bytes& sealed) {
    for (size_t i = 0; i < nonce_.size() && ++nonce_[i] == 0; ++i) {
    }
    int length = 0;
    require(EVP_EncryptInit_ex2(context_.get(), cipher_.get(), key_.data(), nonce_.data(), nullptr));
    require(EVP_EncryptUpdate(context_.get(), sealed.data(), &length, clear.data(), static_cast<int>(clear.size())));
    require(EVP_EncryptFinal_ex(context_.get(), sealed.data() + length, &length));
    require(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag_.data()));
  }

  void open(const Bytes& sealed, Bytes& clear) {
    int length = 0;
    require(EVP_DecryptInit_ex2(context_.get(), cipher_.get(), key_.data(), nonce_.data(), nullptr));
    require(EVP_DecryptUpdate(context_.get(), clear.data(), &length, sealed.data(), static_cast<int>(sealed.size())));
    require(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag_.data()));
    require(EVP_DecryptFinal_ex(context_.get(), clear.data() + length, &length));
  }

 private:
  std::unique_ptr<EVP_CIPHER, void (*)(EVP_CIPHER*)> cipher_;
  std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context_;
  Bytes key_;
  std::array<unsigned char, kNonceBytes> nonce_{};
  std::array<unsigned char, kTagBytes> tag_{};
};

double elapsed_ns(Steady::time_point since) {
  return static_cast<double>(std::chrono::nanoseconds(Steady::now() - since).count());
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

nlohmann::json measure(Cipher& cipher, size_t size, double seconds) {
  Bytes clear(size, 0x17);
  Bytes sealed(size);
  Bytes opened(size);
  cipher.seal(clear, sealed);  // warm
  cipher.open(sealed, opened);
  if (opened != clear) throw std::runtime_error("a message did not come back as it was");
  std::vector<double> seal_ns;
  std::vector<double> open_ns;
  const auto began = Steady::now();
  do {
    auto before = Steady::now();
    cipher.seal(clear, sealed);
    seal_ns.push_back(elapsed_ns(before));
    before = Steady::now();
    cipher.open(sealed, opened);
    open_ns.push_back(elapsed_ns(before));
  } while (elapsed_ns(began) < seconds * 1e9);
  return {{"seal_ns", median(seal_ns)}, {"open_ns", median(open_ns)}, {"messages", seal_ns.size()}};
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = parse(count, arguments);
    Cipher cipher(options.cipher);
    nlohmann::json sizes = nlohmann::json::object();
    for (const size_t size : options.sizes) sizes[std::to_string(size)] = measure(cipher, size, options.seconds);
    std::cout << nlohmann::json{{"cipher", options.cipher},
                                {"openssl", OpenSSL_version(OPENSSL_VERSION)},
                                {"sizes", sizes}}
              << '\n';
    return EXIT_SUCCESS;
  } catch (const std::exception& problem) {
    std::cerr << "comseclab-cipher-floor: " << problem.what() << '\n';
    return kWrongInput;
  }
}

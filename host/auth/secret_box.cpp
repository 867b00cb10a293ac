#include "host/auth/secret_box.hpp"

#include <memory>
#include <stdexcept>
#include <sys/random.h>

#include <openssl/evp.h>

#include "lib/base/atomic_file.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/crypto/openssl_pointer.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::auth {
namespace {

constexpr std::size_t key_bytes = 32, nonce_bytes = 12, tag_bytes = 16;

std::string random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (::getrandom(bytes.data(), count, 0) != static_cast<ssize_t>(count))
    throw std::runtime_error("the kernel gave no random bytes");
  return bytes;
}

unsigned char* raw(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}
const unsigned char* raw(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

using Cipher = OpensslPointer<EVP_CIPHER_CTX, EVP_CIPHER_CTX_free>;

void need(bool done) {
  if (!done) throw std::runtime_error("OpenSSL refused AES-256-GCM");
}

Error unreadable() {
  return Error::internal("a secret cannot be decrypted: it was encrypted with another secrets.key");
}

}  // namespace

Result<SecretBox> SecretBox::open(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    Secret key(random_bytes(key_bytes));
    const auto written = write_file_atomically(file, hawk::base64(key.reveal()) + "\n", 0600);
    if (!written) return written.error();
    return SecretBox(std::move(key));
  }
  const auto text = read_secret_file(file, "the key of the secrets");
  if (!text) return text.error();
  auto key = hawk::from_base64(text->reveal());
  if (!key || key->size() != key_bytes)
    return Error::config(file.string() + " holds no key of 32 bytes in base64");
  return SecretBox(Secret(std::move(*key)));
}

Secret SecretBox::derive(std::string_view name) const {
  Sha256 mac{};
  std::size_t size = 0;
  const std::string_view key = key_.reveal();
  need(EVP_Q_mac(nullptr, "HMAC", nullptr, "SHA256", nullptr, key.data(), key.size(), raw(name),
                 name.size(), mac.data(), mac.size(), &size) != nullptr);
  return Secret(to_hex(mac));
}

std::string SecretBox::seal(const Secret& secret, std::string_view about) const {
  const std::string nonce = random_bytes(nonce_bytes);
  std::string text(secret.reveal().size(), '\0'), tag(tag_bytes, '\0');
  int length = 0;
  const Cipher cipher(EVP_CIPHER_CTX_new());
  need(EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr,
                          raw(std::string_view(key_.reveal())), raw(std::string_view(nonce))) == 1);
  need(EVP_EncryptUpdate(cipher.get(), nullptr, &length, raw(about),
                         static_cast<int>(about.size())) == 1);
  need(EVP_EncryptUpdate(cipher.get(), raw(text), &length, raw(std::string_view(secret.reveal())),
                         static_cast<int>(text.size())) == 1);
  need(EVP_EncryptFinal_ex(cipher.get(), raw(text) + length, &length) == 1);
  need(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, tag.data()) == 1);
  return hawk::base64(nonce + tag + text);
}

Result<Secret> SecretBox::unseal(std::string_view sealed, std::string_view about) const {
  const auto bytes = hawk::from_base64(sealed);
  if (!bytes || bytes->size() < nonce_bytes + tag_bytes) return unreadable();
  const std::string_view nonce(bytes->data(), nonce_bytes);
  std::string tag = bytes->substr(nonce_bytes, tag_bytes);
  const std::string_view hidden = std::string_view(*bytes).substr(nonce_bytes + tag_bytes);
  std::string text(hidden.size(), '\0');
  int length = 0;
  const Cipher cipher(EVP_CIPHER_CTX_new());
  need(EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr,
                          raw(std::string_view(key_.reveal())), raw(nonce)) == 1);
  need(EVP_DecryptUpdate(cipher.get(), nullptr, &length, raw(about),
                         static_cast<int>(about.size())) == 1);
  need(EVP_DecryptUpdate(cipher.get(), raw(text), &length, raw(hidden),
                         static_cast<int>(hidden.size())) == 1);
  need(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) == 1);
  if (EVP_DecryptFinal_ex(cipher.get(), raw(text) + length, &length) != 1) return unreadable();
  return Secret(std::move(text));
}

}  // namespace muster::auth

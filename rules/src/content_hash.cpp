#include <array>

#include <openssl/evp.h>

#include <muster/rules/content_hash.hpp>

namespace muster::rules {

std::string sha256_hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("OpenSSL has no SHA-256");
  std::string text;
  text.reserve(2 * length);
  for (unsigned i = 0; i < length; ++i) (text += digits[digest[i] >> 4]) += digits[digest[i] & 15];
  return text;
}

std::string launch_config_id(std::string_view worker_pool_id, std::string_view provider_id,
                             const json::value& placement, const json::object& document) {
  json::object content = document;
  content.erase("workerManager");
  content.erase("workerConfig");
  const json::object hashed = {{"document", std::move(content)},
                               {"placement", placement},
                               {"pool", json::string(worker_pool_id)},
                               {"provider", json::string(provider_id)}};
  return "lc-" + sha256_hex(json::canonical(hashed)).substr(0, 20);
}

}  // namespace muster::rules

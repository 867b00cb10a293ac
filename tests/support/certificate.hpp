// A certificate that signs itself, for services of tests that speak TLS.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace muster::testing {

// Writes both files. `names` as OpenSSL has them: "IP:127.0.0.1" or "DNS:fleet.example".
inline void write_certificate(const std::filesystem::path& certificate_file,
                              const std::filesystem::path& key_file, const char* names) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -60);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 3600);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME* const name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("a test"), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> alternative(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names), X509_EXTENSION_free);
  X509_add_ext(made.get(), alternative.get(), -1);
  if (X509_sign(made.get(), key.get(), EVP_sha256()) == 0) throw std::runtime_error("X509_sign");
  const auto open = [](const std::filesystem::path& file) {
    return std::unique_ptr<std::FILE, decltype(&std::fclose)>(std::fopen(file.c_str(), "w"),
                                                              std::fclose);
  };
  PEM_write_X509(open(certificate_file).get(), made.get());
  PEM_write_PrivateKey(open(key_file).get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
}

}  // namespace muster::testing

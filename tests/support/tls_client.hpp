// As RawClient, by TLS, and trusting anybody: for tests of servers. Ten seconds for each step.
#pragma once

#include <memory>

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "tests/support/raw_client.hpp"

namespace muster::testing {

class TlsClient {
 public:
  static constexpr int version_1_1 = TLS1_1_VERSION, version_1_2 = TLS1_2_VERSION;

  // `version`: that one only; 0: any. Throws if the handshake fails.
  explicit TlsClient(std::uint16_t port, int version = 0)
      : socket_(port),
        context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free),
        tls_(nullptr, SSL_free) {
    if (version != 0) {
      SSL_CTX_set_security_level(context_.get(), 0);  // or it would not even ask
      SSL_CTX_set_min_proto_version(context_.get(), version);
      SSL_CTX_set_max_proto_version(context_.get(), version);
    }
    const timeval patience{10, 0};
    ::setsockopt(socket_.descriptor(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_.descriptor(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    tls_.reset(SSL_new(context_.get()));
    SSL_set_fd(tls_.get(), socket_.descriptor());
    if (SSL_connect(tls_.get()) != 1) throw std::runtime_error("no handshake");
  }

  bool send(std::string_view bytes) {
    std::size_t sent = 0;
    return SSL_write_ex(tls_.get(), bytes.data(), bytes.size(), &sent) == 1;
  }
  std::string read_until(std::string_view text) {
    while (received_.find(text) == std::string::npos && read_some()) {
    }
    return received_;
  }
  std::string read_all() {
    while (read_some()) {
    }
    return received_;
  }
  void forget() { received_.clear(); }
  // Whether the peer said that it was the end.
  bool ended_well() const { return SSL_get_shutdown(tls_.get()) & SSL_RECEIVED_SHUTDOWN; }
  // What the server showed, in some form that tells certificates apart.
  std::string certificate() const {
    const std::unique_ptr<X509, decltype(&X509_free)> shown(SSL_get1_peer_certificate(tls_.get()),
                                                            X509_free);
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    X509_digest(shown.get(), EVP_sha256(), digest, &size);
    return {reinterpret_cast<const char*>(digest), size};
  }

 private:
  bool read_some() {
    char part[4096];
    std::size_t got = 0;
    if (SSL_read_ex(tls_.get(), part, sizeof part, &got) != 1) return false;
    received_.append(part, got);
    return true;
  }

  RawClient socket_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> tls_;
  std::string received_;
};

}  // namespace muster::testing

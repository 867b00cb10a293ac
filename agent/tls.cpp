#include "agent/tls.hpp"

#include <arpa/inet.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace muster::agent {
namespace {

std::string last_error() {
  const unsigned long code = ::ERR_get_error();
  ::ERR_clear_error();
  if (code == 0) return "the connection was closed";
  char text[256];
  ::ERR_error_string_n(code, text, sizeof text);
  return text;
}

bool is_address(const std::string& host) {
  in6_addr six{};
  in_addr four{};
  return ::inet_pton(AF_INET, host.c_str(), &four) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &six) == 1;
}

}  // namespace

Result<std::shared_ptr<TlsContext>> TlsContext::make(const std::string& ca_file) {
  ssl_ctx_st* const made = ::SSL_CTX_new(::TLS_client_method());
  if (!made) return Error::internal("OpenSSL: " + last_error());
  auto context = std::make_shared<TlsContext>(made);
  ::SSL_CTX_set_min_proto_version(made, TLS1_2_VERSION);
  ::SSL_CTX_set_verify(made, SSL_VERIFY_PEER, nullptr);
  ::SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                               SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ::SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  if (!ca_file.empty() && ::SSL_CTX_load_verify_file(made, ca_file.c_str()) != 1)
    return Error::config("caFile: " + ca_file +
                         " holds no certificate that can be read: " + last_error());
  if (ca_file.empty()) ::SSL_CTX_set_default_verify_paths(made);
  ::ERR_clear_error();
  return context;
}

TlsContext::~TlsContext() {
  ::SSL_CTX_free(context_);
}

TlsConnection::TlsConnection(std::shared_ptr<TlsContext> context, int socket,
                             const std::string& host)
    : context_(std::move(context)), tls_(::SSL_new(context_->get())) {
  ::SSL_set_fd(tls_, socket);
  ::SSL_set_connect_state(tls_);
  if (is_address(host)) {
    ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(tls_), host.c_str());
  } else {
    ::SSL_set_hostflags(tls_, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    ::SSL_set1_host(tls_, host.c_str());
    // What SSL_set_tlsext_host_name is a macro for, with casts that compile here.
    ::SSL_ctrl(tls_, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(host.c_str()));
  }
}

TlsConnection::~TlsConnection() {
  ::SSL_free(tls_);
}

Error TlsConnection::failure(const std::string& what, int) const {
  const long verified = ::SSL_get_verify_result(tls_);
  if (verified != X509_V_OK) {
    ::ERR_clear_error();
    return Error::transient(std::string("the server's certificate is not trusted: ") +
                            ::X509_verify_cert_error_string(verified));
  }
  return Error::transient(what + ": " + last_error());
}

Result<bool> TlsConnection::handshake(Want& want) {
  ::ERR_clear_error();
  const int result = ::SSL_do_handshake(tls_);
  if (result == 1) return true;
  const int why = ::SSL_get_error(tls_, result);
  if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
    return failure("no TLS connection", why);
  want = why == SSL_ERROR_WANT_READ ? Want::read : Want::write;
  return false;
}

Result<std::size_t> TlsConnection::write(std::string_view bytes, Want& want) {
  ::ERR_clear_error();
  std::size_t written = 0;
  const int result = ::SSL_write_ex(tls_, bytes.data(), bytes.size(), &written);
  want = Want::write;
  if (result == 1) return written;
  const int why = ::SSL_get_error(tls_, result);
  if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE)
    return failure("the TLS connection broke", why);
  if (why == SSL_ERROR_WANT_READ) want = Want::read;
  return std::size_t{0};
}

Result<bool> TlsConnection::read(std::string& into, Want& want) {
  for (;;) {
    ::ERR_clear_error();
    char part[16 * 1024];
    std::size_t got = 0;
    const int result = ::SSL_read_ex(tls_, part, sizeof part, &got);
    if (result == 1) {
      into.append(part, got);
      continue;
    }
    const int why = ::SSL_get_error(tls_, result);
    if (why == SSL_ERROR_ZERO_RETURN) return false;
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) {
      want = why == SSL_ERROR_WANT_READ ? Want::read : Want::write;
      return true;
    }
    return failure("the TLS connection broke", why);
  }
}

}  // namespace muster::agent

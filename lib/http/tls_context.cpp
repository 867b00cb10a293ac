#include "lib/http/tls_context.hpp"

#include <cerrno>
#include <sys/socket.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "lib/base/atomic_file.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/crypto/openssl_pointer.hpp"

namespace muster::http {
namespace {

constexpr std::size_t largest_file = 1024 * 1024;

int descriptor(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool would_block(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

int write_socket(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t sent =
      ::send(descriptor(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (would_block(sent)) BIO_set_retry_write(bio);
  return static_cast<int>(sent);
}

int read_socket(BIO* bio, char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t got = ::recv(descriptor(bio), bytes, static_cast<std::size_t>(size), MSG_DONTWAIT);
  if (would_block(got)) BIO_set_retry_read(bio);
  return static_cast<int>(got);
}

long control(BIO*, int command, long, void*) {
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// The last thing that OpenSSL complained of.
std::string complaint() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* const reason = ERR_reason_error_string(code);
  return reason ? reason : "it is not in PEM form";
}

int no_passphrase(char*, int, int, void*) {
  return 0;
}

// Of what a client offers, HTTP/1.1; others are served without a word about it.
int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* length,
                    const unsigned char* offered, unsigned int offered_length, void*) {
  static constexpr unsigned char ours[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, length, ours, sizeof ours - 1, offered, offered_length) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

void set_options(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
  // Without its buffers an idle connection is some 30 KiB smaller.
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  static constexpr unsigned char name[] = "muster";
  SSL_CTX_set_session_id_context(context, name, sizeof name - 1);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
}

Result<void> use_key(SSL_CTX* context, const std::filesystem::path& file) {
  const auto text = read_secret_file(file, "the private key", SecretText::document);
  if (!text) return text.error();
  const OpensslPointer<BIO, BIO_free> bytes(
      BIO_new_mem_buf(text->reveal().data(), static_cast<int>(text->reveal().size())));
  const OpensslPointer<EVP_PKEY, EVP_PKEY_free> key(
      PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_passphrase, nullptr));
  if (!key)
    return Error::config("the private key in " + file.string() + " cannot be used: " + complaint() +
                         "; it must be a PEM file without a passphrase");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    return Error::config("the private key in " + file.string() +
                         " does not belong to the certificate: " + complaint());
  return {};
}

std::chrono::sys_seconds expiry_of(SSL_CTX* context) {
  tm parts{};
  ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context)), &parts);
  return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&parts)));
}

}  // namespace

Result<std::shared_ptr<const TlsContext>> TlsContext::load(const TlsFiles& files) {
  ERR_clear_error();
  const std::shared_ptr<TlsContext> made(new TlsContext());
  made->context_ = SSL_CTX_new(TLS_server_method());
  made->method_ = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "a socket");
  if (!made->context_ || !made->method_) return Error::internal("OpenSSL cannot be used");
  BIO_meth_set_write(made->method_, write_socket);
  BIO_meth_set_read(made->method_, read_socket);
  BIO_meth_set_ctrl(made->method_, control);
  set_options(made->context_);
  if (const auto readable = read_file(files.certificate, largest_file); !readable)
    return Error::config("the certificate cannot be read: " + readable.error().message);
  if (SSL_CTX_use_certificate_chain_file(made->context_, files.certificate.c_str()) != 1)
    return Error::config("the certificate in " + files.certificate.string() +
                         " cannot be used: " + complaint());
  if (const auto used = use_key(made->context_, files.key); !used) return used.error();
  if (SSL_CTX_check_private_key(made->context_) != 1)
    return Error::config("the private key in " + files.key.string() +
                         " does not belong to the certificate in " + files.certificate.string());
  made->expires_ = expiry_of(made->context_);
  return std::shared_ptr<const TlsContext>(made);
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
  BIO_meth_free(method_);
}

}  // namespace muster::http

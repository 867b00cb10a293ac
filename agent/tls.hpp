// TLS of a connection that does not block. Nothing of OpenSSL's TLS is touched before the first
// one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <muster/error.hpp>

struct ssl_st;
struct ssl_ctx_st;

namespace muster::agent {

enum class Want { nothing, read, write };

// What TLS connections share: whom they trust.
class TlsContext {
 public:
  // `ca_file`: instead of the system's certificates.
  static Result<std::shared_ptr<TlsContext>> make(const std::string& ca_file);
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return context_; }

 private:
  ssl_ctx_st* context_;
};

class TlsConnection {
 public:
  // The server must show a certificate for this name or address.
  TlsConnection(std::shared_ptr<TlsContext> context, int socket, const std::string& host);
  ~TlsConnection();
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;

  // Each does what can be done now; what it waits for is in `want`.
  Result<bool> handshake(Want& want);  // true: done
  Result<std::size_t> write(std::string_view bytes, Want& want);
  // Appends to `into`; false: the peer said that this is the end.
  Result<bool> read(std::string& into, Want& want);

 private:
  Error failure(const std::string& what, int result) const;

  std::shared_ptr<TlsContext> context_;
  ssl_st* tls_;
};

}  // namespace muster::agent

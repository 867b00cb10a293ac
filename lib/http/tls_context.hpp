// The certificate and key with which the server shows who it is.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>

#include <muster/error.hpp>

struct bio_method_st;
struct ssl_ctx_st;

namespace muster::http {

struct TlsFiles {
  std::filesystem::path certificate, key;  // PEM; the certificate first, then its issuers
};

// Immutable; connections hold the one that they began with. THREADS: any.
class TlsContext {
 public:
  // TLS 1.2 and newer. Fails as `config` with a sentence that says which file is wrong and how: it
  // cannot be read, others may read the key, they do not belong together.
  static Result<std::shared_ptr<const TlsContext>> load(const TlsFiles& files);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* get() const { return context_; }
  // Reads and writes a socket whose descriptor it is given, without SIGPIPE.
  const bio_method_st* socket_method() const { return method_; }
  std::chrono::sys_seconds expires() const { return expires_; }

 private:
  TlsContext() = default;
  ssl_ctx_st* context_ = nullptr;
  bio_method_st* method_ = nullptr;
  std::chrono::sys_seconds expires_{};
};

// The context that new connections get. THREADS: any.
class CurrentTls {
 public:
  std::shared_ptr<const TlsContext> get() const {
    const std::lock_guard guard(mutex_);
    return context_;
  }
  void set(std::shared_ptr<const TlsContext> context) {
    const std::lock_guard guard(mutex_);
    context_ = std::move(context);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsContext> context_;
};

}  // namespace muster::http

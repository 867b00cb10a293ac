// How bytes of one connection travel. Virtual, so that the connection above it is compiled once and
// knows neither sockets nor TLS.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace muster::http {

// Told what became of a read or a write. Held alive by the transport until then.
class TransportUser {
 public:
  virtual ~TransportUser() = default;
  virtual void on_read(bool ok, std::size_t bytes) = 0;  // not ok: end of stream, or broken
  virtual void on_written(bool ok) = 0;
};

// THREADS: that of its lane only. At most one read and one write at a time. The answers come later,
// never from inside read() or write().
class Transport {
 public:
  virtual ~Transport() = default;
  // `buffer` stays the caller's and must live until the answer.
  virtual void read(char* buffer, std::size_t size, std::shared_ptr<TransportUser> user) = 0;
  // All of both parts, or failure. They must live until the answer.
  virtual void write(std::string_view head, std::string_view body,
                     std::shared_ptr<TransportUser> user) = 0;
  // No more will be written; the peer is told.
  virtual void finish_writing() = 0;
  // Ends everything; pending reads and writes are answered with "not ok".
  virtual void close() = 0;
  virtual const std::string& peer() const = 0;
  // Whether nobody on the way can read along.
  virtual bool secure() const = 0;
  // Whether a handshake has begun and not ended.
  virtual bool in_handshake() const = 0;
};

}  // namespace muster::http

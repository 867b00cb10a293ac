// Bytes in, requests out. Beast's parser without its I/O, which would cost minutes of compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/http/message.hpp"

namespace muster::http {

struct RequestLimits {
  std::uint64_t max_header_bytes = 16 * 1024;
  std::uint64_t max_body_bytes = 10 * 1024 * 1024;
  // Of a request that has shown no valid credentials.
  std::uint64_t max_open_body_bytes = 64 * 1024;
};

// One request after the other from one connection. THREADS: one at a time.
class RequestParser {
 public:
  explicit RequestParser(RequestLimits limits);
  ~RequestParser();
  RequestParser(RequestParser&&) noexcept;

  enum class State {
    head,      // the head is not complete
    body,      // the head is, the body is not
    complete,  // take() has a request
    failed,    // the connection cannot be used any more: failure() says what to answer
  };

  // Reads as much as it can of the bytes and says how many are done with; the caller keeps the rest
  // and hands it in again together with what comes next. Stops behind a complete head, and behind a
  // complete request.
  std::size_t feed(std::string_view bytes);

  State state() const;
  // The request so far, once when its head is complete: the body may still come. Else nothing.
  // Lives until take().
  Request* take_head();
  // The length of the body if the head says it; nothing for chunks.
  std::optional<std::uint64_t> announced_length() const;
  // Of this request's body; at most what the limits say. What is announced already is checked. The
  // failure is a 413 that ends with `reason`.
  void limit_body(std::uint64_t bytes, std::string_view reason);
  // The rest of the body is read and thrown away.
  void discard_body();
  // What the body takes of the memory.
  std::size_t buffered() const;
  // Whether some of the next request has come.
  bool has_begun() const;
  // Whether the client waits for "100 Continue" before it sends the body. Asks once.
  bool take_expectation();
  // The complete request; the parser is ready for the next one.
  Request take();

  struct Failure {
    int status = 400;
    std::string message;
  };
  const Failure& failure() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::http

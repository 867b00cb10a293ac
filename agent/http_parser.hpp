// Reads one answer as its bytes come.
#pragma once

#include <string>
#include <string_view>

#include <muster/error.hpp>

#include "agent/http_client.hpp"

namespace muster::agent {

class HttpParser {
 public:
  explicit HttpParser(std::size_t max_body) : max_body_(max_body) {}

  // True when the answer is complete. Fails as `transient` on what is no HTTP or too much.
  Result<bool> feed(std::string_view bytes);
  // The stream is over. Fails if the answer needed more.
  Result<void> end();

  HttpAnswer take() { return std::move(answer_); }

 private:
  enum class Part { head, body, until_close, chunk_size, chunk, chunk_end, trailer, done };

  Result<bool> parse();
  Result<bool> parse_head(std::size_t end);
  Result<void> choose_body();
  Result<void> take_body(std::size_t bytes);
  std::optional<std::string> line();

  const std::size_t max_body_;
  Part part_ = Part::head;
  std::string pending_;
  std::size_t left_ = 0;  // of the body or the chunk
  HttpAnswer answer_;
};

}  // namespace muster::agent

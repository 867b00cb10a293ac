// Reads one answer as its bytes come. Boost.Beast does the parsing; its headers stay in the .cpp.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <muster/error.hpp>

#include "agent/http_client.hpp"

namespace muster::agent {

class HttpParser {
 public:
  explicit HttpParser(std::size_t max_body);
  ~HttpParser();

  // True when the answer is complete. Fails as `transient` on what is no HTTP or too much.
  Result<bool> feed(std::string_view bytes);
  // The stream is over. Fails if the answer needed more.
  Result<void> end();

  HttpAnswer take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::agent

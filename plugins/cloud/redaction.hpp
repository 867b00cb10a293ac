// Keeps secrets out of what people read: logs, errors, descriptions.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cloud {

inline constexpr std::string_view redacted_text = "[redacted]";

// Knows the secrets in use and takes them out of texts, also where they are percent-encoded.
//
// THREADS: any.
class Redactor {
 public:
  // Texts of less than 8 characters are no secrets: taking them out would garble every message. Of
  // those that are replaced again and again only the last 64 are known.
  void add(std::string_view secret);
  std::string redact(std::string_view text) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> secrets_;  // the oldest first
};

// The text without control characters, with at most `max_bytes`: a server's words in a message.
std::string printable(std::string_view text, std::size_t max_bytes = 300);

}  // namespace muster::cloud

// The way SSH writes things: lengths of four bytes, and base64 in text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::ssh {

// Takes one thing after another off the front of a text. Whatever does not fit is nothing, and then
// everything after it, too. Borrows the text.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  std::optional<std::uint32_t> number();
  std::optional<std::string_view> text();  // a length, and so many bytes
  // A positive number in as few bytes as it can be, big end first, without the zero of its sign.
  std::optional<std::string_view> positive();
  bool skip(std::string_view expected);
  bool at_end() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

// A length and the bytes.
std::string wire_text(std::string_view bytes);

// Strict: no white space, nothing after the padding, no stray bits. The padding may be missing.
std::optional<std::string> from_base64(std::string_view text);

// Without padding, as ssh-keygen shows fingerprints.
std::string to_bare_base64(std::string_view bytes);

}  // namespace muster::ssh

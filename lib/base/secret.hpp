// Secrets: text that cannot be printed by accident, random tokens, and digests, which are compared
// in a time that tells nobody how close a guess was.
#pragma once

#include <string>

#include "lib/crypto/sha256.hpp"

namespace muster {

// A text that has no operator<< and no conversion: code that needs it calls reveal(), which review
// can find.
class Secret {
 public:
  explicit Secret(std::string text) : text_(std::move(text)) {}
  const std::string& reveal() const { return text_; }

 private:
  std::string text_;
};

// 256 bits from the kernel, as 43 characters that need no quoting anywhere.
Secret random_token();

}  // namespace muster

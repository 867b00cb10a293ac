#include "plugins/cloud/redaction.hpp"

#include <algorithm>

#include <muster/utf8.hpp>

#include "lib/url/url.hpp"

namespace muster::cloud {
namespace {

constexpr std::size_t shortest_secret = 8, most_secrets = 64;

void replace_all(std::string& text, const std::string& what) {
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + redacted_text.size()))
    text.replace(at, what.size(), redacted_text);
}

}  // namespace

void Redactor::add(std::string_view secret) {
  if (secret.size() < shortest_secret) return;
  const std::lock_guard lock(mutex_);
  if (std::find(secrets_.begin(), secrets_.end(), secret) != secrets_.end()) return;
  if (secrets_.size() == most_secrets) secrets_.erase(secrets_.begin());
  secrets_.emplace_back(secret);
}

std::string Redactor::redact(std::string_view text) const {
  std::vector<std::string> secrets;
  {
    const std::lock_guard lock(mutex_);
    secrets = secrets_;
  }
  // The longest first: one may be a part of another.
  std::sort(secrets.begin(), secrets.end(),
            [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::string clean(text);
  for (const std::string& secret : secrets) {
    replace_all(clean, secret);
    if (const std::string encoded = encode_segment(secret); encoded != secret)
      replace_all(clean, encoded);
  }
  return clean;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string clean;
  for (const char c : valid_utf8(text)) {
    const bool is_space = static_cast<unsigned char>(c) <= ' ' || c == '\x7f';
    if (is_space && (clean.empty() || clean.back() == ' ')) continue;
    if (clean.size() >= max_bytes) {
      // Not in the middle of a character.
      while (!clean.empty() && (clean.back() & '\xc0') == '\x80') clean.pop_back();
      if (!clean.empty() && (clean.back() & '\x80')) clean.pop_back();
      return clean + "...";
    }
    clean += is_space ? ' ' : c;
  }
  while (!clean.empty() && clean.back() == ' ') clean.pop_back();
  return clean;
}

}  // namespace muster::cloud

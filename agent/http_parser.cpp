#include "agent/http_parser.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace muster::agent {
namespace {

constexpr std::size_t max_head = 32 * 1024;
constexpr std::size_t max_line = 4 * 1024;

Error not_http(const std::string& what) {
  return Error::transient("the answer is not HTTP: " + what);
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::size_t> number(std::string_view text, int base) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<bool> HttpParser::feed(std::string_view bytes) {
  pending_.append(bytes);
  return parse();
}

Result<bool> HttpParser::parse() {
  for (;;) {
    switch (part_) {
      case Part::head: {
        const auto end = pending_.find("\r\n\r\n");
        if (std::min(end, pending_.size()) > max_head)
          return Error::transient("the answer's head is larger than 32 KiB");
        if (end == std::string::npos) return false;
        const auto read = parse_head(end);
        if (!read) return read.error();
        break;
      }
      case Part::body:
      case Part::chunk:
      case Part::until_close: {
        const std::size_t bytes =
            part_ == Part::until_close ? pending_.size() : std::min(left_, pending_.size());
        const auto taken = take_body(bytes);
        if (!taken) return taken.error();
        if (part_ == Part::until_close) return false;
        left_ -= bytes;
        if (left_ > 0) return false;
        part_ = part_ == Part::body ? Part::done : Part::chunk_end;
        break;
      }
      case Part::chunk_size: {
        const auto text = line();
        if (!text && pending_.size() > max_line) return not_http("a chunk has no size");
        if (!text) return false;
        const auto size = number(trimmed(std::string_view(*text).substr(0, text->find(';'))), 16);
        if (!size) return not_http("a chunk has no size");
        left_ = *size;
        part_ = left_ > 0 ? Part::chunk : Part::trailer;
        break;
      }
      case Part::chunk_end: {
        if (pending_.size() < 2) return false;
        if (!pending_.starts_with("\r\n")) return not_http("a chunk is longer than it says");
        pending_.erase(0, 2);
        part_ = Part::chunk_size;
        break;
      }
      case Part::trailer: {
        const auto text = line();
        if (!text && pending_.size() > max_line) return not_http("its trailer never ends");
        if (!text) return false;
        if (text->empty()) part_ = Part::done;
        break;
      }
      case Part::done:
        return true;
    }
  }
}

std::optional<std::string> HttpParser::line() {
  const auto end = pending_.find("\r\n");
  if (end == std::string::npos) return std::nullopt;
  std::string text = pending_.substr(0, end);
  pending_.erase(0, end + 2);
  return text;
}

Result<bool> HttpParser::parse_head(std::size_t end) {
  const std::string head = pending_.substr(0, end + 2);
  pending_.erase(0, end + 4);
  answer_ = {};
  std::string_view rest = head;
  const auto next = [&] {
    const auto stop = rest.find("\r\n");
    const std::string_view found = rest.substr(0, stop);
    rest.remove_prefix(stop + 2);
    return found;
  };
  const std::string_view status = next();
  const auto code = status.size() >= 12 ? number(status.substr(9, 3), 10) : std::nullopt;
  if (!status.starts_with("HTTP/1.") || status[8] != ' ' || !code || *code < 100 || *code > 599)
    return not_http("it has no status line");
  answer_.status = static_cast<int>(*code);
  while (!rest.empty()) {
    const std::string_view field = next();
    const auto colon = field.find(':');
    if (colon == 0 || colon == field.npos) return not_http("a header has no name");
    answer_.headers.emplace(lower(field.substr(0, colon)),
                            std::string(trimmed(field.substr(colon + 1))));
  }
  if (answer_.status < 200) return true;  // the real one follows
  const auto chosen = choose_body();
  if (!chosen) return chosen.error();
  return true;
}

Result<void> HttpParser::choose_body() {
  if (answer_.status == 204 || answer_.status == 304) {
    part_ = Part::done;
  } else if (const std::string* coding = answer_.header("transfer-encoding")) {
    if (lower(*coding) != "chunked") return not_http("it is encoded as " + lower(*coding));
    part_ = Part::chunk_size;
  } else if (const std::string* length = answer_.header("content-length")) {
    const auto bytes = number(*length, 10);
    if (!bytes) return not_http("its length is not a number");
    if (*bytes > max_body_) return Error::transient("the answer is larger than it may be");
    left_ = *bytes;
    part_ = left_ > 0 ? Part::body : Part::done;
  } else {
    part_ = Part::until_close;
  }
  return {};
}

Result<void> HttpParser::take_body(std::size_t bytes) {
  if (answer_.body.size() + bytes > max_body_)
    return Error::transient("the answer is larger than it may be");
  answer_.body.append(pending_, 0, bytes);
  pending_.erase(0, bytes);
  return {};
}

Result<void> HttpParser::end() {
  if (part_ == Part::until_close) part_ = Part::done;
  if (part_ == Part::done) return {};
  return Error::transient(part_ == Part::head && pending_.empty()
                              ? "the server closed the connection without an answer"
                              : "the answer was cut off");
}

}  // namespace muster::agent

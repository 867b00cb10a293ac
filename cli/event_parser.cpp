#include "cli/event_parser.hpp"

#include <charconv>

namespace muster::cli {

void EventParser::feed(std::string_view bytes,
                       const std::function<void(const StreamedEvent&)>& take) {
  for (const char c : bytes) {
    const bool second = c == '\n' && after_return_;
    after_return_ = c == '\r';
    if (second) continue;
    if (c == '\n' || c == '\r')
      line(take);
    else
      line_ += c;
  }
}

void EventParser::line(const std::function<void(const StreamedEvent&)>& take) {
  if (!line_.empty()) {
    const std::size_t colon = std::min(line_.find(':'), line_.size());
    std::string_view value = std::string_view(line_).substr(std::min(colon + 1, line_.size()));
    if (value.starts_with(' ')) value.remove_prefix(1);
    field(std::string_view(line_).substr(0, colon), value);
    return line_.clear();
  }
  if (!id_.empty()) last_id_ = id_;
  if (has_data_) take({name_.empty() ? "message" : name_, data_});
  name_.clear();
  data_.clear();
  has_data_ = false;
}

void EventParser::field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (has_data_) data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (name == "event") {
    name_ = value;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    id_ = value;
  } else if (name == "retry") {
    int number = 0;
    const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (wrong == std::errc() && end == value.data() + value.size() && number >= 0) retry_ = number;
  }  // a line that begins with a colon is a comment
}

}  // namespace muster::cli

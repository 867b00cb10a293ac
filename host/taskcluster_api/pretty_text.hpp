// JSON, indented by two spaces, written straight into a text: a list of a thousand workers must not
// become a tree of values first. The caller keeps the order right; nothing is checked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <muster/context.hpp>
#include <muster/json.hpp>

namespace muster::taskcluster_api {

class PrettyText {
 public:
  explicit PrettyText(std::size_t expected = 0) { text_.reserve(expected); }

  PrettyText& begin_object() { return begin('{'); }
  PrettyText& end_object() { return end('}'); }
  PrettyText& begin_array() { return begin('['); }
  PrettyText& end_array() { return end(']'); }

  // Names the value that follows, in an object.
  PrettyText& key(std::string_view name);
  // The next value of an array.
  PrettyText& item();

  PrettyText& string(std::string_view value);
  PrettyText& integer(std::int64_t value);
  PrettyText& boolean(bool value);
  PrettyText& time(Time value);  // "2026-01-02T03:04:05.678Z"
  PrettyText& value(const json::value& value);
  PrettyText& object(const json::object& value);

  std::size_t size() const { return text_.size(); }
  std::string take() { return std::move(text_); }

 private:
  PrettyText& begin(char bracket);
  PrettyText& end(char bracket);
  void new_line();

  std::string text_;
  std::size_t depth_ = 0;
  bool empty_ = true;  // nothing stands in the innermost object or array yet
};

// As PrettyText::time writes it, without the quotes.
void append_time(std::string& text, Time time);

}  // namespace muster::taskcluster_api

#include "lib/yaml/yaml_document.hpp"

#include <charconv>
#include <yaml.h>

namespace muster::config {
namespace {

constexpr int max_depth = 32;

// One at a time from libyaml; frees each before the next.
class YamlEvents {
 public:
  explicit YamlEvents(std::string_view text) {
    ::yaml_parser_initialize(&parser_);
    ::yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    ::yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
  }
  ~YamlEvents() {
    ::yaml_event_delete(&event_);
    ::yaml_parser_delete(&parser_);
  }
  YamlEvents(const YamlEvents&) = delete;
  YamlEvents& operator=(const YamlEvents&) = delete;

  bool next() {
    ::yaml_event_delete(&event_);
    return ::yaml_parser_parse(&parser_, &event_) == 1;
  }
  const yaml_event_t& event() const { return event_; }
  yaml_event_type_t type() const { return event_.type; }
  Position position() const { return position_of(event_.start_mark); }
  Position problem_position() const { return position_of(parser_.problem_mark); }
  std::string problem() const { return parser_.problem ? parser_.problem : "it cannot be read"; }

 private:
  static Position position_of(const yaml_mark_t& mark) {
    return {static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
  }

  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

class YamlReader {
 public:
  explicit YamlReader(std::string_view text) : events_(text) {}

  boost::variant2::variant<TomlDocument, Mistake> read() {
    json::value root;
    if (!read(root)) return mistake_;
    if (!root.is_object()) {
      wrong("the whole file must be a mapping of keys to values");
      return mistake_;
    }
    document_.root = std::move(root.get_object());
    return std::move(document_);
  }

  bool read(json::value& root) {
    return step() && step() && step() && node(root, "", 0) && step() &&
           expect(YAML_DOCUMENT_END_EVENT, "nothing may follow") && step() &&
           expect(YAML_STREAM_END_EVENT, "there may be only one document");
  }
  const Mistake& mistake() const { return mistake_; }

 private:
  bool step() {
    if (events_.next()) return true;
    mistake_ = {Severity::error, events_.problem_position(), "",
                "this is not YAML: " + events_.problem(), ""};
    return false;
  }
  bool wrong(std::string why) {
    mistake_ = {Severity::error, events_.position(), "", std::move(why), ""};
    return false;
  }
  bool expect(yaml_event_type_t type, const char* why) {
    return events_.type() == type || wrong(why);
  }

  // The event of the node has come; when it returns, the last event of the node has.
  bool node(json::value& into, const std::string& pointer, int depth) {
    document_.values[pointer] = events_.position();
    switch (events_.type()) {
      case YAML_SCALAR_EVENT:
        return scalar(into);
      case YAML_SEQUENCE_START_EVENT:
        return depth < max_depth ? sequence(into, pointer, depth)
                                 : wrong("this is nested too deep");
      case YAML_MAPPING_START_EVENT:
        return depth < max_depth ? mapping(into, pointer, depth) : wrong("this is nested too deep");
      case YAML_ALIAS_EVENT:
        return wrong("aliases are not supported; write it out");
      default:
        return wrong("there is no value");
    }
  }

  bool sequence(json::value& into, const std::string& pointer, int depth) {
    json::array items;
    for (;;) {
      if (!step()) return false;
      if (events_.type() == YAML_SEQUENCE_END_EVENT) break;
      json::value item;
      if (!node(item, pointer + "/" + std::to_string(items.size()), depth + 1)) return false;
      items.push_back(std::move(item));
    }
    into = std::move(items);
    return true;
  }

  bool mapping(json::value& into, const std::string& pointer, int depth) {
    json::object members;
    for (;;) {
      if (!step()) return false;
      if (events_.type() == YAML_MAPPING_END_EVENT) break;
      if (events_.type() != YAML_SCALAR_EVENT) return wrong("a key must be a string");
      const std::string key(text());
      const std::string here = pointer + "/" + pointer_part(key);
      document_.keys[here] = events_.position();
      if (key == "<<") return wrong("merges are not supported; write it out");
      if (members.contains(key)) return wrong("the key " + key + " is there twice");
      json::value value;
      if (!step() || !node(value, here, depth + 1)) return false;
      members[key] = std::move(value);
    }
    into = std::move(members);
    return true;
  }

  std::string_view text() const {
    const auto& scalar = events_.event().data.scalar;
    return {reinterpret_cast<const char*>(scalar.value), scalar.length};
  }

  bool scalar(json::value& into) {
    const auto& found = events_.event().data.scalar;
    if (found.tag) return wrong("tags are not supported");
    into =
        found.style == YAML_PLAIN_SCALAR_STYLE ? plain(text()) : json::value(json::string(text()));
    return true;
  }

  static json::value plain(std::string_view word) {
    if (word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL")
      return nullptr;
    if (word == "true" || word == "True" || word == "TRUE") return true;
    if (word == "false" || word == "False" || word == "FALSE") return false;
    const char* const end = word.data() + word.size();
    std::int64_t integer = 0;
    if (const auto [stop, error] = std::from_chars(word.data(), end, integer);
        error == std::errc() && stop == end)
      return integer;
    double number = 0;
    const bool numeric = word.find_first_not_of("0123456789+-.eE") == word.npos;
    if (const auto [stop, error] = std::from_chars(word.data(), end, number);
        numeric && error == std::errc() && stop == end)
      return number;
    return json::value(json::string(word));
  }

  YamlEvents events_;
  TomlDocument document_;
  Mistake mistake_;
};

}  // namespace

boost::variant2::variant<TomlDocument, Mistake> parse_yaml(std::string_view text) {
  return YamlReader(text).read();
}

boost::variant2::variant<json::value, Mistake> parse_yaml_value(std::string_view text) {
  YamlReader reader(text);
  json::value root;
  if (!reader.read(root)) return reader.mistake();
  return root;
}

}  // namespace muster::config

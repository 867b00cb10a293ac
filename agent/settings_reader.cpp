#include "agent/settings_reader.hpp"

#include <muster/nearest.hpp>

#include "lib/toml/units.hpp"

namespace muster::agent {
namespace {

const json::object no_table;

}  // namespace

const json::value* Settings::raw(std::string_view key) {
  known_.insert(std::string(key));
  return table_.if_contains(key);
}

bool Settings::has(std::string_view key) const {
  return table_.if_contains(key);
}

bool Settings::is_table(std::string_view key) const {
  const json::value* found = table_.if_contains(key);
  return found && found->is_object();
}

bool Settings::is_array(std::string_view key) const {
  const json::value* found = table_.if_contains(key);
  return found && found->is_array();
}

std::vector<std::string> Settings::keys() const {
  std::vector<std::string> names;
  for (const auto& member : table_) names.emplace_back(member.key());
  return names;
}

std::optional<std::string> Settings::text(std::string_view key) {
  const json::value* found = raw(key);
  if (!found) return std::nullopt;
  if (!found->is_string() || found->get_string().empty()) {
    wrong(key, "this must be a string that is not empty");
    return std::nullopt;
  }
  std::string value(found->get_string());
  if (value.find('\0') != std::string::npos) {
    wrong(key, "no text here may have a zero in it");
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> Settings::integer(std::string_view key, std::int64_t least,
                                              std::int64_t most) {
  const json::value* found = raw(key);
  if (!found) return std::nullopt;
  if (found->is_int64() && found->get_int64() >= least && found->get_int64() <= most)
    return found->get_int64();
  wrong(key, "this must be a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most));
  return std::nullopt;
}

std::optional<bool> Settings::truth(std::string_view key) {
  const json::value* found = raw(key);
  if (!found) return std::nullopt;
  if (found->is_bool()) return found->get_bool();
  wrong(key, "this must be true or false");
  return std::nullopt;
}

std::optional<std::chrono::milliseconds> Settings::duration(std::string_view key) {
  const json::value* found = raw(key);
  if (!found) return std::nullopt;
  if (found->is_string())
    if (const auto parsed = config::parse_duration(std::string_view(found->get_string())))
      return parsed;
  wrong(key, "this must be a time", "write it as \"500ms\", \"30s\", \"5m\" or \"1h\"");
  return std::nullopt;
}

std::optional<std::vector<std::string>> Settings::words(std::string_view key) {
  const json::value* found = raw(key);
  if (!found) return std::nullopt;
  std::vector<std::string> list;
  bool good = found->is_array() && !found->get_array().empty();
  if (good)
    for (const json::value& word : found->get_array()) {
      good = good && word.is_string() && word.get_string().find('\0') == json::string::npos;
      if (good) list.emplace_back(word.get_string());
    }
  if (good && !list.front().empty()) return list;
  wrong(key, "this must be a command as a list of words",
        "write it as [\"/usr/bin/worker\", \"--option\"]; no shell is used");
  return std::nullopt;
}

std::optional<std::vector<std::string>> Settings::names(std::string_view key) {
  const json::value* found = raw(key);
  if (!found) return std::nullopt;
  std::vector<std::string> list;
  if (found->is_array())
    for (const json::value& name : found->get_array())
      if (name.is_string() && !name.get_string().empty()) list.emplace_back(name.get_string());
  if (found->is_array() && list.size() == found->get_array().size()) return list;
  wrong(key, "this must be a list of strings that are not empty", "write it as [\"one\", \"two\"]");
  return std::nullopt;
}

Settings Settings::table(std::string_view key) {
  const json::value* found = raw(key);
  const std::string pointer = pointer_ + "/" + config::pointer_part(key);
  if (found && found->is_object()) return {document_, mistakes_, found->get_object(), pointer};
  if (found) wrong(key, "this must be a table");
  return {document_, mistakes_, no_table, pointer};
}

void Settings::wrong(std::string_view key, std::string reason, std::string remedy) {
  const std::string pointer = pointer_ + "/" + config::pointer_part(key);
  mistakes_.push_back({config::Severity::error, document_.key_position(pointer),
                       config::key_path(document_.root, pointer), std::move(reason),
                       std::move(remedy)});
}

void Settings::finish() {
  const std::vector<std::string_view> names(known_.begin(), known_.end());
  for (const auto& member : table_) {
    const std::string_view key = member.key();
    if (known_.contains(key)) continue;
    const auto close = nearest(key, names);
    wrong(key, "there is no such key", close ? "did you mean " + *close + "?" : "");
  }
}

}  // namespace muster::agent

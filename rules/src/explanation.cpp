#include <algorithm>
#include <set>

#include <muster/rules/explanation.hpp>

namespace muster::rules {
namespace {

json::object source_of(const Document& document, std::size_t rule, Position position) {
  return {{"rule", document.rules[rule].rule_id},
          {"file", document.file},
          {"line", position.line},
          {"column", position.column}};
}

json::array replaced_by(const Document& document, const std::vector<Change>& earlier) {
  json::array out;
  for (const Change& change : earlier) {
    json::object object = source_of(document, change.rule, change.position);
    object["key"] = format_path(change.path);
    if (change.value)
      object["value"] = *change.value;
    else
      object["deleted"] = true;
    out.push_back(std::move(object));
  }
  return out;
}

}  // namespace

bool is_below(const Path& path, const Path& key) {
  return key.size() <= path.size() && std::equal(key.begin(), key.end(), path.begin());
}

json::object to_json(const Document& document, const Leaf& leaf) {
  json::object object = source_of(document, leaf.rule, leaf.position);
  object["key"] = format_path(leaf.path);
  object["value"] = leaf.value;
  object["replaced"] = replaced_by(document, leaf.earlier);
  return object;
}

json::object to_json(const Document& document, const Deletion& deletion) {
  json::object object = source_of(document, deletion.rule, deletion.position);
  object["key"] = format_path(deletion.path);
  object["replaced"] = replaced_by(document, deletion.earlier);
  return object;
}

json::object explanation(const Document& document, const Facts& facts, const Evaluation& evaluation,
                         const Path& key) {
  json::array values, deleted, matched;
  json::object given;
  for (const Leaf& leaf : evaluation.leaves)
    if (is_below(leaf.path, key)) values.push_back(to_json(document, leaf));
  for (const Deletion& deletion : evaluation.deleted)
    if (is_below(deletion.path, key)) deleted.push_back(to_json(document, deletion));
  for (const std::size_t rule : evaluation.matched)
    matched.push_back(json::value(document.rules[rule].rule_id));
  for (const auto& [name, value] : facts) given[name] = value;
  return {{"configuration", document.id},   {"file", document.file},
          {"facts", std::move(given)},      {"rules", std::move(matched)},
          {"values", std::move(values)},    {"deleted", std::move(deleted)},
          {"document", evaluation.document}};
}

std::vector<std::string> keys_of(const Evaluation& evaluation) {
  std::set<std::string> keys;
  const auto add = [&](Path path) {
    for (; !path.empty(); path.pop_back()) keys.insert(format_path(path));
  };
  for (const Leaf& leaf : evaluation.leaves) add(leaf.path);
  for (const Deletion& deletion : evaluation.deleted) add(deletion.path);
  return {keys.begin(), keys.end()};
}

}  // namespace muster::rules

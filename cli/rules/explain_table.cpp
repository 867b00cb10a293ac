// The table of `muster explain` without facts: what differs, and where.
#include <algorithm>
#include <map>
#include <set>

#include <muster/plural.hpp>
#include <muster/rules/explanation.hpp>

#include "cli/rules/explain.hpp"

namespace muster::cli {
namespace {

using rules::Evaluation;
using rules::Leaf;

// FactSets that come to the same document by the same rules.
struct Kind {
  const Evaluation* evaluation = nullptr;
  std::vector<std::size_t> cases;
};

std::vector<Kind> kinds_of(const FactSets& cases, Evaluations& evaluations) {
  std::vector<Kind> kinds;
  std::map<const Evaluation*, std::size_t> index;
  for (std::size_t i = 0; i < cases.facts.size(); ++i) {
    const auto* evaluation = &evaluations(cases.facts[i]);
    const auto [at, added] = index.emplace(evaluation, kinds.size());
    if (added) kinds.push_back({evaluation, {}});
    kinds[at->second].cases.push_back(i);
  }
  return kinds;
}

bool same_leaf(const Leaf* a, const Leaf* b) {
  return a && b && a->value == b->value && a->rule == b->rule && a->position == b->position;
}

// Paths in the order in which they first appear.
std::vector<rules::Path> paths_of(const std::vector<Kind>& kinds, const rules::Path& key) {
  std::vector<rules::Path> paths;
  std::set<rules::Path> seen;
  for (const auto& kind : kinds)
    for (const auto& leaf : kind.evaluation->leaves)
      if (rules::is_below(leaf.path, key) && seen.insert(leaf.path).second)
        paths.push_back(leaf.path);
  return paths;
}

// The cases of each value of one path.
struct Value {
  const Leaf* leaf = nullptr;  // null: not there
  std::vector<std::size_t> cases;
};

std::vector<Value> values_of(const rules::Path& path, const std::vector<Kind>& kinds) {
  std::vector<Value> values;
  for (const auto& kind : kinds) {
    const auto* leaf = kind.evaluation->find(path);
    auto same = std::find_if(values.begin(), values.end(), [&](const auto& value) {
      return (!leaf && !value.leaf) || same_leaf(leaf, value.leaf);
    });
    if (same == values.end()) same = values.insert(values.end(), {leaf, {}});
    same->cases.insert(same->cases.end(), kind.cases.begin(), kind.cases.end());
  }
  return values;
}

std::string share(std::size_t count, const FactSets& cases) {
  return std::to_string(count) + " of " + std::to_string(cases.facts.size());
}

// One value, as rows: how many, where, by what.
void add_rows(Table& table, const rules::Document& document, const Value& value,
              const FactSets& cases) {
  const auto& leaf = *value.leaf;
  bool first = true;
  for (const auto& box : describe(value.cases, cases.facts)) {
    std::vector<Cell> row = {{first ? show(leaf.value) : "", Look::plain},
                             {share(box.count, cases), Look::dim},
                             {to_string(box), Look::cyan}};
    if (first) {
      row.push_back({document.rules[leaf.rule].rule_id, Look::green});
      row.push_back({document.file + ":" + std::to_string(leaf.position.line), Look::cyan});
    }
    table.add(std::move(row));
    first = false;
  }
}

json::object box_json(const Box& box) {
  json::object facts;
  for (const auto& [name, values] : box.facts) {
    json::array list;
    for (const auto& value : values) list.push_back(json::value(value));
    facts[name] = std::move(list);
  }
  return {{"facts", facts}, {"count", box.count}};
}

json::array where_json(const std::vector<std::size_t>& group, const FactSets& cases) {
  json::array where;
  for (const auto& box : describe(group, cases.facts)) where.push_back(box_json(box));
  return where;
}

void print_all_json(const rules::Document& document, const FactSets& cases,
                    const std::vector<Kind>& kinds, const std::vector<rules::Path>& paths) {
  json::array keys;
  for (const auto& path : paths) {
    json::array values;
    for (const auto& value : values_of(path, kinds)) {
      json::object object = value.leaf ? rules::to_json(document, *value.leaf) : json::object{};
      object.erase("key");
      object["count"] = value.cases.size();
      object["where"] = where_json(value.cases, cases);
      values.push_back(std::move(object));
    }
    keys.push_back({{"key", rules::format_path(path)}, {"values", std::move(values)}});
  }
  print_json({{"configuration", document.id},
              {"file", document.file},
              {"placementsKnown", cases.known},
              {"combinations", cases.facts.size()},
              {"different", kinds.size()},
              {"keys", std::move(keys)}});
}

// Kinds whose documents agree on all shown paths are one line.
std::vector<Kind> lines_of(const std::vector<Kind>& kinds, const std::vector<rules::Path>& paths) {
  std::vector<Kind> lines;
  for (const auto& kind : kinds) {
    auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& line) {
      return std::all_of(paths.begin(), paths.end(), [&](const auto& path) {
        const auto *a = line.evaluation->find(path), *b = kind.evaluation->find(path);
        return (!a && !b) || (a && b && a->value == b->value);
      });
    });
    if (same == lines.end()) same = lines.insert(lines.end(), {kind.evaluation, {}});
    same->cases.insert(same->cases.end(), kind.cases.begin(), kind.cases.end());
  }
  for (auto& line : lines) std::sort(line.cases.begin(), line.cases.end());
  return lines;
}

std::string cell(const Kind& kind, const rules::Path& path) {
  const auto* leaf = kind.evaluation->find(path);
  return leaf ? show(leaf->value) : "-";
}

// One line for each group of facts, one column for each key that differs.
Table wide_table(const FactSets& cases, const std::vector<Kind>& lines,
                 const std::vector<rules::Path>& paths) {
  Table table;
  std::vector<Cell> head = {{"", Look::plain}, {"", Look::plain}};
  for (const auto& path : paths) head.push_back({rules::format_path(path), Look::bold});
  table.add(std::move(head));
  for (const auto& line : lines)
    for (const auto& box : describe(line.cases, cases.facts)) {
      std::vector<Cell> row = {{std::to_string(box.count) + "x", Look::dim},
                               {to_string(box), Look::cyan}};
      for (const auto& path : paths) {
        auto text = cell(line, path);
        row.push_back({text, text == "-" ? Look::dim : Look::plain});
      }
      table.add(std::move(row));
    }
  return table;
}

// The same for a screen that is too narrow: a paragraph for each key.
std::string by_key(const rules::Document& document, const FactSets& cases,
                   const std::vector<Kind>& kinds, const std::vector<rules::Path>& paths,
                   const Style& style) {
  std::string out;
  for (const auto& path : paths) {
    Table table;
    const auto values = values_of(path, kinds);
    for (const auto& value : values)
      if (value.leaf) add_rows(table, document, value, cases);
    for (const auto& value : values)
      if (!value.leaf)
        table.add({{"-", Look::dim},
                   {share(value.cases.size(), cases), Look::dim},
                   {"elsewhere", Look::dim}});
    out += "\n  " + style(Look::bold, rules::format_path(path)) + "\n" + table.text(style, "    ");
  }
  return out;
}

}  // namespace

bool explain_table(const rules::Document& document, const FactSets& cases, const rules::Path& key,
                   bool as_json) {
  Evaluations evaluations(document);
  const auto kinds = kinds_of(cases, evaluations);
  const auto paths = paths_of(kinds, key);
  if (paths.empty() && !key.empty()) return false;
  if (as_json) return print_all_json(document, cases, kinds, paths), true;

  std::vector<rules::Path> different;
  Table same;
  for (const auto& path : paths) {
    const auto values = values_of(path, kinds);
    const auto* first = values.front().leaf;
    const bool one = first && std::all_of(values.begin(), values.end(), [&](const auto& value) {
                       return value.leaf && value.leaf->value == first->value;
                     });
    if (one && (values.size() == 1 || key.empty()))
      add_leaf(same, document, *first);
    else
      different.push_back(path);
  }
  const auto style = Style::of_stdout();
  const auto lines = lines_of(kinds, different);
  print(style(Look::bold, document.id) + "  " + count_of(cases.facts.size(), cases.noun()) +
        (lines.size() > 1 ? ", " + std::to_string(lines.size()) + " different" : "") + "\n");
  if (!cases.known)
    print(style(Look::dim,
                "No facts.toml says where the providers are; these are the cases that "
                "the rules name.") +
          "\n");
  if (const auto text = same.text(style, "  "); !text.empty())
    print("\n" + (different.empty() ? "" : style(Look::dim, "the same everywhere") + "\n") + text);
  if (different.empty()) return true;
  const auto table = wide_table(cases, lines, different);
  if (!key.empty() || table.width() + 2 > terminal_columns()) {
    print(by_key(document, cases, kinds, different, style));
  } else {
    print("\n" + style(Look::dim, "what differs") + "\n" + table.text(style, "  "));
  }
  return true;
}

}  // namespace muster::cli

#include <algorithm>
#include <set>

#include <muster/rules/document.hpp>
#include <muster/rules/facts.hpp>

#include "reader.hpp"
#include "source_text.hpp"

namespace muster::rules {
namespace {

using std::string;

class KnownFactsReader : private Reader {
 public:
  KnownFactsReader(const string& file, const Limits& limits) : Reader(file, limits) {}

  ParsedKnownFacts read(ParsedNode&& source) {
    add(std::move(source.problems));
    set_partial(source.partial);
    if (source.root) read_root(*source.root);
    std::sort(known_.providers.begin(), known_.providers.end(),
              [](const Provider& a, const Provider& b) { return a.provider_id < b.provider_id; });
    return {std::move(known_), take_problems()};
  }

 private:
  void read_root(const Node& root) {
    refuse_unknown_keys(root, "", {"providers"});
    const Node* providers = root.find("providers");
    if (!providers)
      return missing({1, 1}, "providers", "is missing",
                     "add a table for each provider: [providers.ec2]");
    if (!providers->is_table())
      return wrong_type(*providers, "providers", "a table", "write [providers.ec2]");
    for (const Member& member : *providers->table()) {
      const string key = join_key("providers", member.name);
      if (member.node.is_table())
        read_provider(member.name, member.node, key);
      else
        wrong_type(member.node, key, "a table");
    }
  }

  void read_provider(const string& id, const Node& node, const string& path) {
    refuse_unknown_keys(node, path, {"plugin", "facts", "placements"});
    Provider provider{id, "", {}, {}};
    if (const Node* plugin = node.find("plugin"))
      if (const auto* text = expect_string(*plugin, path + ".plugin"))
        provider.plugin = string(*text);
    if (const Node* facts = node.find("facts")) read_fact_names(*facts, path + ".facts", provider);
    if (const Node* placements = node.find("placements"))
      read_placements(*placements, path + ".placements", provider);
    if (provider.placements.empty()) provider.placements.emplace_back();
    for (const Facts& placement : provider.placements)
      for (const auto& [name, value] : placement) provider.fact_names.push_back(name);
    auto& names = provider.fact_names;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    known_.providers.push_back(std::move(provider));
  }

  void read_fact_names(const Node& node, const string& key, Provider& provider) {
    if (!node.is_array()) return wrong_type(node, key, "a list of strings");
    for (std::size_t i = 0; i < node.array()->size(); ++i)
      if (const auto* name = expect_string((*node.array())[i], join_index(key, i)))
        provider.fact_names.emplace_back(*name);
  }

  void read_placements(const Node& node, const string& key, Provider& provider) {
    if (!node.is_array()) return wrong_type(node, key, "a list of tables");
    for (std::size_t i = 0; i < node.array()->size(); ++i) {
      const Node& item = (*node.array())[i];
      const string item_key = join_index(key, i);
      if (!item.is_table()) {
        wrong_type(item, item_key, "a table");
        continue;
      }
      Facts placement;
      for (const Member& member : *item.table()) {
        const string fact_key = join_key(item_key, member.name);
        if (member.name == "workerType" || member.name == "provider")
          error(member.node.key, fact_key, "is not for a placement to say", "remove it",
                "reservedFact");
        else if (const auto* value = expect_string(member.node, fact_key))
          placement.emplace(member.name, string(*value));
      }
      provider.placements.push_back(std::move(placement));
    }
  }

  KnownFacts known_;
};

}  // namespace

const std::vector<string>& general_fact_names() {
  static const std::vector<string> names = {"workerType", "provider", "region"};
  return names;
}

const Provider* KnownFacts::find(std::string_view provider_id) const {
  const auto found = std::find_if(providers.begin(), providers.end(),
                                  [&](const Provider& p) { return p.provider_id == provider_id; });
  return found == providers.end() ? nullptr : &*found;
}

std::vector<string> KnownFacts::fact_names() const {
  std::set<string> names(general_fact_names().begin(), general_fact_names().end());
  for (const Provider& provider : providers)
    names.insert(provider.fact_names.begin(), provider.fact_names.end());
  return {names.begin(), names.end()};
}

std::vector<string> KnownFacts::provider_ids() const {
  std::vector<string> ids;
  for (const Provider& provider : providers) ids.push_back(provider.provider_id);
  return ids;
}

ParsedKnownFacts parse_known_facts(std::string_view toml, const string& file_name,
                                   const Limits& limits) {
  return KnownFactsReader(file_name, limits).read(toml_to_node(toml, file_name, limits));
}

Problems check_condition_names(const Document& document, const KnownFacts& known) {
  const std::vector<string> names = known.fact_names();
  Problems problems;
  for (std::size_t r = 0; r < document.rules.size(); ++r)
    for (const Clause& clause : document.rules[r].any_of)
      for (const Condition& condition : clause.all_of) {
        if (std::binary_search(names.begin(), names.end(), condition.fact)) continue;
        const string nearest = nearest_name(condition.fact, names);
        string all;
        for (const string& name : names) all += (all.empty() ? "" : ", ") + name;
        problems.push_back(
            {Severity::error, document.at(condition.position),
             join_key(join_index("rules", r) + ".conditions", condition.fact),
             "no fact and no provider knows the name " + in_quotes(condition.fact),
             nearest.empty() ? "known facts are " + all : "did you mean " + nearest + "?",
             "unknownFact"});
      }
  return problems;
}

}  // namespace muster::rules

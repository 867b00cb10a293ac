#include <algorithm>
#include <utility>

#include <muster/json.hpp>
#include <muster/rules/document.hpp>
#include <muster/rules/edit.hpp>
#include <muster/rules/problem.hpp>

#include "model.hpp"
#include "rule_blocks.hpp"
#include "same.hpp"
#include "surgery.hpp"

namespace muster::rules {
namespace {

using namespace syntax;

constexpr auto done = std::nullopt;
using Failure = std::optional<Error>;

// One run of edits: the text and, beside it, the document that the text must say.
class Session {
 public:
  Session(std::string text, toml::table model) : text_(std::move(text)), model_(std::move(model)) {}

  const std::string& text() const { return text_; }
  const toml::table& model() const { return model_; }

  Failure operator()(const SetValue& edit) {
    if (edit.path.empty()) return Error::invalid("A value needs a path, such as aws.ImageId.");
    const auto value = parse_one_value(edit.value);
    if (!value) return value.error();
    return put_in_rule(edit.rule_id, in_values(edit.path), *value->get("value"));
  }

  Failure operator()(const RemoveValue& edit) {
    const auto rule = find_rule(edit.rule_id);
    if (!rule) return rule.error();
    const auto address = below(*rule, in_values(edit.path));
    if (edit.path.empty() || !find_node(model_, address))
      return Error::not_found("Rule `" + edit.rule_id + "` does not set `" +
                              format_path(edit.path) + "`." + nearest_value(*rule, edit.path));
    return erase_and_prune(address);
  }

  Failure operator()(const AddUnset& edit) {
    auto paths = unset_paths(edit.rule_id);
    if (!paths) return paths.error();
    if (edit.path.empty()) return Error::invalid("A path to unset must not be empty.");
    if (std::find(paths->begin(), paths->end(), edit.path) != paths->end()) return done;
    return put_unset(edit.rule_id, edit.path, true);
  }

  Failure operator()(const RemoveUnset& edit) {
    auto paths = unset_paths(edit.rule_id);
    if (!paths) return paths.error();
    if (std::find(paths->begin(), paths->end(), edit.path) == paths->end())
      return Error::not_found("Rule `" + edit.rule_id + "` does not unset `" +
                              format_path(edit.path) + "`.");
    return put_unset(edit.rule_id, edit.path, false);
  }

  Failure operator()(const SetCondition& edit) {
    const auto clause = clause_of(edit.rule_id);
    if (!clause) return clause.error();
    Address address = *clause;
    address.emplace_back(edit.fact);
    if (edit.globs.empty()) {
      if (!find_node(model_, address))
        return Error::not_found("Rule `" + edit.rule_id + "` has no condition on `" + edit.fact +
                                "`.");
      return erase_and_prune(address);
    }
    toml::array globs;
    for (const auto& glob : edit.globs) globs.push_back(glob);
    const toml::node& value = globs.size() == 1 ? globs[0] : static_cast<toml::node&>(globs);
    if (find_node(model_, *clause)) return put_at(address, value);
    toml::table conditions;
    value.visit([&](const auto& typed) { conditions.insert(edit.fact, typed); });
    return put_at(*clause, conditions);
  }

  Failure operator()(const SetConditions& edit) {
    const auto rule = find_rule(edit.rule_id);
    if (!rule) return rule.error();
    const auto address = below(*rule, {"conditions"});
    if (edit.conditions.empty()) return erase_at(address);
    const auto value = parse_one_value(edit.conditions);
    if (!value) return value.error();
    return put_at(address, *value->get("value"));
  }

  Failure operator()(const SetDescription& edit) {
    return put_in_rule(edit.rule_id, {"description"}, toml::value<std::string>(edit.description));
  }

  Failure operator()(const RenameRule& edit) {
    if (edit.new_rule_id != edit.rule_id && rule_index(edit.new_rule_id))
      return Error::invalid("There is a rule `" + edit.new_rule_id + "` already.");
    return put_in_rule(edit.rule_id, {"ruleId"}, toml::value<std::string>(edit.new_rule_id));
  }

  Failure operator()(const AddRule& edit) {
    if (edit.rule_id.empty()) return Error::invalid("A rule needs a name.");
    if (rule_index(edit.rule_id))
      return Error::invalid("There is a rule `" + edit.rule_id + "` already.");
    const auto slot = slot_of(edit.place);
    if (!slot) return slot.error();
    if (auto failure = take(add_rule(text_, *slot, rule_count(), edit.rule_id, edit.description)))
      return failure;
    if (!model_.get("rules")) model_.insert("rules", toml::array{});
    insert_element(*model_.get("rules")->as_array(), slot->index,
                   toml::table{{"ruleId", edit.rule_id}, {"description", edit.description}});
    return done;
  }

  Failure operator()(const RemoveRule& edit) {
    const auto rule = find_rule(edit.rule_id);
    if (!rule) return rule.error();
    if (auto failure = take(remove_rule(text_, *rule))) return failure;
    erase_node(model_, below(*rule, {}));
    // The last [[rules]] header takes the array itself along; `rules = []` stays.
    if (rule_count() == 0 && !is_written({std::string("rules")})) model_.erase("rules");
    return done;
  }

  Failure operator()(const MoveRule& edit) {
    const auto rule = find_rule(edit.rule_id);
    if (!rule) return rule.error();
    if (edit.place.rule_id == edit.rule_id)
      return Error::invalid("A rule cannot be moved next to itself.");
    auto to = slot_of(edit.place);
    if (!to) return to.error();
    if (to->index > *rule) --to->index;  // it leaves its own place
    if (to->index == *rule) return done;
    if (auto failure = take(move_rule(text_, *rule, *to, rule_count()))) return failure;
    auto& rules = *model_.get("rules")->as_array();
    const auto moved = *rules[*rule].as_table();
    rules.erase(rules.cbegin() + static_cast<std::ptrdiff_t>(*rule));
    insert_element(rules, to->index, moved);
    return done;
  }

 private:
  static Path in_values(Path path) {
    path.insert(path.begin(), "values");
    return path;
  }

  static Address below(std::size_t rule, const Path& path) {
    Address address = {std::string("rules"), rule};
    for (const auto& key : path) address.emplace_back(key);
    return address;
  }

  const toml::array* rules() const {
    const auto* node = model_.get("rules");
    return node ? node->as_array() : nullptr;
  }
  std::size_t rule_count() const { return rules() ? rules()->size() : 0; }

  std::vector<std::string> rule_ids() const {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < rule_count(); ++i) {
      const auto* rule = (*rules())[i].as_table();
      const auto* id = rule ? rule->get_as<std::string>("ruleId") : nullptr;
      ids.push_back(id ? id->get() : "");
    }
    return ids;
  }

  std::optional<std::size_t> rule_index(const std::string& rule_id) const {
    const auto ids = rule_ids();
    const auto found = std::find(ids.begin(), ids.end(), rule_id);
    if (found == ids.end()) return std::nullopt;
    return static_cast<std::size_t>(found - ids.begin());
  }

  Result<std::size_t> find_rule(const std::string& rule_id) const {
    const auto ids = rule_ids();
    const auto count = std::count(ids.begin(), ids.end(), rule_id);
    if (count > 1)
      return Error::invalid("Two rules are called `" + rule_id + "`; rename one by hand first.");
    if (count == 1) return *rule_index(rule_id);
    const auto near = nearest_name(rule_id, ids);
    return Error::not_found("There is no rule `" + rule_id + "`" +
                            (near.empty() ? "." : "; did you mean `" + near + "`?"));
  }

  std::string nearest_value(std::size_t rule, const Path& path) const {
    std::vector<std::string> known;
    const auto collect = [&](const auto& self, const toml::table& table, Path at) -> void {
      for (const auto& [key, node] : table) {
        at.emplace_back(key.str());
        known.push_back(format_path(at));
        if (const auto* child = node.as_table()) self(self, *child, at);
        at.pop_back();
      }
    };
    const auto* values = find_node(model_, below(rule, {"values"}));
    if (values && values->is_table()) collect(collect, *values->as_table(), {});
    const auto near = nearest_name(format_path(path), known);
    return near.empty() ? "" : " Did you mean `" + near + "`?";
  }

  Result<Slot> slot_of(const RulePlace& place) const {
    using Where = RulePlace::Where;
    if (place.where == Where::first) return Slot{0};
    if (place.where == Where::last) return Slot{rule_count()};
    const auto neighbour = find_rule(place.rule_id);
    if (!neighbour) return neighbour.error();
    return place.where == Where::after ? Slot{*neighbour + 1, true} : Slot{*neighbour};
  }

  // The table of conditions that a single condition belongs to.
  Result<Address> clause_of(const std::string& rule_id) const {
    const auto rule = find_rule(rule_id);
    if (!rule) return rule.error();
    auto address = below(*rule, {"conditions"});
    const auto* node = find_node(model_, address);
    const auto* clauses = node ? node->as_array() : nullptr;
    if (!clauses || clauses->empty()) return address;
    if (clauses->size() > 1)
      return Error::invalid("Rule `" + rule_id + "` has " + std::to_string(clauses->size()) +
                            " alternative conditions, so it is not clear which of them to change; "
                            "set all its conditions at once.");
    address.emplace_back(std::size_t{0});
    return address;
  }

  Result<std::vector<Path>> unset_paths(const std::string& rule_id) const {
    const auto rule = find_rule(rule_id);
    if (!rule) return rule.error();
    std::vector<Path> paths;
    const auto* node = find_node(model_, below(*rule, {"unset"}));
    if (!node) return paths;
    if (!node->is_array()) return Error::invalid("`unset` of this rule is not an array.");
    for (const auto& element : *node->as_array()) {
      const auto text = element.value<std::string>();
      const auto path = text ? parse_path(*text) : Result<Path>(Path{});
      paths.push_back(path ? *path : Path{});
    }
    return paths;
  }

  Failure put_unset(const std::string& rule_id, const Path& path, bool add) {
    const auto rule = find_rule(rule_id);
    const auto address = below(*rule, {"unset"});
    const auto* node = find_node(model_, address);
    toml::array list = node ? *node->as_array() : toml::array{};
    if (add) {
      list.push_back(format_path(path));
    } else {
      const auto paths = *unset_paths(rule_id);
      for (auto i = paths.size(); i-- > 0;)
        if (paths[i] == path) list.erase(list.cbegin() + static_cast<std::ptrdiff_t>(i));
    }
    return list.empty() ? erase_at(address) : put_at(address, list);
  }

  Failure put_in_rule(const std::string& rule_id, const Path& path, const toml::node& value) {
    const auto rule = find_rule(rule_id);
    if (!rule) return rule.error();
    return put_at(below(*rule, path), value);
  }

  Failure put_at(const Address& address, const toml::node& value) {
    auto changed = model_;
    if (!set_node(changed, address, value)) return in_the_way(address);
    if (auto failure = take(put(text_, address, value, find_node(model_, address)))) return failure;
    model_ = std::move(changed);
    return done;
  }

  Error in_the_way(const Address& address) const {
    Address blocked;
    for (const auto& step : address) {
      blocked.push_back(step);
      const auto* node = find_node(model_, blocked);
      if (node && !node->is_table() && !(node->is_array() && blocked.size() == 1)) break;
    }
    Path path;
    for (std::size_t i = 3; i < blocked.size(); ++i)
      if (const auto* key = std::get_if<std::string>(&blocked[i])) path.push_back(*key);
    return Error::invalid("`" + format_path(path) +
                          "` is not a table, so nothing can be set below it; set it whole.");
  }

  Failure erase_at(const Address& address) {
    if (!find_node(model_, address)) return done;
    if (auto failure = take(erase(text_, address))) return failure;
    erase_node(model_, address);
    return done;
  }

  // Also the tables that are empty now, up to the rule; a table with comments in it stays.
  Failure erase_and_prune(Address address) {
    if (auto failure = erase_at(address)) return failure;
    for (address.pop_back(); address.size() > 2; address.pop_back()) {
      const auto* node = find_node(model_, address);
      const bool empty = node && ((node->is_table() && node->as_table()->empty()) ||
                                  (node->is_array() && node->as_array()->empty()));
      if (!empty || has_comments(address)) break;
      if (auto failure = erase_at(address)) return failure;
    }
    return done;
  }

  bool has_comments(const Address& address) const {
    const auto document = scan(text_);
    return document && std::any_of(document->sections.begin(), document->sections.end(),
                                   [&](const auto& section) {
                                     return section.path == address && section.has_comments;
                                   });
  }

  bool is_written(const Address& address) const {
    const auto document = scan(text_);
    return document && find(*document, address).kind != Place::Kind::none;
  }

  Failure take(Result<std::string> edited) {
    if (!edited) return edited.error();
    text_ = std::move(*edited);
    return done;
  }

  std::string text_;
  toml::table model_;
};

// A configuration that was right must not become wrong; one that is wrong already may be corrected
// step by step.
Failure spoiled(std::string_view before, std::string_view after) {
  const auto now = parse_toml(after, "");
  if (!has_errors(now.problems) || has_errors(parse_toml(before, "").problems)) return done;
  const auto& problem = *std::find_if(now.problems.begin(), now.problems.end(),
                                      [](const auto& p) { return p.severity == Severity::error; });
  return Error::config((problem.key.empty() ? "" : "`" + problem.key + "`: ") + problem.reason +
                       (problem.remedy.empty() ? "" : "; " + problem.remedy));
}

}  // namespace

Result<std::string> edit_text(std::string_view text, std::span<const Edit> edits) {
  auto model = parse_model(text);
  if (!model) return model.error();
  // Lines are easier when all of them end; a missing last line end is given back.
  const bool ends_open = !text.empty() && text.back() != '\n';
  std::string closed(text);
  if (ends_open) closed += line_break(text);
  Session session(std::move(closed), std::move(*model));
  for (const auto& edit : edits)
    if (auto failure = std::visit(session, edit)) return *failure;

  auto edited = session.text();
  while (ends_open && edited.ends_with(line_break(text)))
    edited.resize(edited.size() - line_break(text).size());
  const auto parsed = parse_model(edited);
  if (!parsed || !same(*parsed, session.model()))
    return Error::unsupported(
        "This layout allows no safe edit: the edited text would not mean what was asked for. "
        "Nothing was changed; edit the file by hand.");
  if (auto failure = spoiled(text, edited)) return *failure;
  return edited;
}

}  // namespace muster::rules

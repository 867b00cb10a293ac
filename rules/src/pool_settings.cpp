#include <algorithm>

#include <muster/rules/pool_settings.hpp>

namespace muster::rules {
namespace {

using std::string;

// Reads the evaluated document, complaining at the line that set each value.
class SettingsReader {
 public:
  SettingsReader(const Document& document, std::string_view worker_type, const KnownFacts* known)
      : document_(document),
        worker_type_(worker_type),
        known_(known),
        evaluation_(evaluate(document, {{"workerType", string(worker_type)}})) {}

  CheckedPoolSettings read() {
    PoolSettings& settings = result_.settings;
    settings.document = evaluation_.document;
    read_strings("providers", settings.providers);
    read_strings("teams", settings.teams);
    read_strings("publicWorkerKeys", settings.public_worker_keys);
    read_strings("placementStrategies", settings.placement_strategies);
    read_strategy(settings);
    read_string("owner", settings.owner);
    read_string("description", settings.description);
    read_capacity("minCapacity", settings.min_capacity);
    read_capacity("maxCapacity", settings.max_capacity);
    read_ratio(settings.scaling_ratio);
    if (const json::value* value = find("emailOnError")) {
      if (value->is_bool())
        settings.email_on_error = value->get_bool();
      else
        wrong("emailOnError", "must be true or false");
    }
    read_table("lifecycle", settings.lifecycle);
    read_table("payloadSchema", settings.payload_schema);
    for (const char* key : {"providers", "maxCapacity", "owner", "description"}) require(key);
    check_providers();
    const json::value *least = find("minCapacity"), *most = find("maxCapacity");
    if (least && least->is_int64() && most && most->is_int64() &&
        settings.min_capacity > settings.max_capacity)
      wrong("minCapacity", "is " + std::to_string(settings.min_capacity) +
                               ", more than maxCapacity, which is " +
                               std::to_string(settings.max_capacity));
    return std::move(result_);
  }

 private:
  const json::value* find(std::string_view key) const {
    return evaluation_.document.if_contains(key);
  }

  void add(Position at, string key, string reason, string remedy, string code) {
    result_.problems.push_back({Severity::error, document_.at(at), std::move(key),
                                std::move(reason), std::move(remedy), std::move(code)});
  }

  // The line that set `key` or, for a table, something in it.
  const Leaf* leaf_of(const string& key) const {
    const auto found = std::find_if(evaluation_.leaves.begin(), evaluation_.leaves.end(),
                                    [&](const Leaf& leaf) { return leaf.path.front() == key; });
    return found == evaluation_.leaves.end() ? nullptr : &*found;
  }

  void wrong(const string& key, string reason, string remedy = {}) {
    const Leaf* leaf = leaf_of(key);
    if (remedy.empty())
      remedy =
          leaf ? "correct it in the rule " + in_quotes(document_.rules[leaf->rule].rule_id) : "";
    add(leaf ? leaf->position : Position{}, key,
        "for the worker type " + in_quotes(worker_type_) + " it " + std::move(reason),
        std::move(remedy), "badPoolSetting");
  }

  void require(const string& key) {
    if (find(key)) return;
    const auto type = std::find_if(document_.worker_types.begin(), document_.worker_types.end(),
                                   [&](const WorkerType& t) { return t.name == worker_type_; });
    add(type == document_.worker_types.end() ? Position{} : type->position, key,
        "is missing for the worker type " + in_quotes(worker_type_),
        "set it in a rule that asks for no more than workerType", "missingPoolSetting");
  }

  void read_string(const string& key, string& into) {
    const json::value* value = find(key);
    if (!value) return;
    if (value->is_string() && !value->get_string().empty())
      into = string(value->get_string());
    else
      wrong(key, key == "strategy" ? "must be a name, or a table with a name"
                                   : "must be a string that is not empty");
  }

  // A name, or a table with the name and the settings of the strategy.
  void read_strategy(PoolSettings& settings) {
    const json::value* value = find("strategy");
    if (!value || !value->is_object()) return read_string("strategy", settings.strategy);
    settings.strategy_settings = value->get_object();
    const json::value* name = value->get_object().if_contains("name");
    if (!name) return;
    if (name->is_string() && !name->get_string().empty())
      settings.strategy = string(name->get_string());
    else
      wrong("strategy", "has a name that is empty or not a string",
            "write strategy = { name = \"classic\", ... }");
    settings.strategy_settings.erase("name");
  }

  void read_strings(const string& key, std::vector<string>& into) {
    const json::value* value = find(key);
    if (!value) return;
    if (!value->is_array()) return wrong(key, "must be a list of strings");
    for (const json::value& item : value->get_array()) {
      if (!item.is_string()) return wrong(key, "must be a list of strings");
      string name(item.get_string());
      if (std::find(into.begin(), into.end(), name) != into.end())
        wrong(key, "names " + in_quotes(name) + " twice");
      else
        into.push_back(std::move(name));
    }
    if (key == "providers" && into.empty())
      wrong(key, "names no provider, so no worker could ever start");
  }

  void read_capacity(const string& key, std::int64_t& into) {
    const json::value* value = find(key);
    if (!value) return;
    if (value->is_int64() && value->get_int64() >= 0)
      into = value->get_int64();
    else
      wrong(key, "must be a whole number that is not negative");
  }

  void read_ratio(double& into) {
    const json::value* value = find("scalingRatio");
    if (!value) return;
    if (value->is_number())
      into = value->to_number<double>();
    else
      wrong("scalingRatio", "must be a number");
  }

  void read_table(const string& key, json::object& into) {
    const json::value* value = find(key);
    if (!value) return;
    if (value->is_object())
      into = value->get_object();
    else
      wrong(key, "must be a table");
  }

  void check_providers() {
    if (!known_) return;
    const auto ids = known_->provider_ids();
    for (const string& id : result_.settings.providers) {
      if (known_->find(id)) continue;
      const string nearest = nearest_name(id, ids);
      string all;
      for (const string& name : ids) all += (all.empty() ? "" : ", ") + name;
      wrong("providers", "names " + in_quotes(id) + ", which is not a configured provider",
            nearest.empty() ? "known providers are " + all : "did you mean " + nearest + "?");
    }
  }

  const Document& document_;
  string worker_type_;
  const KnownFacts* known_;
  Evaluation evaluation_;
  CheckedPoolSettings result_;
};

}  // namespace

const std::vector<string>& pool_setting_names() {
  static const std::vector<string> names = {
      "providers", "strategy",      "minCapacity",     "maxCapacity", "scalingRatio",
      "owner",     "description",   "emailOnError",    "lifecycle",   "placementStrategies",
      "teams",     "payloadSchema", "publicWorkerKeys"};
  return names;
}

bool is_pool_setting(std::string_view name) {
  const auto& names = pool_setting_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

json::object launch_document(const json::object& evaluated) {
  json::object document;
  for (const auto& [key, value] : evaluated)
    if (!is_pool_setting(key)) document.emplace(key, value);
  return document;
}

CheckedPoolSettings pool_settings(const Document& document, std::string_view worker_type,
                                  const KnownFacts* known) {
  return SettingsReader(document, worker_type, known).read();
}

}  // namespace muster::rules

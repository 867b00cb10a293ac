#include "cli/import/convert.hpp"

#include <algorithm>

#include "cli/import/cleaning.hpp"
#include "cli/import/documents.hpp"

namespace muster::importing {
namespace {

constexpr std::size_t most_launch_configs = 5'000, longest_worker_type = 38;

bool is_provider_id(const std::string& text) {
  return !text.empty() && text.size() <= 38 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  });
}

std::string name_of(const json::object& launch_config, std::size_t index) {
  const json::object* settings = table_in(launch_config, "workerManager");
  const std::string id = settings ? text_in(*settings, "launchConfigId") : "";
  return "launch configuration " + std::to_string(index + 1) +
         (is_provider_id(id) ? " (" + id + ")" : "");
}

// What concerns the pool as a whole.
json::object settings_of(const json::object& pool, const json::object& config,
                         const std::string& provider_id, PoolReport& report) {
  json::object settings{{"providers", json::array{json::string(provider_id)}},
                        {"strategy", "estimator"}};
  for (const char* key : {"minCapacity", "maxCapacity", "scalingRatio"})
    if (const json::value* value = config.if_contains(key)) settings[key] = *value;
  settings["owner"] = text_in(pool, "owner");
  const std::string description = text_in(pool, "description");
  settings["description"] =
      description.empty() ? "Imported from " + report.worker_pool_id : description;
  if (const json::value* value = pool.if_contains("emailOnError"); value && value->is_bool())
    settings["emailOnError"] = *value;
  json::object lifecycle;
  const json::object* given = table_in(config, "lifecycle");
  for (const auto& [key, value] : given ? *given : json::object()) {
    if (key == "registrationTimeout" || key == "reregistrationTimeout" ||
        key == "queueInactivityTimeout")
      lifecycle[key] = value;
    else
      report.lose("", "config.lifecycle." + std::string(key), "muster has no such setting");
  }
  if (!lifecycle.empty()) settings["lifecycle"] = std::move(lifecycle);
  for (const auto& [key, value] : config)
    if (key != "launchConfigs" && key != "lifecycle" && !settings.contains(key))
      report.lose("", "config." + std::string(key), "muster has no such setting");
  return settings;
}

std::vector<LaunchChoice> choices_of(const Cloud& cloud, const json::array& launch_configs,
                                     const Knowledge& knowledge, PoolReport& report) {
  std::vector<LaunchChoice> choices;
  for (std::size_t i = 0; i < launch_configs.size(); ++i) {
    const json::object* given = launch_configs[i].if_object();
    const std::string name = name_of(given ? *given : json::object(), i);
    if (!given || cloud_of(*given) != &cloud) {
      report.lose(name, "", given ? "it is of another cloud than the first" : "it is no table");
      continue;
    }
    const auto cleaned =
        clean(*given, [&](const auto& path, const auto& why) { report.lose(name, path, why); });
    auto choice = cleaned ? read_choice(cloud, *cleaned, name, knowledge, report)
                          : Result<LaunchChoice>(cleaned.error());
    if (choice)
      choices.push_back(std::move(*choice));
    else
      report.lose(name, "", choice.error().message);
  }
  return choices;
}

std::vector<std::string> comments_for(const PoolReport& report) {
  std::vector<std::string> comments = {
      "Imported from Taskcluster's worker pool " + report.worker_pool_id +
      ". The strategy estimator sizes a pool as Taskcluster does."};
  for (const std::string& decision : report.decisions) comments.push_back("Decide: " + decision);
  for (const Loss& loss : report.losses) {
    std::string text = "Not carried over: ";
    for (const std::string& part : {loss.launch_config, loss.path})
      if (!part.empty()) text += part + ": ";
    comments.push_back(text + loss.reason);
  }
  return comments;
}

// "aws.launch.Foo[0].Bar" as keys and indexes ("#0").
std::vector<std::string> steps_of(const std::string& key) {
  std::vector<std::string> steps(1);
  bool quoted = false;
  for (const char c : key) {
    if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == '.') {
      steps.emplace_back();
    } else if (!quoted && c == '[') {
      steps.emplace_back("#");
    } else if (quoted || c != ']') {
      steps.back() += c;
    }
  }
  return steps;
}

bool erase_at(json::value& value, const std::vector<std::string>& steps, std::size_t at) {
  if (json::object* table = value.if_object(); table && at < steps.size()) {
    json::value* below = table->if_contains(steps[at]);
    if (!below) return false;
    if (at + 1 < steps.size() && erase_at(*below, steps, at + 1)) return true;
    // The last key there is; of a whole item in a list, the list.
    const bool is_item = at + 2 == steps.size() && steps[at + 1].starts_with("#");
    if (at + 1 < steps.size() && !is_item) return false;
    return take(*table, steps[at]), true;
  }
  json::array* list = value.if_array();
  if (!list || at >= steps.size() || !steps[at].starts_with("#")) return false;
  const std::size_t index = std::strtoul(steps[at].c_str() + 1, nullptr, 10);
  return index < list->size() && erase_at((*list)[index], steps, at + 1);
}

}  // namespace

std::vector<std::string> worker_types_of(const std::vector<TaskclusterPool>& pools) {
  std::map<std::string, int> uses;
  const auto own = [](const TaskclusterPool& pool) {
    return pool.worker_pool_id.substr(pool.worker_pool_id.find('/') + 1);
  };
  for (const TaskclusterPool& pool : pools) ++uses[own(pool)];
  std::vector<std::string> names;
  for (const TaskclusterPool& pool : pools) {
    std::string name = own(pool);
    if (uses[name] > 1) {
      std::string provisioner = pool.worker_pool_id.substr(0, pool.worker_pool_id.find('/'));
      for (char& c : provisioner) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (c == '_') c = '-';
      }
      name = provisioner + "-" + name;
      if (name.front() < 'a' || name.front() > 'z') name = "p" + name;
    }
    name = name.substr(0, longest_worker_type);
    while (name.ends_with('-')) name.pop_back();
    names.push_back(std::move(name));
  }
  return names;
}

std::optional<Converted> convert(const TaskclusterPool& pool, const std::string& worker_type,
                                 const ConvertOptions& options, PoolReport& report) {
  const auto refuse = [&](std::string why) {
    report.refused = std::move(why);
    return std::nullopt;
  };
  report.worker_pool_id = pool.worker_pool_id;
  report.worker_type = worker_type;
  const std::string there = text_in(pool.document, "providerId");
  if (!is_provider_id(there)) return refuse("its providerId is no name of a provider");
  const auto mapped = options.providers.find(there);
  report.provider_id = mapped == options.providers.end() ? there : mapped->second;
  const json::object* config = table_in(pool.document, "config");
  const json::value* listed = config ? config->if_contains("launchConfigs") : nullptr;
  if (!listed || !listed->is_array())
    return refuse(
        "it has no launch configurations in config.launchConfigs; pools of the providers "
        "static and null-provider have none, and templates of pools must be filled in "
        "first (tc-admin generate --json)");
  const json::array& launch_configs = listed->get_array();
  report.launch_configs = launch_configs.size();
  if (launch_configs.size() > most_launch_configs)
    return refuse("it has more than " + std::to_string(most_launch_configs) +
                  " launch configurations");
  const Cloud* cloud = nullptr;
  for (const json::value& each : launch_configs)
    if (!cloud && each.is_object()) cloud = cloud_of(each.get_object());
  if (!cloud)
    return refuse(
        "none of its launch configurations is one of the providers aws, google and azure");

  Converted made{.cloud = cloud};
  auto settings = clean(settings_of(pool.document, *config, report.provider_id, report),
                        [&](const auto& path, const auto& why) { report.lose("", path, why); });
  if (!settings) return refuse(settings.error().message);
  const auto choices = choices_of(*cloud, launch_configs, options.knowledge, report);
  std::vector<Place> places = gather(*cloud, choices, report);
  if (places.empty()) return refuse("none of its launch configurations can be carried over");
  if (cloud->shorten) cloud->shorten(places, report);
  made.parts = {worker_type, report.provider_id, {}, std::move(*settings), std::move(places)};
  if (!write_text(made, report)) return std::nullopt;
  return made;
}

bool write_text(Converted& converted, PoolReport& report) {
  converted.parts.comments = comments_for(report);
  auto text = configuration_text(*converted.cloud, converted.parts);
  if (!text) report.refused = text.error().message;
  if (text) converted.text = std::move(*text);
  return report.refused.empty();
}

bool leave_out(Converted& converted, const std::string& key) {
  const std::string mark = ".values.";
  const auto at = key.find(mark);
  const auto steps = steps_of(at == key.npos ? key : key.substr(at + mark.size()));
  bool found = false;
  for (Place& place : converted.parts.places) {
    json::value document = place.document;
    if (!erase_at(document, steps, 0)) continue;
    place.document = std::move(document.get_object());
    found = true;
  }
  return found;
}

}  // namespace muster::importing

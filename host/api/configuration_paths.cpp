// What the API shows of worker configurations, of the providers they are evaluated for, and of
// demand.

#include <muster/codec.hpp>
#include <muster/rules/explanation.hpp>

#include "host/api/fleet_api.hpp"
#include "host/api/fleet_json.hpp"
#include "host/api/rule_behind.hpp"
#include "lib/base/log_line.hpp"

namespace muster::api {
namespace {

using http::error_answer;
using http::json_answer;
using http::Request;
using http::Response;
using pools::SourceFiles;

constexpr auto placements_wait = std::chrono::seconds(10);

Response show_configurations(const Request&, const Query&, FleetRuntime& host) {
  const auto status = host.configuration_status();
  if (status) return json_answer(pools::to_json(*status));
  return json_answer(json::object{{"source", nullptr},
                                  {"note", "the host configuration has no workerConfigurations"}});
}

Response reload_configurations(const Request& request, const Query& query, FleetRuntime& host) {
  host.reload_worker_configurations();
  return show_configurations(request, query, host);
}

// -------------------------------------------------------------------------------------------------
// Files

Result<std::shared_ptr<const SourceFiles>> files_of(const Query& query, FleetRuntime& host) {
  const auto refused = query.flag("refused");
  if (!refused) return refused.error();
  if (auto files = host.configuration_files(*refused)) return files;
  if (*refused) return Error::not_found("nothing is refused: the newest files serve");
  return Error::not_found(
      host.configuration_status()
          ? "no worker configuration was accepted since the host started; see: muster status"
          : "the host configuration has no workerConfigurations");
}

std::string id_of(const rules::SourceFile& file) {
  return std::filesystem::path(file.name).stem().string();
}

json::array worker_types_of(const rules::ConfigurationSet& set, const std::string& id) {
  json::array types;
  if (const rules::Document* document = set.find(id))
    for (const rules::WorkerType& type : document->worker_types) types.emplace_back(type.name);
  return types;
}

Response list_files(const Request& request, const Query& query, FleetRuntime& host) {
  const auto files = files_of(query, host);
  if (!files) return refusal(request, files.error());
  const auto set = rules::ConfigurationSet::from_files((*files)->files);
  json::array shown;
  for (const rules::SourceFile& file : (*files)->files)
    shown.push_back(json::object{{"configurationId", id_of(file)},
                                 {"file", file.name},
                                 {"bytes", file.text.size()},
                                 {"workerTypes", worker_types_of(set, id_of(file))}});
  return json_answer(json::object{{"revision", (*files)->revision}, {"files", std::move(shown)}});
}

Response show_file(const Request& request, const Query& query, FleetRuntime& host) {
  const auto files = files_of(query, host);
  if (!files) return refusal(request, files.error());
  const std::string& id = request.path_parameter("configurationId");
  for (const rules::SourceFile& file : (*files)->files) {
    if (id_of(file) != id) continue;
    const auto set = rules::ConfigurationSet::from_files(std::span(&file, 1));
    return json_answer(json::object{{"configurationId", id},
                                    {"file", file.name},
                                    {"revision", (*files)->revision},
                                    {"bytes", file.text.size()},
                                    {"workerTypes", worker_types_of(set, id)},
                                    {"text", valid_utf8(file.text)}});
  }
  return error_answer(request, 404, "ResourceNotFound",
                      "there is no worker configuration " + id +
                          "; GET /api/muster/v1/worker-configurations/files lists them");
}

// -------------------------------------------------------------------------------------------------
// Evaluated and explained

struct Subject {
  std::shared_ptr<const SourceFiles> files;
  rules::ConfigurationSet set;  // owns the document
  const rules::Document* document = nullptr;
  rules::Facts facts;
};

// "worker-manager/build" → "build"; nothing if no file can make such a pool.
std::optional<std::string> worker_type_of(const std::string& pool) {
  const std::string type = pool.substr(pool.find('/') + 1);
  if (pools::worker_pool_of(type).str() != pool) return std::nullopt;
  return type;
}

// The facts for which a launch configuration was evaluated.
Result<rules::Facts> facts_of_launch_config(FleetRuntime& host, const WorkerPoolId& id,
                                            const std::string& launch_config_id) {
  std::optional<rules::Facts> facts;
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now) {
    const fleet::Pool* pool = fleet.find_pool(id);
    if (!pool) return;
    for (const fleet::Index at : pool->launch_configs) {
      const fleet::LaunchConfigSpec& spec = *fleet.launch_configs()[at].spec;
      if (spec.launch_config.launch_config_id.str() != launch_config_id) continue;
      facts.emplace();
      for (const auto& [name, value] : spec.launch_config.placement.facts) (*facts)[name] = value;
      (*facts)["provider"] = spec.provider_id.str();
    }
  });
  if (facts) return std::move(*facts);
  return Error::not_found("worker pool " + id.str() + " has no launch configuration " +
                          launch_config_id + "; see: muster pool " + id.str());
}

Result<Subject> subject_of(const Query& query, FleetRuntime& host) {
  const std::string pool = query.text("workerPoolId");
  const auto type = worker_type_of(pool);
  if (pool.empty())
    return Error::invalid("say which pool with `workerPoolId`, such as worker-manager/build");
  auto files = files_of(query, host);
  if (!files) return files.error();
  Subject subject{*files, rules::ConfigurationSet::from_files((*files)->files), nullptr, {}};
  subject.document = type ? subject.set.find_by_worker_type(*type) : nullptr;
  if (!subject.document)
    return Error::not_found("no worker configuration has the worker type of " + pool +
                            "; pools that were made through the API are not evaluated from rules");
  if (const auto id = query.find("launchConfigId")) {
    auto facts = facts_of_launch_config(host, WorkerPoolId(pool), *id);
    if (!facts) return facts.error();
    subject.facts = std::move(*facts);
  }
  subject.facts["workerType"] = *type;
  for (const std::string& fact : query.all("fact")) {
    const std::size_t equals = fact.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error::invalid("`fact` is name=value, such as fact=region%3Dus-east-1, not " + fact);
    subject.facts[fact.substr(0, equals)] = fact.substr(equals + 1);
  }
  return subject;
}

Response evaluate(const Request& request, const Query& query, FleetRuntime& host) {
  const auto subject = subject_of(query, host);
  if (!subject) return refusal(request, subject.error());
  json::object answer = rules::explanation(*subject->document, subject->facts,
                                           rules::evaluate(*subject->document, subject->facts), {});
  answer.erase("values");
  answer.erase("deleted");
  answer["revision"] = subject->files->revision;
  return json_answer(answer);
}

Response explain(const Request& request, const Query& query, FleetRuntime& host) {
  const auto subject = subject_of(query, host);
  if (!subject) return refusal(request, subject.error());
  rules::Path key;
  if (const auto given = query.find("key")) {
    auto path = rules::parse_path(*given);
    if (!path) return refusal(request, Error::invalid("`key`: " + path.error().message));
    key = std::move(*path);
  }
  const auto evaluation = rules::evaluate(*subject->document, subject->facts);
  json::object answer = rules::explanation(*subject->document, subject->facts, evaluation, key);
  if (!key.empty() && answer["values"].as_array().empty() && answer["deleted"].as_array().empty()) {
    const std::string text = rules::format_path(key);
    const std::string near = rules::nearest_name(text, rules::keys_of(evaluation));
    return error_answer(request, 404, "ResourceNotFound",
                        "no rule that applies sets `" + text + "`" +
                            (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }
  answer["revision"] = subject->files->revision;
  return json_answer(answer);
}

// -------------------------------------------------------------------------------------------------
// Providers and demand

Response show_provider(const Request& request, const Query&, FleetRuntime& host) {
  const ProviderId id(request.path_parameter("providerId"));
  json::object document;
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now) {
    for (const fleet::ProviderState& provider : fleet.providers())
      if (provider.id == id) document = provider_document(fleet, provider);
  });
  const auto facts = host.provider_facts(id, placements_wait);
  if (!facts && document.empty())
    return error_answer(request, 404, "ResourceNotFound",
                        "there is no provider " + id.str() + "; see: muster status");
  if (document.empty()) document["providerId"] = id.str();
  if (!facts) document["problem"] = "it is no longer in the host's configuration";
  if (facts && facts->unavailable) document["problem"] = facts->unavailable->message;
  if (facts && !facts->description.name.empty()) {
    document["description"] = codec::to_value(facts->description);
    json::array placements;
    for (const Placement& placement : facts->placements)
      placements.push_back(codec::to_value(placement.facts));
    document["placements"] = std::move(placements);
  }
  return json_answer(document);
}

Response show_demand(const Request&, const Query&, FleetRuntime& host) {
  return json_answer(json::object{{"sources", demand::to_json(host.demand_status())}});
}

}  // namespace

std::optional<json::object> rule_behind(FleetRuntime& host, const WorkerPoolId& pool,
                                        const LaunchConfigId& launch_config,
                                        const std::string& key) {
  const auto files = host.configuration_files(false);
  const auto type = worker_type_of(pool.str());
  const auto path = rules::parse_path(key);
  if (!files || !type || !path) return std::nullopt;
  const auto set = rules::ConfigurationSet::from_files(files->files);
  const rules::Document* document = set.find_by_worker_type(*type);
  if (!document) return std::nullopt;
  rules::Facts facts;
  if (!launch_config.empty()) {
    auto placed = facts_of_launch_config(host, pool, launch_config.str());
    if (!placed) return std::nullopt;
    facts = std::move(*placed);
  }
  facts["workerType"] = *type;
  const auto evaluation = rules::evaluate(*document, facts);
  for (const rules::Leaf& leaf : evaluation.leaves)
    if (rules::is_below(leaf.path, *path)) return rules::to_json(*document, leaf);
  return std::nullopt;
}

void add_configuration_paths(Paths& paths) {
  const std::string base = "worker-configurations";
  paths.work("GET", base, {}, show_configurations);
  paths.work("POST", base + "/reload", {}, reload_configurations);
  paths.work("GET", base + "/files", {"refused"}, list_files);
  paths.work("GET", base + "/files/{configurationId}", {"refused"}, show_file);
  paths.work("GET", base + "/evaluate", {"workerPoolId", "launchConfigId", "fact[]", "refused"},
             evaluate);
  paths.work("GET", base + "/explain",
             {"workerPoolId", "launchConfigId", "fact[]", "key", "refused"}, explain);
  paths.work("GET", "providers/{providerId}", {}, show_provider);
  paths.work("GET", "demand", {}, show_demand);
}

}  // namespace muster::api

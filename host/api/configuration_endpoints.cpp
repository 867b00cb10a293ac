// What the API shows of worker configurations, of the providers they are evaluated for, and of
// demand.

#include <mutex>

#include <muster/codec.hpp>
#include <muster/rules/explanation.hpp>
#include <muster/utf8.hpp>

#include "host/api/fleet_json.hpp"
#include "host/api/handlers.hpp"
#include "host/api/query_parameters.hpp"
#include "host/api/responsible_rule.hpp"

namespace muster::api {
namespace {

using pools::SourceFiles;

constexpr auto placements_wait = std::chrono::seconds(10);
constexpr auto check_wait = std::chrono::seconds(5);

Answer show_configurations(const Call& call) {
  const auto status = services_of(call).configuration_status();
  if (status) return json_answer(pools::to_json(*status));
  return json_answer(json::object{{"source", nullptr},
                                  {"note", "the host configuration has no workerConfigurations"}});
}

Answer reload_configurations(const Call& call) {
  services_of(call).reload_worker_configurations();
  return show_configurations(call);
}

Answer accept_what_is_left(const Call& call) {
  const Services& services = services_of(call);
  if (!services.accept_what_is_left)
    return Failure{"ServiceUnavailable", "this host reads no worker configurations"};
  if (const auto accepted = services.accept_what_is_left(); !accepted)
    return to_failure(accepted.error());
  const std::string& by = call.caller()->client_id;
  const auto status = services.configuration_status();
  const std::string source = status ? status->source : "";
  events::Event event;
  event.kind = "configuration-emptied";
  event.text = by + " has accepted that worker configurations of " + source + " are gone";
  event.details = {{"by", by}, {"source", source}};
  services.fleet->post([event = std::move(event)](fleet::Fleet& fleet, fleet::Now now) {
    fleet.emit_event(event, now);
  });
  return show_configurations(call);
}

// Builds them as if they were the newest ones, with the providers that run now; nothing comes of
// it. One at a time: a second one would take the last thread from all other endpoints.
Answer check_configurations(const Call& call) {
  const Services& services = services_of(call);
  const std::unique_lock alone(*services.configuration_check, std::try_to_lock);
  if (!alone)
    return Failure{"ServiceUnavailable",
                   "the host checks other worker configurations now, and it checks one request at "
                   "a time; ask again in a few seconds",
                   check_wait};
  std::vector<rules::SourceFile> files;
  for (const json::value& item : call.body().at("files").as_array()) {
    const json::object& file = item.as_object();
    files.push_back(
        {std::string(file.at("name").as_string()), std::string(file.at("text").as_string())});
  }
  pools::Builder builder;
  return json_answer(
      pools::to_json(builder.build(files, "", services.provider_context(), services.expand)));
}

// -------------------------------------------------------------------------------------------------
// Files

Result<std::shared_ptr<const SourceFiles>> files_of(const Call& call) {
  const auto refused = call.query().flag("refused");
  if (!refused) return refused.error();
  if (auto files = services_of(call).configuration_files(*refused)) return files;
  if (*refused) return Error::not_found("nothing is refused: the newest files serve");
  return Error::not_found(
      services_of(call).configuration_status()
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

Answer list_files(const Call& call) {
  const auto files = files_of(call);
  if (!files) return to_failure(files.error());
  const auto set = rules::ConfigurationSet::from_files((*files)->files);
  json::array shown;
  for (const rules::SourceFile& file : (*files)->files)
    shown.push_back(json::object{{"configurationId", id_of(file)},
                                 {"file", file.name},
                                 {"bytes", file.text.size()},
                                 {"workerTypes", worker_types_of(set, id_of(file))}});
  return json_answer(json::object{{"revision", (*files)->revision}, {"files", std::move(shown)}});
}

Answer show_file(const Call& call) {
  const auto files = files_of(call);
  if (!files) return to_failure(files.error());
  const std::string& id = call.parameter("configurationId");
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
  return not_found("there is no worker configuration " + id +
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
  std::string type = pool.substr(pool.find('/') + 1);
  if (pools::worker_pool_of(type).str() != pool) return std::nullopt;
  return type;
}

// The facts for which a launch configuration was evaluated.
Result<rules::Facts> facts_of_launch_config(const Call& call, const WorkerPoolId& id,
                                            const std::string& launch_config_id) {
  std::optional<rules::Facts> facts;
  call.host().fleet->read([&](const fleet::Fleet& fleet, fleet::Now) {
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

Result<Subject> subject_of(const Call& call) {
  const std::string pool = call.query().text("workerPoolId");
  const auto type = worker_type_of(pool);
  if (pool.empty())
    return Error::invalid("say which pool with `workerPoolId`, such as worker-manager/build");
  auto files = files_of(call);
  if (!files) return files.error();
  Subject subject{*files, rules::ConfigurationSet::from_files((*files)->files), nullptr, {}};
  subject.document = type ? subject.set.find_by_worker_type(*type) : nullptr;
  if (!subject.document)
    return Error::not_found("no worker configuration has the worker type of " + pool +
                            "; pools that were made through the API are not evaluated from rules");
  if (const auto id = call.query().optional_text("launchConfigId")) {
    auto facts = facts_of_launch_config(call, WorkerPoolId(pool), *id);
    if (!facts) return facts.error();
    subject.facts = std::move(*facts);
  }
  subject.facts["workerType"] = *type;
  for (const std::string& fact : call.query().all("fact")) {
    const std::size_t equals = fact.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error::invalid("`fact` is name=value, such as fact=region%3Dus-east-1, not " + fact);
    subject.facts[fact.substr(0, equals)] = fact.substr(equals + 1);
  }
  return subject;
}

Answer evaluate(const Call& call) {
  const auto subject = subject_of(call);
  if (!subject) return to_failure(subject.error());
  json::object answer = rules::explanation(*subject->document, subject->facts,
                                           rules::evaluate(*subject->document, subject->facts), {});
  answer.erase("values");
  answer.erase("deleted");
  answer["revision"] = subject->files->revision;
  return json_answer(answer);
}

Answer explain(const Call& call) {
  const auto subject = subject_of(call);
  if (!subject) return to_failure(subject.error());
  rules::Path key;
  if (const auto given = call.query().find("key")) {
    auto path = rules::parse_path(std::string(*given));
    if (!path) return to_failure(Error::invalid("`key`: " + path.error().message));
    key = std::move(*path);
  }
  const auto evaluation = rules::evaluate(*subject->document, subject->facts);
  json::object answer = rules::explanation(*subject->document, subject->facts, evaluation, key);
  if (!key.empty() && answer["values"].as_array().empty() && answer["deleted"].as_array().empty()) {
    const std::string text = rules::format_path(key);
    const std::string near = rules::nearest_name(text, rules::keys_of(evaluation));
    return not_found("no rule that applies sets `" + text + "`" +
                     (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }
  answer["revision"] = subject->files->revision;
  return json_answer(answer);
}

// -------------------------------------------------------------------------------------------------
// Providers and demand

Answer show_provider(const Call& call) {
  const ProviderId id(call.parameter("providerId"));
  json::object document;
  call.host().fleet->read([&](const fleet::Fleet& fleet, fleet::Now) {
    for (const fleet::ProviderState& provider : fleet.providers())
      if (provider.id == id) document = provider_document(fleet, provider);
  });
  const auto facts = services_of(call).provider_facts(id, placements_wait);
  if (!facts && document.empty())
    return not_found("there is no provider " + id.str() + "; see: muster status");
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

Answer show_demand(const Call& call) {
  return json_answer(json::object{{"sources", demand::to_json(services_of(call).demand_status())}});
}

}  // namespace

std::optional<json::object> find_responsible_rule(const Call& call, const WorkerPoolId& pool,
                                                  const LaunchConfigId& launch_config,
                                                  const std::string& key) {
  const auto files = services_of(call).configuration_files(false);
  const auto type = worker_type_of(pool.str());
  const auto path = rules::parse_path(key);
  if (!files || !type || !path) return std::nullopt;
  const auto set = rules::ConfigurationSet::from_files(files->files);
  const rules::Document* document = set.find_by_worker_type(*type);
  if (!document) return std::nullopt;
  rules::Facts facts;
  if (!launch_config.empty()) {
    auto placed = facts_of_launch_config(call, pool, launch_config.str());
    if (!placed) return std::nullopt;
    facts = std::move(*placed);
  }
  facts["workerType"] = *type;
  const auto evaluation = rules::evaluate(*document, facts);
  for (const rules::Leaf& leaf : evaluation.leaves)
    if (rules::is_below(leaf.path, *path)) return rules::to_json(*document, leaf);
  return std::nullopt;
}

std::vector<Endpoint> configuration_endpoints() {
  return {
      {.name = "getWorkerConfigurations",
       .method = "GET",
       .path = base + "/worker-configurations",
       .scopes = all_of({"muster:get:worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{show_configurations},
       .output = "WorkerConfigurations",
       .errors = {unavailable},
       .category = "worker configurations",
       .title = "Where they come from, what serves, and what is wrong with file, line and column"},
      {.name = "reloadWorkerConfigurations",
       .method = "POST",
       .path = base + "/worker-configurations/reload",
       .scopes = all_of({"muster:reload-worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{reload_configurations},
       .audit = audited(),
       .output = "WorkerConfigurations",
       .errors = {unavailable},
       .category = "worker configurations",
       .title = "Look at the source now",
       .description = "The answer tells the state from before the look."},
      {.name = "checkWorkerConfigurations",
       .method = "POST",
       .path = base + "/worker-configurations/check",
       .scopes = all_of({"muster:check-worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{check_configurations},
       .input = "WorkerConfigurationFiles",
       .audit = not_audited("it changes nothing: it judges files"),
       .output = "WorkerConfigurationCheck",
       .errors = {bad_input, unavailable},
       .category = "worker configurations",
       .title = "What this host would say to these files",
       .description = "They are judged with the providers and strategies of this host, as if they "
                      "were the newest ones. Nothing is kept and nothing changes. The host "
                      "checks one request at a time, and answers others with 503."},
      {.name = "acceptEmptyWorkerConfigurations",
       .method = "POST",
       .path = base + "/worker-configurations/accept-empty",
       .scopes = all_of({"muster:accept-empty-worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{accept_what_is_left},
       .audit = audited(),
       .output = "WorkerConfigurations",
       .errors = {bad_input, unavailable},
       .category = "worker configurations",
       .title = "Decide that worker configurations which are gone are really to go",
       .description =
           "While `heldBack` is true the last ones stay in force. This ends it: what the "
           "source holds now counts, though it is nothing or lacks most, and the pools "
           "that are no longer there end. The answer tells the state from before."},
      {.name = "listConfigurationFiles",
       .method = "GET",
       .path = base + "/worker-configurations/files",
       .scopes = all_of({"muster:get:worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{list_files},
       .query = {parameter::refused},
       .output = "ConfigurationFileList",
       .errors = {bad_input, missing, unavailable},
       .category = "worker configurations",
       .title = "The files of the revision that serves"},
      {.name = "getConfigurationFile",
       .method = "GET",
       .path = base + "/worker-configurations/files/{configurationId}",
       .scopes = all_of({"muster:get:worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{show_file},
       .query = {parameter::refused},
       .output = "ConfigurationText",
       .errors = {bad_input, missing, unavailable},
       .category = "worker configurations",
       .title = "A file as it was written"},
      {.name = "evaluate",
       .method = "GET",
       .path = base + "/worker-configurations/evaluate",
       .scopes = all_of({"muster:get:worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{evaluate},
       .query = {parameter::evaluated_pool, parameter::evaluated_launch_config, parameter::fact,
                 parameter::refused},
       .output = "Evaluation",
       .errors = {bad_input, missing, unavailable},
       .category = "worker configurations",
       .title = "What the rules come to for a pool and some facts",
       .description = "With the pool alone: the pool settings."},
      {.name = "explain",
       .method = "GET",
       .path = base + "/worker-configurations/explain",
       .scopes = all_of({"muster:get:worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{explain},
       .query = {parameter::evaluated_pool, parameter::evaluated_launch_config, parameter::fact,
                 parameter::key, parameter::refused},
       .output = "Explanation",
       .errors = {bad_input, missing, unavailable},
       .category = "worker configurations",
       .title = "Which rule set each value, and what it replaced"},
      {.name = "getProvider",
       .method = "GET",
       .path = base + "/providers/{providerId}",
       .scopes = all_of({"muster:get:providers"}),
       .handler = OnWorkerThreadWithFleet{show_provider},
       .output = "ProviderDetail",
       .errors = {missing, unavailable},
       .category = "providers",
       .title = "A provider with its facts, placements and capabilities; asks it, for 10 seconds "
                "at most"},
      {.name = "listDemandSources",
       .method = "GET",
       .path = base + "/demand",
       .scopes = all_of({"muster:get:demand"}),
       .handler = OnWorkerThreadWithFleet{show_demand},
       .output = "DemandSourceList",
       .errors = {unavailable},
       .category = "pools",
       .title = "The sources of demand, and what they say"},
  };
}

}  // namespace muster::api

#include "host/pools/launch_specs.hpp"

#include <algorithm>

#include <muster/rules/content_hash.hpp>
#include <muster/rules/problem.hpp>

#include "host/identifiers/identifiers.hpp"
#include "host/pools/queue_section.hpp"

namespace muster::pools {
namespace {

const std::string manager_key = "workerManager", config_key = "workerConfig";

// A pointer of a violation as a path; inside an array it stops, and the rest is text.
Finding to_finding(const json::Violation& violation, const std::string& section,
                   const json::value& instance) {
  Finding finding{{section}, violation.message, {}, "badSection"};
  if (violation.schema_path.ends_with("/required")) finding.code = missing_in_section;
  const json::value* here = &instance;
  std::string inside, pointer = violation.path;
  while (!pointer.empty()) {
    const auto end = std::min(pointer.find('/', 1), pointer.size());
    std::string part = pointer.substr(1, end - 1);
    pointer.erase(0, end);
    for (std::size_t at = 0; (at = part.find('~', at)) != std::string::npos; ++at)
      part.replace(at, 2, part.compare(at, 2, "~1") == 0 ? "/" : "~");
    if (inside.empty() && here && here->is_object()) {
      finding.path.push_back(part);
      here = here->get_object().if_contains(part);
      continue;
    }
    const bool index =
        std::all_of(part.begin(), part.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
    inside += index ? "[" + part + "]" : "." + part;
  }
  if (!inside.empty()) finding.reason = finding.path.back() + inside + ": " + finding.reason;
  return finding;
}

class ManagerReader {
 public:
  explicit ManagerReader(const json::object& table) : table_(table) {}

  WorkerManagerSection read(const std::vector<std::string>& also) {
    std::vector<std::string> known = {"capacityPerInstance", "initialWeight", "maxCapacity"};
    known.insert(known.end(), also.begin(), also.end());
    for (const auto& [key, value] : table_)
      if (std::find(known.begin(), known.end(), key) == known.end())
        section_.findings.push_back(
            unknown_key({manager_key}, std::string(key), known, "unknownWorkerManagerKey"));
    read_integer("capacityPerInstance", 1, section_.capacity_per_instance);
    read_integer("maxCapacity", 0, section_.max_capacity);
    if (const json::value* weight = table_.if_contains("initialWeight")) {
      const double number = weight->is_number() ? weight->to_number<double>() : -1;
      if (number >= 0 && number <= 1)
        section_.initial_weight = number;
      else
        wrong("initialWeight", *weight, "a number from 0 to 1");
    }
    if (const json::value* id = table_.if_contains("launchConfigId")) {
      if (id->is_string() && identifiers::is_name(id->get_string()))
        section_.launch_config_id = std::string(id->get_string());
      else
        wrong("launchConfigId", *id, std::string(identifiers::name.words));
    }
    return std::move(section_);
  }

 private:
  void wrong(const char* key, const json::value& value, const std::string& wanted) {
    section_.findings.push_back({{manager_key, key},
                                 "is " + json::write(value) + ", but must be " + wanted,
                                 {},
                                 "badWorkerManagerValue"});
  }
  void read_integer(const char* key, std::int64_t least, std::optional<std::int64_t>& into) {
    const json::value* value = table_.if_contains(key);
    if (!value) return;
    if (value->is_int64() && value->get_int64() >= least)
      into = value->get_int64();
    else
      wrong(key, *value, "a whole number from " + std::to_string(least));
  }

  const json::object& table_;
  WorkerManagerSection section_;
};

}  // namespace

WorkerManagerSection read_worker_manager(const json::object& document,
                                         const std::vector<std::string>& also) {
  WorkerManagerSection section;
  const json::value* worker_config = document.if_contains(config_key);
  const json::value* table = document.if_contains(manager_key);
  if (table && table->is_object()) section = ManagerReader(table->get_object()).read(also);
  if (table && !table->is_object())
    section.findings.push_back({{manager_key},
                                "must be a table",
                                "write workerManager = { capacityPerInstance = 1 }",
                                "badWorkerManagerValue"});
  if (worker_config && !worker_config->is_object())
    section.findings.push_back(
        {{config_key}, "must be a table, for workers receive it as one", {}, "badWorkerConfig"});
  return section;
}

Findings check_launch_document(const json::object& document) {
  Findings findings = read_worker_manager(document).findings;
  std::ranges::move(check_queue_section(document), std::back_inserter(findings));
  return findings;
}

const Result<json::Schema>& SectionSchemas::schema_of(const ProviderDescription& description) {
  constexpr std::size_t most_versions = 4;
  auto& known = compiled_[description.section];
  for (auto at = known.begin(); at != known.end(); ++at)
    if (at->source == description.section_schema) {
      known.splice(known.begin(), known, at);  // the next question is mostly about the same
      return at->schema;
    }
  if (known.size() == most_versions) known.pop_back();
  known.push_front(
      {description.section_schema, json::Schema::compile(json::value(description.section_schema))});
  return known.front().schema;
}

Result<Findings> SectionSchemas::check(const ProviderDescription& description,
                                       const json::object& document) {
  const Result<json::Schema>& schema = schema_of(description);
  if (!schema) return Error::internal("the schema of its section: " + schema.error().message);
  const json::value* section = document.if_contains(description.section);
  const json::value instance = section ? *section : json::value(json::object());
  Findings findings;
  for (const json::Violation& violation : schema->validate(instance))
    findings.push_back(to_finding(violation, description.section, instance));
  return findings;
}

Result<LaunchConfigSpecs> make_specs(const ProviderId& provider_id, const ExpandRequest& request,
                                     const WorkerManagerSection& settings,
                                     const Expansion& expansion) {
  json::object placement;
  for (const auto& [name, value] : request.placement.facts) placement[name] = value;
  LaunchConfigSpecs specs;
  for (const LaunchDocument& launch : expansion.launch_documents) {
    auto spec = std::make_shared<fleet::LaunchConfigSpec>();
    const std::string id =
        settings.launch_config_id.empty()
            ? rules::launch_config_id(request.worker_pool_id.str(), provider_id.str(), placement,
                                      launch.document)
            : settings.launch_config_id;
    const auto capacity = settings.capacity_per_instance.value_or(launch.capacity_per_instance);
    if (capacity < 1)
      return Error::internal("it says that a worker has the capacity " + std::to_string(capacity));
    spec->launch_config = {LaunchConfigId(id), request.worker_pool_id,
                           request.placement,  launch.document,
                           capacity,           launch.instance_type};
    spec->provider_id = provider_id;
    spec->max_capacity = settings.max_capacity;
    spec->initial_weight = settings.initial_weight;
    // The provider may have made it fit the machine; if it has left it out, it is the same for all.
    const json::value* config = launch.document.if_contains(config_key);
    if (!config) config = request.document.if_contains(config_key);
    if (config && config->is_object()) spec->worker_config = config->get_object();
    specs.push_back(std::move(spec));
  }
  return specs;
}

bool same(const fleet::LaunchConfigSpec& a, const fleet::LaunchConfigSpec& b) {
  const LaunchConfig &x = a.launch_config, &y = b.launch_config;
  return x.launch_config_id == y.launch_config_id && x.worker_pool_id == y.worker_pool_id &&
         x.placement == y.placement && x.capacity_per_instance == y.capacity_per_instance &&
         x.instance_type == y.instance_type && a.provider_id == b.provider_id &&
         a.max_capacity == b.max_capacity && a.initial_weight == b.initial_weight &&
         a.worker_config == b.worker_config && x.document == y.document;
}

bool same(const fleet::PoolSpec& a, const fleet::PoolSpec& b) {
  return a.worker_pool_id == b.worker_pool_id && a.origin == b.origin && a.owner == b.owner &&
         a.description == b.description && a.email_on_error == b.email_on_error &&
         a.strategy == b.strategy && a.settings.min_capacity == b.settings.min_capacity &&
         a.settings.max_capacity == b.settings.max_capacity &&
         a.settings.scaling_ratio == b.settings.scaling_ratio &&
         a.settings.strategy == b.settings.strategy && a.lifecycle == b.lifecycle &&
         a.providers == b.providers && a.teams == b.teams &&
         a.public_worker_keys == b.public_worker_keys &&
         a.placement_strategies == b.placement_strategies && a.payload_schema == b.payload_schema &&
         a.unasked_providers == b.unasked_providers && a.launch_configs == b.launch_configs;
}

Finding finding_of(const Error& error, const std::string& section) {
  Finding finding{{section}, error.message, {}, "refusedByProvider"};
  const auto colon = error.message.find(": ");
  if (colon == std::string::npos || !error.message.starts_with(section)) return finding;
  const std::string written = error.message.substr(0, colon);
  const auto bracket = std::min(written.find('['), written.size());
  const auto path = rules::parse_path(written.substr(0, bracket));
  if (!path || path->front() != section) return finding;
  finding.path = *path;
  finding.reason = error.message.substr(colon + 2);
  if (bracket < written.size())
    finding.reason = path->back() + written.substr(bracket) + ": " + finding.reason;
  return finding;
}

}  // namespace muster::pools

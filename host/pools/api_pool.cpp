#include "host/pools/api_pool.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <muster/json_schema.hpp>
#include <muster/rules/problem.hpp>

#include "host/pools/launch_specs.hpp"
#include "host/pools/lifecycle.hpp"
#include "host/pools/queue_section.hpp"

namespace muster::pools {
namespace {

const json::object empty;
constexpr std::size_t most_findings = 20;           // that one answer names
constexpr std::size_t most_launch_configs = 1'000;  // in the document of one pool

// What strategies can count.
constexpr double largest_capacity = 1e12;
constexpr std::chrono::seconds shortest_inactivity{1200};

bool schema_knows(const ProviderDescription& description, std::string_view key) {
  const json::value* properties = description.section_schema.if_contains("properties");
  return properties && properties->is_object() && properties->get_object().contains(key);
}

bool has_declared_workers(const ProviderDescription& description) {
  return std::ranges::find(description.capabilities, capability::announced_workers) !=
         description.capabilities.end();
}

// As Taskcluster's clients know it: of a domain, not of a machine.
bool is_mail_address(const std::string& text) {
  static const auto format = json::Schema::compile(json::object{{"format", "email"}});
  return format && format->validate(json::value(text)).empty() &&
         text.find('.', text.rfind('@')) != std::string::npos;
}

class ApiPoolReader {
 public:
  ApiPoolReader(const WorkerPoolId& id, const json::object& document,
                const ProviderContext& provider_context, const Expand& expand)
      : document_(document), surroundings_(provider_context), expand_(expand) {
    pool_.worker_pool_id = id;
    pool_.strategy = std::string(api_pool_strategy);
  }

  Result<fleet::PoolSpec> read() {
    const std::string provider_id = text("providerId");
    pool_.owner = text("owner");
    if (document_.contains("owner") && !is_mail_address(pool_.owner))
      wrong({"owner"}, "must be a mail address", "write for example team@example.com");
    pool_.description = text("description");
    if (const json::value* flag = document_.if_contains("emailOnError"))
      pool_.email_on_error = flag->is_bool() && flag->get_bool();
    const json::object& config = table(document_, "config", {"config"});
    if (provider_id == null_provider) return finish();
    const auto provider = surroundings_.providers.find(ProviderId(provider_id));
    if (provider == surroundings_.providers.end())
      return Error::not_found("there is no provider \"" + provider_id + "\"")
          .with_code("providerId");
    if (provider->second.unavailable) return *provider->second.unavailable;
    pool_.providers = {provider->first};
    read_settings(config, has_declared_workers(provider->second.description));
    if (const auto read = read_launch_configs(config, provider->first, provider->second); !read)
      return read.error();
    return finish();
  }

 private:
  Result<fleet::PoolSpec> finish() {
    if (findings_.empty()) return std::move(pool_);
    if (findings_.size() == 1 && !duplicate_.empty())
      return Error::invalid(duplicate_).with_code("duplicateLaunchConfigId");
    std::string all;
    if (findings_.size() > most_findings) findings_.resize(most_findings);
    for (const Finding& finding : findings_) all += (all.empty() ? "" : "\n") + to_string(finding);
    return Error::invalid(all).with_code("invalidPool");
  }

  void wrong(rules::Path path, std::string reason, std::string remedy = {}) {
    findings_.push_back({std::move(path), std::move(reason), std::move(remedy)});
  }

  std::string text(const char* key) {
    const json::value* value = document_.if_contains(key);
    if (value && value->is_string()) return std::string(value->get_string());
    wrong({key}, "must be a string");
    return {};
  }

  const json::object& table(const json::object& parent, std::string_view key, rules::Path path) {
    const json::value* value = parent.if_contains(key);
    if (value && value->is_object()) return value->get_object();
    if (value || path.size() == 1) wrong(std::move(path), "must be an object");
    return empty;
  }

  void refuse_unknown(const json::object& config) {
    static const std::vector<std::string> known{"minCapacity", "maxCapacity",   "scalingRatio",
                                                "lifecycle",   "launchConfigs", "workerConfig"};
    for (const auto& [key, value] : config)
      if (findings_.size() < most_findings &&
          std::ranges::find(known, std::string_view(key)) == known.end())
        findings_.push_back(unknown_key({"config"}, std::string(key), known, "unknownPoolSetting"));
  }

  void read_capacity(const json::object& config, const char* key, bool required,
                     std::int64_t& into) {
    const json::value* value = config.if_contains(key);
    if (!value && required)
      return wrong({"config", key}, "is missing", "write a whole number from 0");
    if (!value) return;
    const double number = value->is_number() ? value->to_number<double>() : -1;
    if (number >= 0 && number <= largest_capacity && number == std::floor(number))
      into = static_cast<std::int64_t>(number);
    else
      wrong({"config", key},
            "must be a whole number that is not negative, and no more than a million millions");
  }

  // Machines that are declared are as many as their owners say.
  void read_settings(const json::object& config, bool declared) {
    refuse_unknown(config);
    pool_.settings.scaling_ratio = 1;
    read_capacity(config, "minCapacity", !declared, pool_.settings.min_capacity);
    read_capacity(config, "maxCapacity", !declared, pool_.settings.max_capacity);
    if (const json::value* ratio = config.if_contains("scalingRatio")) {
      const double number = ratio->is_number() ? ratio->to_number<double>() : -1;
      if (number >= 0 && number <= 1)
        pool_.settings.scaling_ratio = number;
      else
        wrong({"config", "scalingRatio"}, "must be a number from 0 to 1");
    }
    const json::object& times = table(config, "lifecycle", {"config", "lifecycle"});
    auto lifecycle = read_lifecycle(times, {"config", "lifecycle"});
    // Taskcluster's tasks are claimed for so long; a worker that works is not heard of meanwhile.
    if (times.contains("queueInactivityTimeout") && lifecycle.findings.empty() &&
        lifecycle.lifecycle.queue_inactivity_timeout < shortest_inactivity)
      wrong({"config", "lifecycle", "queueInactivityTimeout"}, "is too short",
            "queueInactivityTimeout must be >= " + std::to_string(shortest_inactivity.count()));
    std::move(lifecycle.findings.begin(), lifecycle.findings.end(), std::back_inserter(findings_));
    pool_.lifecycle = std::move(lifecycle.lifecycle);
  }

  Result<void> read_launch_configs(const json::object& config, const ProviderId& provider_id,
                                   const ProviderFacts& provider) {
    const json::value* list = config.if_contains("launchConfigs");
    if (!list && has_declared_workers(provider.description)) {
      // Declared machines have one launch configuration, too.
      json::object only;
      if (const json::value* worker_config = config.if_contains("workerConfig"))
        only["workerConfig"] = *worker_config;
      return read_launch_config(only, "config", provider_id, provider);
    }
    if (!list) return {};
    if (!list->is_array())
      return wrong({"config", "launchConfigs"}, "must be a list"), Result<void>();
    if (list->get_array().size() > most_launch_configs)
      return wrong({"config", "launchConfigs"},
                   "has " + std::to_string(list->get_array().size()) + " entries; at most " +
                       std::to_string(most_launch_configs) + " are possible"),
             Result<void>();
    for (std::size_t i = 0; i < list->get_array().size(); ++i) {
      const json::value& item = list->get_array()[i];
      const std::string name = "launchConfigs[" + std::to_string(i) + "]";
      if (!item.is_object()) {
        wrong({"config"}, name + " must be an object");
        continue;
      }
      if (const auto read = read_launch_config(item.get_object(), name, provider_id, provider);
          !read)
        return read.error();
    }
    return {};
  }

  Result<void> read_launch_config(const json::object& item, const std::string& name,
                                  const ProviderId& provider_id, const ProviderFacts& provider) {
    const auto placement = placement_of(item, provider);
    if (!placement)
      return wrong({"config"}, name + ": " + placement.error().message), Result<void>();
    ExpandRequest request{pool_.worker_pool_id, *placement, document_of(item, provider)};
    auto settings = read_worker_manager(
        request.document,
        {"launchConfigId", "publicIp", "ignoreFailedProvisioningStates", "keepDeployment"});
    Findings findings = std::move(settings.findings);
    for (Finding& finding : check_queue_section(request.document))
      findings.push_back(std::move(finding));
    if (const json::value* capacity = item.if_contains("capacityPerInstance");
        capacity && !settings.capacity_per_instance) {
      if (capacity->is_int64() && capacity->get_int64() >= 1)
        settings.capacity_per_instance = capacity->get_int64();
      else
        findings.push_back({{"capacityPerInstance"}, "must be a whole number from 1"});
    }
    const auto checked = schemas_.check(provider.description, request.document);
    if (!checked) return checked.error();
    findings.insert(findings.end(), checked->begin(), checked->end());
    for (const Finding& finding : findings) wrong({"config"}, name + "." + to_string(finding));
    if (!findings.empty()) return {};
    const auto expansion = expand_(provider_id, request);
    if (!expansion && !blames_the_document(expansion.error())) return expansion.error();
    if (!expansion)
      return wrong({"config"}, name + ": " + expansion.error().message), Result<void>();
    if (!settings.launch_config_id.empty() && expansion->launch_documents.size() > 1)
      return wrong({"config"},
                   name + " has a launchConfigId, but comes to " +
                       std::to_string(expansion->launch_documents.size()) +
                       " launch configurations",
                   "make each of them an item of its own"),
             Result<void>();
    auto specs = make_specs(provider_id, request, settings, *expansion);
    if (!specs) return specs.error();
    for (auto& spec : *specs) add(std::move(spec), name);
    return {};
  }

  void add(std::shared_ptr<const fleet::LaunchConfigSpec> spec, const std::string& name) {
    const std::string& id = spec->launch_config.launch_config_id.str();
    if (!seen_.insert(id).second) {
      const auto first = std::ranges::find(
          pool_.launch_configs, id,
          [](const auto& known) -> auto& { return known->launch_config.launch_config_id.str(); });
      const bool same = (*first)->launch_config.document == spec->launch_config.document &&
                        (*first)->launch_config.placement == spec->launch_config.placement;
      duplicate_ = "Launch config with ID `" + id + "` already exists" +
                   (same ? ": the same one is there twice" : " with different configuration");
      return wrong({"config"}, name + ": " + duplicate_);
    }
    pool_.launch_configs.push_back(std::move(spec));
  }

  // Everything of the item that is not muster's, in the provider's section.
  static json::object document_of(const json::object& item, const ProviderFacts& provider) {
    json::object section, document;
    for (const auto& [key, value] : item) {
      const bool place = key == "region" || key == "zone" || key == "location";
      if (key == "workerManager" || key == "workerConfig")
        document[key] = value;
      else if ((!place && key != "capacityPerInstance") || schema_knows(provider.description, key))
        section[key] = value;
    }
    document[provider.description.section] = std::move(section);
    return document;
  }

  // The announced place that has just the facts that the item names; else the first that has them
  // among others.
  static Result<Placement> placement_of(const json::object& item, const ProviderFacts& provider) {
    Facts wanted;
    const auto take = [&](const char* key, const char* fact) {
      const json::value* value = item.if_contains(key);
      if (value && value->is_string()) wanted[fact] = std::string(value->get_string());
    };
    take("region", "region");
    take("location", "region");
    take("zone", "availabilityZone");
    const Placement* best = nullptr;
    std::set<std::string> regions;
    for (const Placement& placement : provider.placements) {
      if (placement.facts == wanted) return placement;
      const bool has_all = std::all_of(wanted.begin(), wanted.end(), [&](const auto& fact) {
        const auto found = placement.facts.find(fact.first);
        return found != placement.facts.end() && found->second == fact.second;
      });
      if (has_all && (!best || placement.facts < best->facts)) best = &placement;
      if (const auto region = placement.facts.find("region"); region != placement.facts.end())
        regions.insert(region->second);
    }
    if (wanted.empty() && provider.placements.size() > 1)
      return Error::invalid("names no place; write region, location or zone");
    if (best) return *best;
    std::string named;
    for (const auto& [fact, value] : wanted)
      named += (named.empty() ? "" : " ") + fact + "=" + value;
    const std::vector<std::string> known(regions.begin(), regions.end());
    const std::string nearest =
        wanted.contains("region") ? rules::nearest_name(wanted["region"], known) : "";
    return Error::invalid("the provider has no place " + named +
                          (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }

  const json::object& document_;
  const ProviderContext& surroundings_;
  const Expand& expand_;
  fleet::PoolSpec pool_;
  SectionSchemas schemas_;
  Findings findings_;
  std::set<std::string> seen_;
  std::string duplicate_;  // about an id that came twice
};

}  // namespace

Result<fleet::PoolSpec> pool_from_api(const WorkerPoolId& worker_pool_id,
                                      const json::object& document,
                                      const ProviderContext& provider_context,
                                      const Expand& expand) {
  return ApiPoolReader(worker_pool_id, document, provider_context, expand).read();
}

}  // namespace muster::pools

#include "host/pools/builder.hpp"

#include <algorithm>
#include <set>

#include <muster/rules/content_hash.hpp>
#include <muster/rules/evaluator.hpp>
#include <muster/rules/pool_settings.hpp>
#include <muster/utf8.hpp>

#include "host/identifiers/identifiers.hpp"
#include "host/pools/launch_specs.hpp"
#include "host/pools/pool_checks.hpp"
#include "host/pools/problem_places.hpp"

namespace muster::pools {
namespace {

using EvaluatedPointer = std::shared_ptr<const rules::Evaluated>;

// A launch document as one provider is asked to expand it: the same for all placements where the
// same rules match.
struct Prepared {
  EvaluatedPointer evaluated;
  json::object document;
  WorkerManagerSection settings;
  Findings findings;
};
using PreparedPointer = std::shared_ptr<const Prepared>;

struct Expanded {
  EvaluatedPointer evaluated;  // kept, so that its address means this one for as long as we compare
  PreparedPointer prepared;
  std::string version;
  LaunchConfigSpecs specs;
};
using ExpandedKey = std::tuple<WorkerPoolId, ProviderId, Facts>;
using ExpandedByPlace = std::map<ExpandedKey, Expanded>;

rules::KnownFacts known_facts(const ProviderContext& provider_context) {
  rules::KnownFacts known;
  for (const auto& [id, facts] : provider_context.providers) {
    rules::Provider provider{id.str(), "", {}, {}};
    if (facts.unavailable) {
      provider.placements.emplace_back();
    } else {
      provider.plugin = facts.description.section;
      std::set<std::string> names;
      for (const FactDescription& fact : facts.description.facts) names.insert(fact.name);
      for (const Placement& placement : facts.placements) {
        provider.placements.emplace_back(placement.facts.begin(), placement.facts.end());
        for (const auto& [name, value] : placement.facts) names.insert(name);
      }
      provider.fact_names.assign(names.begin(), names.end());
    }
    known.providers.push_back(std::move(provider));
  }
  return known;
}

bool has_code(const rules::Problems& problems, std::string_view code) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const rules::Problem& problem) { return problem.code == code; });
}

}  // namespace

struct Builder::State {
  rules::Limits limits;
  rules::Evaluator evaluator;
  std::map<std::string, std::string, std::less<>> loaded;  // id → digest of what it was made from
  SectionSchemas schemas;
  ExpandedByPlace expanded;  // of the last build that succeeded
  ExpandedByPlace tried;     // of the last build, if it did not
  std::shared_ptr<const fleet::Configuration> configuration;

  const Expanded* find(const ExpandedKey& key) const {
    for (const ExpandedByPlace* known : {&tried, &expanded})
      if (const auto found = known->find(key); found != known->end()) return &found->second;
    return nullptr;
  }

  void load(const rules::ConfigurationSet& set, std::span<const rules::SourceFile> files) {
    std::map<std::string, std::string, std::less<>> texts;
    for (const rules::SourceFile& file : files)
      texts[file.name] = rules::sha256_hex(file.name + '\0' + file.text);
    std::erase_if(loaded, [&](const auto& entry) {
      if (set.documents().contains(entry.first)) return false;
      evaluator.remove(entry.first);
      return true;
    });
    for (const auto& [id, document] : set.documents()) {
      std::string& digest = loaded[id];
      if (const std::string& now = texts[document->file]; digest != now) {
        evaluator.update(document);
        digest = now;
      }
    }
  }
};

namespace {

// One build.
class Build {
 public:
  Build(Builder::State& state, const ProviderContext& provider_context, const Expand& expand)
      : state_(state), surroundings_(provider_context), expand_(expand) {}

  Outcome run(std::span<const rules::SourceFile> files, const std::string& revision,
              const rules::WorkerTypeOwners& owners) {
    const rules::KnownFacts known = known_facts(surroundings_);
    const auto set = rules::ConfigurationSet::from_files(files, state_.limits, known, owners);
    outcome_.problems = rules::check(set);
    wait_for_facts();
    for (const rules::Problem& problem : outcome_.problems)
      if (problem.code == rules::too_much_work_code) too_much_.insert(problem.position.file);
    state_.load(set, files);
    // Too many to be looked at one by one; that alone refuses them.
    if (!has_code(outcome_.problems, "tooManyCombinations"))
      for (const auto& [id, document] : set.documents()) build_document(set, *document, known);
    for (const auto& document : set.rejected()) look_for_more(set, *document, known, true);
    for (const auto& document : set.incomplete()) look_for_more(set, *document, known, false);
    for (rules::Problem& problem : places_.take()) outcome_.problems.push_back(std::move(problem));
    rules::sort_problems(outcome_.problems);
    for (const auto& [id, reason] : waits_) outcome_.waits.push_back({id, reason});
    if (rules::has_errors(outcome_.problems) || !outcome_.undecided.empty())
      state_.tried = std::move(expanded_);
    else
      accept(revision);
    return std::move(outcome_);
  }

 private:
  // A provider that is not there may be the one that knows a fact, so nobody can say yet that the
  // fact is unknown.
  void wait_for_facts() {
    const auto missing =
        std::find_if(surroundings_.providers.begin(), surroundings_.providers.end(),
                     [](const auto& provider) { return provider.second.unavailable.has_value(); });
    if (missing == surroundings_.providers.end()) return;
    for (const rules::Problem& problem : outcome_.problems)
      if (problem.code == "unknownFact") {
        waits_.try_emplace(missing->first, missing->second.unavailable->message +
                                               "; until then: " + rules::to_string(problem));
        outcome_.undecided.insert(problem.position.file);
      }
    std::erase_if(outcome_.problems,
                  [](const rules::Problem& problem) { return problem.code == "unknownFact"; });
  }

  void build_document(const rules::ConfigurationSet& set, const rules::Document& document,
                      const rules::KnownFacts& known) {
    if (too_much_.contains(document.file)) return;
    std::map<std::string, std::shared_ptr<fleet::PoolSpec>> pools;
    launch_rules_ = 0;
    for (const rules::WorkerType& type : document.worker_types) {
      check_worker_type(document, type);
      pools[type.name] = build_pool(document, type.name, known);
    }
    for (const rules::Combination& combination : set.combinations(document)) {
      const PreparedPointer prepared = check_launch(document, combination);
      if (is_too_much(document)) return;
      const auto& pool = pools[combination.worker_type];
      if (pool && prepared) add_launch_configs(document, combination, prepared, *pool);
    }
    for (auto& [type, pool] : pools)
      if (pool) pools_[pool->worker_pool_id] = std::move(pool);
  }

  // Of documents that are refused already: what else is wrong with them.
  void look_for_more(const rules::ConfigurationSet& set, const rules::Document& document,
                     const rules::KnownFacts& known, bool is_complete) {
    if (too_much_.contains(document.file)) return;
    launch_rules_ = 0;
    for (const rules::WorkerType& type : document.worker_types)
      build_pool(document, type.name, known);
    // One of the same id may be in use, and the evaluator knows documents by their ids.
    auto alone = std::make_shared<rules::Document>(document);
    alone->id += '\0' + document.file;
    state_.evaluator.update(alone);
    for (const rules::Combination& combination : set.combinations(document)) {
      check_launch(*alone, combination, is_complete);
      if (is_too_much(document)) break;
    }
    state_.evaluator.remove(alone->id);
  }

  // Complains if it is: the launch documents so far came from too many rules.
  bool is_too_much(const rules::Document& document) {
    const std::size_t most = state_.limits.max_launch_rules;
    if (launch_rules_ <= most) return false;
    outcome_.problems.push_back(rules::too_much_work(
        document, "different launch documents times rules that apply to them", most));
    return true;
  }

  // No worker could register in a pool whose id no API takes.
  void check_worker_type(const rules::Document& document, const rules::WorkerType& type) {
    if (identifiers::is_worker_type(type.name)) return;
    outcome_.problems.push_back({rules::Severity::error, document.at(type.position), "workerTypes",
                                 "no pool can have the worker type \"" + valid_utf8(type.name) +
                                     "\", because no worker could register in it",
                                 "use " + std::string(identifiers::worker_type.words),
                                 "wrongWorkerType"});
  }

  // Null if its settings are wrong, about which rules::check has complained; they are checked
  // further all the same, so that nobody corrects one mistake to learn of the next.
  std::shared_ptr<fleet::PoolSpec> build_pool(const rules::Document& document,
                                              const std::string& worker_type,
                                              const rules::KnownFacts& known) {
    const auto checked = rules::pool_settings(document, worker_type, &known);
    ReadPool read = read_pool(checked.settings, surroundings_);
    for (const Finding& finding : read.findings)
      places_.add(document, {{"workerType", worker_type}}, finding);
    if (rules::has_errors(checked.problems)) return nullptr;
    auto pool = std::make_shared<fleet::PoolSpec>(std::move(read.pool));
    pool->worker_pool_id = worker_pool_of(worker_type);
    pool->origin = document.file;
    return pool;
  }

  // What the section of the provider and the parts that muster reads must be like. Null if
  // something is wrong, or if the provider cannot be asked.
  // What an incomplete document lacks may be in the part of it that could not be read.
  PreparedPointer check_launch(const rules::Document& document,
                               const rules::Combination& combination, bool is_complete = true) {
    const ProviderId provider_id(combination.provider_id);
    const ProviderFacts& provider = surroundings_.providers.at(provider_id);
    if (provider.unavailable) {
      waits_.try_emplace(provider_id, provider.unavailable->message);
      return nullptr;
    }
    const EvaluatedPointer evaluated = state_.evaluator.evaluate(document.id, combination.facts);
    const PreparedPointer prepared = prepare(evaluated, provider_id, provider);
    if (!prepared) return nullptr;
    for (const Finding& finding : prepared->findings)
      if (is_complete || finding.code != missing_in_section)
        places_.add(document, combination.facts, finding);
    return prepared->findings.empty() ? prepared : nullptr;
  }

  void add_launch_configs(const rules::Document& document, const rules::Combination& combination,
                          const PreparedPointer& prepared, fleet::PoolSpec& pool) {
    const ProviderId provider_id(combination.provider_id);
    const ProviderFacts& provider = surroundings_.providers.at(provider_id);
    const Placement& placement = provider.placements[combination.placement];
    const Expanded* expanded =
        expand({pool.worker_pool_id, placement, {}}, provider_id, provider, prepared,
               [&](const Finding& finding) { places_.add(document, combination.facts, finding); });
    if (!expanded) return;
    std::set<LaunchConfigId> seen;
    for (const auto& spec : expanded->specs) {
      if (!seen.insert(spec->launch_config.launch_config_id).second)
        places_.add(document, combination.facts,
                    {{provider.description.section},
                     "comes to the same launch configuration twice",
                     "name each instance type once",
                     "duplicateLaunchConfiguration",
                     rules::Severity::warning});
      else
        pool.launch_configs.push_back(spec);
    }
  }

  // Null if the provider itself is at fault.
  PreparedPointer prepare(const EvaluatedPointer& evaluated, const ProviderId& provider_id,
                          const ProviderFacts& provider) {
    auto& known = prepared_[{evaluated.get(), provider_id}];
    if (known) return known;
    auto prepared = std::make_shared<Prepared>();
    prepared->evaluated = evaluated;
    launch_rules_ += evaluated->effects.size();
    prepared->document = rules::launch_document(evaluated->document);
    // Nor does it concern a provider what others are told.
    for (const auto& [id, other] : surroundings_.providers)
      if (!other.unavailable && other.description.section != provider.description.section)
        prepared->document.erase(other.description.section);
    prepared->settings = read_worker_manager(prepared->document);
    prepared->findings = check_launch_document(evaluated->document);
    auto findings = state_.schemas.check(provider.description, prepared->document);
    if (!findings) {
      waits_.try_emplace(provider_id, findings.error().message);
      return nullptr;
    }
    std::move(findings->begin(), findings->end(), std::back_inserter(prepared->findings));
    return known = std::move(prepared);
  }

  template <class Complain>
  const Expanded* expand(ExpandRequest request, const ProviderId& provider_id,
                         const ProviderFacts& provider, const PreparedPointer& prepared,
                         const Complain& add_finding) {
    const EvaluatedPointer& evaluated = prepared->evaluated;
    const ExpandedKey key{request.worker_pool_id, provider_id, request.placement.facts};
    const Expanded* before = state_.find(key);
    if (before && before->version == provider.version &&
        (before->evaluated == evaluated || before->prepared->document == prepared->document)) {
      Expanded again = *before;
      again.evaluated = evaluated;
      again.prepared = prepared;
      return &(expanded_[key] = std::move(again));
    }
    if (waits_.contains(provider_id)) return nullptr;  // it is in trouble: ask no more of it
    request.document = prepared->document;
    const auto expansion = expand_(provider_id, request);
    if (!expansion && blames_the_document(expansion.error())) {
      add_finding(finding_of(expansion.error(), provider.description.section));
      return nullptr;
    }
    if (!expansion) return waits_.try_emplace(provider_id, expansion.error().message), nullptr;
    auto specs = make_specs(provider_id, request, prepared->settings, *expansion);
    if (!specs) return waits_.try_emplace(provider_id, specs.error().message), nullptr;
    if (before)
      for (auto& spec : *specs)
        for (const auto& old : before->specs)
          if (same(*spec, *old)) spec = old;
    return &(expanded_[key] = {evaluated, prepared, provider.version, std::move(*specs)});
  }

  // Of a provider that could not be asked for everything, the fleet keeps what it has.
  void leave_to_fleet(fleet::PoolSpec& pool) const {
    for (const ProviderId& id : pool.providers)
      if (waits_.contains(id)) pool.unasked_providers.push_back(id);
    std::erase_if(pool.launch_configs,
                  [&](const auto& spec) { return waits_.contains(spec->provider_id); });
  }

  void accept(const std::string& revision) {
    auto configuration = std::make_shared<fleet::Configuration>();
    configuration->revision = revision;
    for (auto& [id, pool] : pools_) {
      leave_to_fleet(*pool);
      std::shared_ptr<const fleet::PoolSpec> kept = std::move(pool);
      if (state_.configuration)
        if (const auto old = state_.configuration->pools.find(id);
            old != state_.configuration->pools.end() && same(*old->second, *kept))
          kept = old->second;
      configuration->pools.emplace(id, std::move(kept));
    }
    for (const auto& [id, facts] : surroundings_.providers)
      if (!facts.unavailable) configuration->field_classes[id] = facts.description.field_classes;
    state_.configuration = configuration;
    state_.expanded = std::move(expanded_);
    state_.tried.clear();
    outcome_.configuration = std::move(configuration);
  }

  Builder::State& state_;
  const ProviderContext& surroundings_;
  const Expand& expand_;
  Outcome outcome_;
  ProblemPlaces places_;
  std::map<ProviderId, std::string> waits_;
  std::set<std::string> too_much_;  // files that are not looked at further
  std::size_t launch_rules_ = 0;    // rules that made the launch documents of the file
  std::map<std::pair<const rules::Evaluated*, ProviderId>, PreparedPointer> prepared_;
  std::map<WorkerPoolId, std::shared_ptr<fleet::PoolSpec>> pools_;
  ExpandedByPlace expanded_;
};

}  // namespace

Builder::Builder(rules::Limits limits) : state_(std::make_unique<State>()) {
  state_->limits = limits;
}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;

Outcome Builder::build(std::span<const rules::SourceFile> files, const std::string& revision,
                       const ProviderContext& provider_context, const Expand& expand,
                       const rules::WorkerTypeOwners& owners) {
  return Build(*state_, provider_context, expand).run(files, revision, owners);
}

WorkerPoolId worker_pool_of(const std::string& worker_type) {
  return WorkerPoolId("worker-manager/" + worker_type);
}

}  // namespace muster::pools

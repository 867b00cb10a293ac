#include "host/pools/offline_check.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <muster/codec.hpp>
#include <muster/rules/evaluator.hpp>
#include <muster/rules/pool_settings.hpp>

#include "host/pools/builder.hpp"
#include "host/pools/launch_specs.hpp"
#include "host/pools/pool_checks.hpp"
#include "host/pools/problem_places.hpp"

namespace muster::pools {
namespace {

const ProviderDescription* find_plugin(const InstalledPlugins& plugins, const std::string& name) {
  for (const auto member : {&ProviderDescription::section, &ProviderDescription::name})
    if (const auto found = std::ranges::find(plugins.providers, name, member);
        found != plugins.providers.end())
      return &*found;
  return nullptr;
}

ProviderContext without_providers(const InstalledPlugins& plugins) {
  ProviderContext context;
  context.strategies = plugins.strategies;
  context.knows_all_strategies = plugins.has_all_strategies;
  return context;
}

// The providers that `facts.toml` names, as far as their plugins are installed; of others any
// section is allowed.
ProviderContext context_of(const rules::KnownFacts& known, const InstalledPlugins& plugins) {
  ProviderContext context = without_providers(plugins);
  for (const rules::Provider& provider : known.providers) {
    ProviderFacts facts;
    facts.version = "facts";
    if (const auto* description = find_plugin(plugins, provider.plugin))
      facts.description = *description;
    else
      facts.description.section = provider.plugin;
    for (const std::string& name : provider.fact_names)
      facts.description.facts.push_back({name, ""});
    for (const rules::Facts& placement : provider.placements)
      facts.placements.push_back({{placement.begin(), placement.end()}});
    context.providers.emplace(ProviderId(provider.provider_id), std::move(facts));
  }
  return context;
}

rules::Problems check_with_facts(std::span<const rules::SourceFile> files,
                                 const rules::ConfigurationSet& set,
                                 const InstalledPlugins& plugins) {
  Builder builder(set.limits());
  auto outcome = builder.build(
      files, "", context_of(*set.known(), plugins),
      [](const ProviderId&, const ExpandRequest& request) -> Result<Expansion> {
        return Expansion{{{.document = request.document, .capacity_per_instance = 1}}};
      });
  rules::Problems problems = std::move(outcome.problems);
  for (const rules::Problem& problem : set.problems())  // a builder does not read the facts
    if (std::filesystem::path(problem.position.file).filename() == rules::facts_file_name)
      problems.push_back(problem);
  for (const Wait& wait : outcome.waits)  // a plugin whose schema is wrong
    problems.push_back({rules::Severity::error,
                        {},
                        "",
                        wait.provider_id.str() + ": " + wait.reason,
                        "correct the plugin",
                        "badPlugin"});
  return problems;
}

// A text that the pattern matches; nothing if that is hard to say.
std::optional<std::string> example_of(const rules::Glob& glob) {
  std::string text;
  for (const char c : glob.is_literal() ? glob.literal() : glob.pattern())
    if (glob.is_literal() || c != '*') text += glob.is_literal() || c != '?' ? c : 'x';
  return glob.matches(text) ? std::optional(text) : std::nullopt;
}

// Facts with which all conditions hold; nothing if none are found.
std::optional<rules::Facts> example_of(const rules::Clause& clause,
                                       const std::vector<rules::WorkerType>& types) {
  rules::Facts facts;
  for (const rules::Condition& condition : clause.all_of) {
    std::optional<std::string> value;
    for (const rules::Glob& glob : condition.any_of) {
      if (condition.fact == "workerType")
        for (const rules::WorkerType& type : types)
          if (glob.matches(type.name)) value = type.name;
      if (!value && condition.fact != "workerType") value = example_of(glob);
    }
    if (!value) return std::nullopt;
    facts[condition.fact] = *value;
  }
  if (!types.empty()) facts.try_emplace("workerType", types.front().name);
  return facts;
}

// Checks files about whose providers nothing is known.
class FactlessCheck {
 public:
  FactlessCheck(const rules::ConfigurationSet& set, const InstalledPlugins& plugins)
      : set_(set), plugins_(plugins), context_(without_providers(plugins)) {}

  rules::Problems run() {
    rules::Problems problems = rules::check(set_);
    for (const rules::Problem& problem : problems)
      if (problem.code == rules::too_much_work_code) too_much_.insert(problem.position.file);
    for (const auto& [id, document] : set_.documents()) check(*document);
    for (const auto* more : {&set_.rejected(), &set_.incomplete()})
      for (const auto& document : *more) check(*document);
    std::ranges::move(places_.take(), std::back_inserter(problems));
    std::ranges::move(provider_problems_, std::back_inserter(problems));
    return problems;
  }

 private:
  void check(const rules::Document& document) {
    if (too_much_.contains(document.file)) return;
    rules::Evaluator evaluator;
    evaluator.update(std::make_shared<rules::Document>(document));
    std::set<std::shared_ptr<const rules::Evaluated>> seen;
    const auto check_with = [&](const rules::Facts& facts) {
      const auto evaluated = evaluator.evaluate(document.id, facts);
      if (seen.insert(evaluated).second) check_launch(document, facts, evaluated->document);
    };
    for (const rules::WorkerType& type : document.worker_types) {
      const rules::Facts facts{{"workerType", type.name}};
      const auto checked = rules::pool_settings(document, type.name);
      for (const Finding& finding : read_pool(checked.settings, context_).findings)
        places_.add(document, facts, finding);
      check_with(facts);
      check_providers(document, type.name);
    }
    for (const rules::Rule& rule : document.rules)
      for (const rules::Clause& clause : rule.any_of)
        if (const auto facts = example_of(clause, document.worker_types)) check_with(*facts);
  }

  // Where a host is known, but not what its providers offer.
  void check_providers(const rules::Document& document, const std::string& worker_type) {
    if (!plugins_.provider_ids) return;
    rules::KnownFacts known;
    for (const std::string& id : *plugins_.provider_ids)
      known.providers.push_back({id, "", {}, {}});
    const auto unknown = rules::pool_settings(document, worker_type).problems;
    for (rules::Problem& problem : rules::pool_settings(document, worker_type, &known).problems)
      if (std::ranges::find(unknown, problem) == unknown.end())
        provider_problems_.push_back(std::move(problem));
  }

  void check_launch(const rules::Document& document, const rules::Facts& facts,
                    const json::object& evaluated) {
    for (const Finding& finding : check_launch_document(evaluated))
      places_.add(document, facts, finding);
    for (const ProviderDescription& plugin : plugins_.providers) {
      if (!evaluated.contains(plugin.section)) continue;
      const auto findings = schemas_.check(plugin, evaluated);
      if (!findings) continue;  // the plugin's fault, which its own check finds
      for (const Finding& finding : *findings)
        if (finding.code != missing_in_section) places_.add(document, facts, finding);
    }
  }

  const rules::ConfigurationSet& set_;
  const InstalledPlugins& plugins_;
  const ProviderContext context_;
  SectionSchemas schemas_;
  ProblemPlaces places_;
  std::set<std::string> too_much_;  // files that are not looked at further
  rules::Problems provider_problems_;
};

}  // namespace

Result<void> InstalledPlugins::add(const std::string& plugin_id, const json::object& description) {
  const auto slash = plugin_id.find('/');
  if (plugin_id.substr(0, slash) != "provider") {
    strategies.push_back(plugin_id.substr(slash + 1));
    return {};
  }
  auto read = from_value<ProviderDescription>(json::value(description));
  if (!read) return read.error();
  providers.push_back(std::move(*read));
  return {};
}

rules::Problems check_offline(std::span<const rules::SourceFile> files,
                              const InstalledPlugins& plugins, const rules::Limits& limits) {
  const auto set = rules::ConfigurationSet::from_files(files, limits);
  rules::Problems problems =
      set.known() ? check_with_facts(files, set, plugins) : FactlessCheck(set, plugins).run();
  rules::sort_problems(problems);
  return problems;
}

}  // namespace muster::pools

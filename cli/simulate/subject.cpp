#include "cli/simulate/subject.hpp"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

#include "cli/exit_code.hpp"
#include "cli/rules/problems.hpp"
#include "cli/rules/target.hpp"
#include "cli/simulate/assumptions.hpp"
#include "cli/simulate/clouds.hpp"
#include "cli/simulate/host_prices.hpp"
#include "host/config/default_configuration.hpp"
#include "host/pools/builder.hpp"
#include "host/pools/source.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

// What a folder and a host configuration both come to.
struct Given {
  std::vector<rules::SourceFile> files;
  std::vector<GivenProvider> providers;
  std::map<std::string, GivenStrategy> strategies;
  std::string default_strategy = "classic";
  std::vector<fs::path> plugin_folders;
  fleet::Settings settings;
};

class Loading {
 public:
  explicit Loading(const SubjectOptions& options) : options_(options) {}

  Subject load() {
    std::error_code code;
    if (!fs::exists(options_.path, code))
      fail(exit_usage, "There is no folder or host configuration " + options_.path + ".",
           options_.as_json);
    const bool folder = fs::is_directory(options_.path, code);
    read_assumptions_beside(folder ? fs::path(options_.path)
                                   : fs::path(options_.path).parent_path());
    if (folder)
      given_by_folder();
    else
      given_by_host();
    read_prices();
    subject_.name = tidy(options_.path);
    subject_.currency = assumptions_.currency.empty() ? usual_currency : assumptions_.currency;
    subject_.strategies = std::make_unique<Strategies>(given_.plugin_folders);
    know_installed_strategies();
    make_clouds();
    build();
    load_strategies();
    return std::move(subject_);
  }

 private:
  [[noreturn]] void stop(const rules::Problems& problems) {
    if (options_.as_json)
      print_json({{"problems", problems_json(problems)}});
    else
      std::fputs(problems_text(problems, given_.files, Style::of_stderr()).c_str(), stderr);
    throw Exit{exit_failed};
  }

  // Mistakes of host configurations and of simulation.toml, as problems.
  [[noreturn]] void stop(const std::vector<config::Mistake>& mistakes, const std::string& file) {
    rules::Problems problems;
    for (const config::Mistake& mistake : mistakes)
      if (mistake.severity == config::Severity::error)
        problems.push_back({rules::Severity::error,
                            {file, {mistake.position.line, mistake.position.column}},
                            mistake.key,
                            mistake.reason,
                            mistake.remedy,
                            "hostConfiguration"});
    stop(problems);
  }

  void read_assumptions_beside(const fs::path& folder) {
    assumptions_file_ = tidy(folder / assumptions_file_name);
    const auto text = read_file(assumptions_file_, std::size_t{1} << 20);
    if (!text && text.error().error_class == ErrorClass::not_found) return;
    if (!text) fail(exit_failed, text.error().message + ".", options_.as_json);
    given_.files.push_back({assumptions_file_, *text});
    auto reading = read_assumptions(*text, assumptions_file_);
    if (!reading.mistakes.empty()) stop(reading.mistakes, assumptions_file_);
    assumptions_ = std::move(reading.assumptions);
  }

  // A file of prices is more than what a host knows by chance.
  void read_prices() {
    if (!options_.host.url.empty())
      take_prices(prices_of_host(options_.host, options_.as_json), assumptions_);
    if (options_.prices.empty()) return;
    const auto text = read_file(options_.prices, std::size_t{1} << 20);
    if (!text) fail(exit_usage, text.error().message + ".", options_.as_json);
    given_.files.push_back({options_.prices, *text});
    const auto reading = read_assumptions(*text, options_.prices);
    if (!reading.mistakes.empty()) stop(reading.mistakes, options_.prices);
    refuse_two_currencies(reading.assumptions);
    take_prices(reading.assumptions, assumptions_);
  }

  void refuse_two_currencies(const Assumptions& prices) {
    const std::string own = assumptions_.currency.empty() ? usual_currency : assumptions_.currency;
    if (prices.currency.empty() || prices.currency == own) return;
    const std::string stays = price_that_stays(assumptions_, prices);
    if (stays.empty()) return;
    fail(exit_failed,
         "The prices of " + options_.prices + " are in " + prices.currency + ", but the price of " +
             stays + " is in " + own + " and not in that file; give all prices in one currency.",
         options_.as_json);
  }

  rules::KnownFacts read_facts() {
    for (const rules::SourceFile& file : given_.files) {
      if (fs::path(file.name).filename() != rules::facts_file_name) continue;
      auto parsed = rules::parse_known_facts(file.text, file.name);
      if (rules::has_errors(parsed.problems)) stop(parsed.problems);
      return std::move(parsed.known);
    }
    return {};
  }

  void take_facts(const rules::Provider& known, GivenProvider& provider) {
    if (!known.plugin.empty()) provider.plugin = known.plugin;
    provider.fact_names = known.fact_names;
    for (const rules::Facts& facts : known.placements)
      if (!facts.empty()) provider.placements.push_back({{facts.begin(), facts.end()}});
  }

  void given_by_folder() {
    Folder folder = load_folder(options_.path, options_.as_json);
    given_.files.insert(given_.files.end(), folder.files.begin(), folder.files.end());
    const rules::KnownFacts known = read_facts();
    if (known.providers.empty())
      fail(exit_failed,
           "There is no facts.toml in " + tidy(options_.path) +
               " that names providers and where they can launch; see docs/simulating.md.",
           options_.as_json);
    for (const rules::Provider& each : known.providers) {
      GivenProvider provider{ProviderId(each.provider_id), each.provider_id};
      take_facts(each, provider);
      given_.providers.push_back(std::move(provider));
    }
    const fs::path executable = fs::read_symlink("/proc/self/exe");
    given_.plugin_folders = {config::shipped_plugin_folder(executable)};
  }

  void given_by_host() {
    const fs::path executable = fs::read_symlink("/proc/self/exe");
    const auto report = config::read_configuration(
        options_.path,
        config::defaults_for(executable, config::process_environment, ::geteuid() == 0));
    if (!report.configuration) stop(report.mistakes, tidy(report.file));
    const config::HostConfiguration& host = *report.configuration;
    if (!host.worker_configurations)
      fail(exit_failed, tidy(options_.path) + " names no workerConfigurations.", options_.as_json);
    read_worker_configurations(*host.worker_configurations, host.data_directory);
    if (assumptions_.providers.empty() && host.worker_configurations->git.empty())
      read_assumptions_beside(fs::proximate(host.worker_configurations->folder));
    const rules::KnownFacts known = read_facts();
    for (const config::PluginInstance& instance : host.providers) {
      GivenProvider provider{ProviderId(instance.id),
                             instance.plugin.substr(instance.plugin.find('/') + 1)};
      if (const rules::Provider* facts = known.find(instance.id)) take_facts(*facts, provider);
      if (instance.plugin == "provider/simulated") provider.plugin = "simulated";
      provider.config = instance.config;
      take_limits(instance.launch, provider.settings);
      given_.providers.push_back(std::move(provider));
    }
    for (const config::PluginInstance& instance : host.strategies)
      given_.strategies[instance.id] = {instance.plugin, instance.config};
    given_.default_strategy = host.fleet.default_strategy.value_or("classic");
    given_.plugin_folders = host.plugin_folders;
    take_times(host.fleet);
  }

  void read_worker_configurations(const config::WorkerConfigurations& where,
                                  const fs::path& data_directory) {
    const auto source =
        where.git.empty() ? pools::folder_source(where.folder)
                          : pools::git_source({.location = where.git,
                                               .ref = where.ref,
                                               .folder = where.folder.string(),
                                               .cache = data_directory / "worker-configurations"});
    auto read = source->read("");
    if (!read) fail(exit_failed, read.error().message + ".", options_.as_json);
    for (rules::SourceFile& file : (*read)->files) {
      std::error_code code;
      if (where.git.empty()) file.name = tidy(fs::proximate(file.name, code));
      given_.files.push_back(std::move(file));
    }
  }

  static void take_limits(const config::LaunchLimits& from, fleet::ProviderSettings& to) {
    to.max_capacity = from.max_capacity;
    to.launches_per_second = from.per_second.value_or(to.launches_per_second);
    if (from.burst) to.launch_burst = static_cast<double>(*from.burst);
    to.launch_calls_at_once = from.calls_at_once.value_or(to.launch_calls_at_once);
    to.launches_per_call = from.per_call.value_or(to.launches_per_call);
  }

  void take_times(const config::FleetSettings& from) {
    fleet::Settings& to = given_.settings;
    to.poll = from.poll.value_or(to.poll);
    to.list_every = from.list_every.value_or(to.list_every);
    to.notices_every = from.notices_every.value_or(to.notices_every);
    to.grace = from.grace.value_or(to.grace);
    to.journal_kept = from.journal_kept.value_or(to.journal_kept);
    to.stopped_kept = from.stopped_kept.value_or(to.stopped_kept);
  }

  void know_installed_strategies() {
    const bool configured = !given_.strategies.empty();
    for (const std::string& name : subject_.strategies->installed())
      if (!configured || name == options_.strategy)
        given_.strategies.try_emplace(name, GivenStrategy{"strategy/" + name});
    if (!configured)  // those that come with muster, so that a missing plugin is reported as such
      for (const char* name : {"cheapest", "classic", "estimator"})
        given_.strategies.try_emplace(name, GivenStrategy{"strategy/" + std::string(name)});
    if (!options_.strategy.empty() && !given_.strategies.contains(options_.strategy))
      fail(exit_usage, "There is no strategy " + options_.strategy + "; there are " + names() + ".",
           options_.as_json);
  }

  std::string names() const {
    std::string all;
    for (const auto& [name, strategy] : given_.strategies) all += (all.empty() ? "" : ", ") + name;
    return all;
  }

  void make_clouds() {
    for (const GivenProvider& provider : given_.providers) {
      const auto found = assumptions_.providers.find(provider.provider_id.str());
      const bool assumed = found != assumptions_.providers.end();
      const auto added =
          clouds_.add(provider, assumed ? found->second : CloudAssumptions{}, options_.seed);
      if (added) continue;
      const std::string where =
          assumed ? assumptions_file_ + ":" + std::to_string(found->second.position.line)
                  : options_.path;
      fail(exit_failed,
           where + ": provider " + provider.provider_id.str() + ": " + added.error().message + ".",
           options_.as_json);
    }
    for (const auto& [id, assumed] : assumptions_.providers)
      if (!clouds_.has(ProviderId(id)) && is_of_prices_alone(assumed))
        subject_.warnings += "muster: there are prices of the provider " + id +
                             ", which is not in " + tidy(options_.path) + "\n";
      else if (!clouds_.has(ProviderId(id)))
        stop({{config::Severity::error, assumed.position, "providers." + id,
               "there is no such provider in " + tidy(options_.path), ""}},
             assumptions_file_);
  }

  // A list of prices may name more than one configuration has.
  bool is_of_prices_alone(const CloudAssumptions& assumed) const {
    const auto is_theirs = [&](const std::string& source) {
      return !source.empty() && (source == options_.prices || source == options_.host.url);
    };
    return is_theirs(assumed.price_source) ||
           std::ranges::any_of(assumed.instance_types, [&](const auto& type) {
             return is_theirs(type.second.price_source);
           });
  }

  void build() {
    pools::ProviderContext provider_context;
    provider_context.providers = clouds_.facts();
    for (const auto& [name, strategy] : given_.strategies)
      provider_context.strategies.push_back(name);
    provider_context.default_strategy = given_.default_strategy;
    std::vector<rules::SourceFile> files = given_.files;
    std::erase_if(files, [&](const auto& file) {
      return file.name == assumptions_file_ || file.name == options_.prices;
    });
    pools::Builder builder;
    auto outcome = builder.build(files, "simulated", provider_context,
                                 [&](const ProviderId& provider, const ExpandRequest& request) {
                                   return clouds_.expand(provider, request);
                                 });
    if (rules::has_errors(outcome.problems)) stop(outcome.problems);
    if (!outcome.waits.empty())
      fail(exit_failed,
           outcome.waits.front().provider_id.str() + ": " + outcome.waits.front().reason + ".",
           options_.as_json);
    subject_.warnings += problems_text(outcome.problems, given_.files, Style::of_stderr());
    if (outcome.configuration->pools.empty())
      fail(exit_failed, "There are no worker configurations in " + tidy(options_.path) + ".",
           options_.as_json);
    auto adapted = std::make_shared<fleet::Configuration>(*clouds_.adapt(*outcome.configuration));
    if (!options_.strategy.empty())
      for (auto& [id, pool] : adapted->pools) {
        auto changed = std::make_shared<fleet::PoolSpec>(*pool);
        changed->strategy = options_.strategy;
        pool = std::move(changed);
      }
    subject_.configuration = std::move(adapted);
    auto scenarios = clouds_.scenarios();
    if (!scenarios) fail(exit_failed, scenarios.error().message + ".", options_.as_json);
    subject_.providers = std::move(*scenarios);
    subject_.prices = clouds_.prices();
    subject_.settings = given_.settings;
    subject_.settings.default_strategy = given_.default_strategy;
  }

  void load_strategies() {
    for (const auto& [id, pool] : subject_.configuration->pools)
      if (const auto loaded =
              subject_.strategies->load(pool->strategy, given_.strategies.at(pool->strategy));
          !loaded)
        fail(exit_failed,
             "The pool " + id.str() + " cannot be simulated: " + loaded.error().message + ".",
             options_.as_json);
  }

  const SubjectOptions& options_;
  Given given_;
  Subject subject_;
  std::string assumptions_file_;
  Assumptions assumptions_;
  Clouds clouds_;
};

}  // namespace

Subject load_subject(const SubjectOptions& options) {
  return Loading(options).load();
}

}  // namespace muster::cli

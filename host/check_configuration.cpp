#include "host/check_configuration.hpp"

#include <algorithm>
#include <filesystem>

#include <muster/json_schema.hpp>

#include "host/plugin_loader/described_plugins.hpp"
#include "host/pools/offline_check.hpp"
#include "host/postgres/connection_settings.hpp"
#include "host/wiring/host_plugins.hpp"
#include "lib/toml/toml_document.hpp"

namespace muster {
namespace {

using config::Mistake;
using config::PluginInstance;
using config::Severity;
using plugin_loader::DescribedPlugin;

// "create failed: regions[0].zones: must be ..." → "/regions/0/zones", as far as the configuration
// has that; empty if the plugin named no key.
std::string pointer_in(std::string_view message, const json::object& config) {
  std::string pointer;
  const json::value whole(config);
  const json::value* here = &whole;
  std::string part;
  for (const char c : message.substr(0, std::min(message.find(": "), message.size()))) {
    if (c != '.' && c != '[' && c != ']') {
      part += c;
      continue;
    }
    if (part.empty()) continue;
    if (!here->is_object() || !here->get_object().contains(part)) return pointer;
    here = &here->get_object().at(part);
    pointer += "/" + config::pointer_part(part);
    part.clear();
  }
  if (here->is_object() && here->get_object().contains(part))
    pointer += "/" + config::pointer_part(part);
  return pointer;
}

class Check {
 public:
  Check(const config::HostConfiguration& host, const config::TomlDocument& document)
      : host_(host),
        document_(document),
        spawner_(cell_program()),
        plugins_(plugin_loader::describe_plugins(folders_of(host), spawner_)) {}

  // None of their code runs in this process.
  static std::vector<plugin_loader::PluginFolder> folders_of(
      const config::HostConfiguration& host) {
    std::vector<plugin_loader::PluginFolder> folders;
    for (const auto& path : host.plugin_folders) folders.push_back({path, false});
    return folders;
  }

  CheckedConfiguration run() {
    for (const std::string& problem : plugins_.problems)
      result_.problems.push_back("warning: " + problem);
    check_database();
    for (const PluginInstance& instance : host_.providers) check("providers", instance);
    for (const PluginInstance& instance : host_.strategies) check("strategies", instance);
    config::sort_mistakes(result_.mistakes);
    result_.good = !config::has_errors(result_.mistakes);
    check_worker_configurations();
    return std::move(result_);
  }

 private:
  void add(Severity severity, const std::string& pointer, std::string reason,
           bool about_key = false) {
    result_.mistakes.push_back(
        {severity, about_key ? document_.key_position(pointer) : document_.value_position(pointer),
         config::key_path(document_.root, pointer), std::move(reason), ""});
  }

  void check_database() {
    const std::string& address = host_.store.postgres;
    if (address.empty()) return;
    if (std::string mistake = postgres::mistake_in_address(address); !mistake.empty())
      return add(Severity::error, "/store/postgres", std::move(mistake));
    if (std::string unsafe = postgres::warning_about_address(address); !unsafe.empty())
      add(Severity::warning, "/store/postgres", std::move(unsafe));
  }

  // One that is not installed is told by the configuration's own check.
  void check(const std::string& table, const PluginInstance& instance) {
    const auto found = plugins_.plugins.find(instance.plugin);
    if (found == plugins_.plugins.end()) return;
    const std::string pointer = "/" + table + "/" + config::pointer_part(instance.id) + "/config";
    const json::value* schema = found->second.description.if_contains("configSchema");
    const auto compiled = schema ? json::Schema::compile(*schema)
                                 : Result<json::Schema>(Error::invalid("it has none"));
    if (!compiled)
      return add(Severity::error, pointer,
                 "the plugin's schema of it is wrong: " + compiled.error().message);
    const auto violations = compiled->validate(json::value(instance.config));
    for (const json::Violation& violation : violations)
      add(Severity::error, pointer + violation.path, violation.message,
          violation.schema_path.ends_with("/additionalProperties"));
    if (violations.empty()) try_to_start(found->second, instance, pointer);
  }

  // A refusal may be due to who asks and where: only one that blames the configuration is an error.
  void try_to_start(const DescribedPlugin& plugin, const PluginInstance& instance,
                    const std::string& pointer) {
    const auto started = plugin_loader::try_config(plugin, instance.config, spawner_);
    if (started) return;
    std::string message = started.error().message;
    constexpr std::string_view prefix = "create failed: ";
    if (message.starts_with(prefix)) message.erase(0, prefix.size());
    const ErrorClass why = started.error().error_class;
    const bool blames_it = why == ErrorClass::invalid || why == ErrorClass::config;
    add(blames_it ? Severity::error : Severity::warning,
        pointer + pointer_in(message, instance.config),
        blames_it ? "the plugin refuses it: " + message
                  : "the plugin does not start with it now: " + message);
  }

  // As far as that is possible without asking providers, and without fetching a repository.
  void check_worker_configurations() {
    const auto& workers = host_.worker_configurations;
    if (!workers || !workers->git.empty() || !std::filesystem::exists(workers->folder)) return;
    const auto files = rules::read_folder(workers->folder);
    if (!files) {
      result_.problems.push_back(files.error().message);
      result_.good = false;
      return;
    }
    const auto problems = pools::check_offline(*files, installed());
    for (const rules::Problem& problem : problems)
      result_.problems.push_back(rules::to_string(problem));
    result_.good = result_.good && !rules::has_errors(problems);
  }

  pools::InstalledPlugins installed() {
    pools::InstalledPlugins installed;
    for (const auto& [id, plugin] : plugins_.plugins)
      if (id.starts_with("provider/"))
        if (const auto added = installed.add(id, plugin.description); !added)
          result_.problems.push_back("warning: the plugin " + id +
                                     " cannot be used: " + added.error().message);
    for (const PluginInstance& strategy : host_.strategies)
      installed.strategies.push_back(strategy.id);
    installed.has_all_strategies = true;
    installed.provider_ids.emplace();
    for (const PluginInstance& provider : host_.providers)
      installed.provider_ids->push_back(provider.id);
    return installed;
  }

  const config::HostConfiguration& host_;
  const config::TomlDocument& document_;
  plugin_loader::CellSpawner spawner_;
  const plugin_loader::DescribedPlugins plugins_;
  CheckedConfiguration result_;
};

}  // namespace

CheckedConfiguration check_configuration(const config::Report& report, std::string_view text) {
  if (!report.configuration) return {};
  const auto parsed = config::parse_toml(text);
  const auto* document = boost::variant2::get_if<config::TomlDocument>(&parsed);
  if (!document) return {};  // the file has changed since it was read
  return Check(*report.configuration, *document).run();
}

}  // namespace muster

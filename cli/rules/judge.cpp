#include "cli/rules/judge.hpp"

#include <filesystem>

#include "cli/connection.hpp"
#include "cli/rules/target.hpp"
#include "host/config/default_configuration.hpp"
#include "host/plugin_loader/described_plugins.hpp"
#include "host/pools/offline_check.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

bool is_facts(const std::string& file) {
  return fs::path(file).filename() == rules::facts_file_name;
}

pools::InstalledPlugins installed_plugins(const JudgeOptions& options, Judgement& judgement,
                                          bool as_json) {
  const fs::path executable = fs::read_symlink("/proc/self/exe");
  std::vector<plugin_loader::PluginFolder> folders = {
      {config::shipped_plugin_folder(executable), true}};
  for (const std::string& folder : options.plugin_folders) {
    std::error_code code;
    if (!fs::is_directory(folder, code))
      fail(exit_usage, "There is no folder " + folder + " with plugins.", as_json);
    folders.push_back({folder, false});
  }
  plugin_loader::CellSpawner spawner(executable.parent_path() / "muster-cell");
  const auto described = plugin_loader::describe_plugins(folders, spawner, "provider");
  judgement.notes = described.problems;
  pools::InstalledPlugins installed;
  for (const auto& [id, plugin] : described.plugins)
    if (const auto added = installed.add(id, plugin.description); !added)
      judgement.notes.push_back("the plugin " + id + " cannot be used: " + added.error().message);
  for (const std::string& id : plugin_loader::plugin_ids(folders))
    if (!id.starts_with("provider/")) installed.strategies.push_back(id.substr(id.find('/') + 1));
  if (installed.providers.empty())
    judgement.notes.push_back(
        "no provider plugins are in " + folders.front().path.string() +
        ", so the sections of providers are not checked; install them, or name their folder with "
        "--plugins");
  return installed;
}

std::uint32_t number_in(const json::object& document, const char* key) {
  const json::value* value = document.if_contains(key);
  return value && value->is_int64() ? static_cast<std::uint32_t>(value->get_int64()) : 0;
}

rules::Problem problem_in(const json::object& said) {
  return {
      text_of(said, "severity") == "warning" ? rules::Severity::warning : rules::Severity::error,
      {text_of(said, "file"), {number_in(said, "line"), number_in(said, "column")}},
      text_of(said, "key"),
      text_of(said, "reason"),
      text_of(said, "remedy"),
      text_of(said, "code")};
}

// A host knows its providers: facts.toml is for those who ask none.
Judgement judged_by_host(std::span<const rules::SourceFile> files, const HostOptions& host,
                         bool as_json) {
  Judgement judgement;
  json::array sent;
  for (const rules::SourceFile& file : files) {
    if (is_facts(file.name)) continue;
    if (file.unreadable.empty())
      sent.push_back(json::object{{"name", file.name}, {"text", file.text}});
    else
      judgement.problems.push_back(
          {rules::Severity::error, {file.name, {}}, "", file.unreadable, "", "unreadableFile"});
  }
  HostClient client = connect(host);
  const auto answer =
      client.post(api_path + "worker-configurations/check", {{"files", std::move(sent)}});
  if (!answer)
    fail(exit_failed, "The host " + host.url + " cannot judge: " + answer.error().message, as_json);
  const json::object said = answer->is_object() ? answer->get_object() : json::object();
  for (const json::value& item : list_of(said, "problems"))
    if (item.is_object()) judgement.problems.push_back(problem_in(item.get_object()));
  for (const json::value& item : list_of(said, "waits"))
    if (item.is_object())
      judgement.notes.push_back(
          "the host cannot ask its provider " + text_of(item.get_object(), "providerId") +
          " now (" + text_of(item.get_object(), "reason") + "), so what it reads is not checked");
  rules::sort_problems(judgement.problems);
  return judgement;
}

}  // namespace

Judgement judge(std::span<const rules::SourceFile> files, const JudgeOptions& options,
                bool as_json) {
  if (!options.host.url.empty()) return judged_by_host(files, options.host, as_json);
  Judgement judgement;
  judgement.problems = pools::check_offline(files, installed_plugins(options, judgement, as_json));
  return judgement;
}

}  // namespace muster::cli

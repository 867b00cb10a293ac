// muster plugin list, muster plugin log, muster plugin rollback
#include <cstdio>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "cli/exit_code.hpp"
#include "cli/plugin/plugin_commands.hpp"
#include "host/plugin_loader/instance_record.hpp"
#include "host/plugin_loader/plugin_status.hpp"

namespace muster::cli {
namespace {

using plugin_loader::InstanceStatus;
using plugin_loader::PluginList;
using plugin_loader::PluginState;
using plugin_loader::PluginStatus;
using plugin_loader::VersionStatus;

constexpr const char* plugins_path = "/api/muster/v1/plugins";

// A reason of several lines is indented below its version.
void print_reason(const std::string& reason) {
  std::string line;
  for (const char c : harmless(reason, NewLines::kept) + "\n") {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (!line.empty()) std::printf("      %s\n", line.c_str());
    line.clear();
  }
}

void print_version(const VersionStatus& version) {
  if (!version.version.empty()) {
    std::printf("    version %-12s %-12s %.12s  since %s\n", harmless(version.version).c_str(),
                name_of(version.state).c_str(), harmless(version.sha256).c_str(),
                View::of_stdout().time(format_time(version.since)).c_str());
  }
  print_reason(version.reason);
}

void print_instance(const InstanceStatus& instance) {
  const std::string where =
      instance.pid ? "cell " + std::to_string(*instance.pid) : instance.isolation;
  std::printf("    instance %-18s %-12s %-14s restarts %lld  calls %lld (%lld failed)\n",
              harmless(instance.instance_id).c_str(), name_of(instance.state).c_str(),
              harmless(where).c_str(), static_cast<long long>(instance.restarts),
              static_cast<long long>(instance.calls),
              static_cast<long long>(instance.failed_calls));
  print_reason(instance.reason);
}

void print_list(const PluginList& list) {
  if (list.plugins.empty()) std::printf("No plugins.\n");
  for (const PluginStatus& plugin : list.plugins) {
    std::printf("%s  %s%s%s\n", harmless(plugin.plugin_id).c_str(), name_of(plugin.state).c_str(),
                plugin.description.empty() ? "" : "  ", harmless(plugin.description).c_str());
    for (const VersionStatus& version : plugin.versions) print_version(version);
    for (const InstanceStatus& instance : plugin.instances) print_instance(instance);
  }
}

struct InstanceHistory {
  std::vector<plugin_loader::MethodTimes> methods;
  std::vector<plugin_loader::LogEntry> log;

  static constexpr auto fields(auto visit) {
    return visit(required("methods", &InstanceHistory::methods),
                 required("log", &InstanceHistory::log));
  }
};

void print_history(const InstanceHistory& instance) {
  if (instance.methods.empty()) std::printf("No calls yet.\n");
  for (const plugin_loader::MethodTimes& method : instance.methods)
    std::printf("%-18s calls %lld (%lld failed)  p50 %.3f s  p90 %.3f s  p99 %.3f s\n",
                harmless(method.method).c_str(), static_cast<long long>(method.calls),
                static_cast<long long>(method.failed), method.p50, method.p90, method.p99);
  for (const plugin_loader::LogEntry& line : instance.log)
    std::printf("%s %s %s\n", format_time(line.at).c_str(), harmless(line.level).c_str(),
                harmless(line.text).c_str());
}

void show_list(const Result<json::value>& answer, bool as_json) {
  if (!answer) fail(answer.error());
  if (as_json) return print_json(*answer);
  const auto list = from_value<PluginList>(*answer);
  if (!list) fail(Error::internal("the host's answer cannot be read: " + list.error().message));
  print_list(*list);
}

}  // namespace

void list_plugins(const PluginListing& options) {
  HostClient host = connect(options.host);
  show_list(
      options.rescan ? host.post(std::string(plugins_path) + "/rescan") : host.get(plugins_path),
      options.as_json);
}

void show_plugin_log(const PluginLog& options) {
  const auto answer =
      connect(options.host)
          .get("/api/muster/v1/plugin-instances/" + path_segment(options.instance_id));
  if (!answer) fail(answer.error());
  if (options.as_json) return print_json(*answer);
  const auto read = from_value<InstanceHistory>(*answer);
  if (!read) fail(Error::internal("the host's answer cannot be read: " + read.error().message));
  print_history(*read);
}

void roll_back_plugin(const PluginRollback& options) {
  HostClient host = connect(options.host);
  show_list(
      host.post(std::string(plugins_path) + "/" + path_segment(options.plugin_id) + "/rollback"),
      options.as_json);
}

}  // namespace muster::cli

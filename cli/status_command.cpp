// muster status
#include <cstdio>
#include <memory>

#include "cli/command.hpp"
#include "cli/host_client.hpp"

namespace muster::cli {
namespace {

std::string text(const json::object& from, std::string_view key) {
  const auto* found = from.if_contains(key);
  if (!found || found->is_null()) return "";
  return found->is_string() ? std::string(found->get_string()) : json::write(*found);
}

void print_line(const char* title, const std::string& value) {
  if (!value.empty()) std::printf("%-16s %s\n", title, value.c_str());
}

std::string duration(const json::object& status) {
  const auto* seconds = status.if_contains("uptimeSeconds");
  const auto total = seconds && seconds->is_int64() ? seconds->get_int64() : 0;
  const auto days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;
  if (days > 0) return std::to_string(days) + "d " + std::to_string(hours) + "h";
  if (hours > 0) return std::to_string(hours) + "h " + std::to_string(minutes) + "m";
  return minutes > 0 ? std::to_string(minutes) + "m " + std::to_string(total % 60) + "s"
                     : std::to_string(total) + "s";
}

void print_list(const json::object& status, std::string_view key, const char* title) {
  const auto* list = status.if_contains(key);
  if (!list || !list->is_array()) return;
  for (const json::value& item : list->get_array())
    print_line(title, item.is_string() ? std::string(item.get_string()) : json::write(item));
}

// {"providers": [{"id", "plugin", ...}]}: one line for each.
void print_instances(const json::object& plugins, std::string_view key, const char* title) {
  const auto* list = plugins.if_contains(key);
  if (!list || !list->is_array()) return;
  for (const json::value& item : list->get_array()) {
    if (!item.is_object()) continue;
    const json::object& instance = item.get_object();
    const std::string state = text(instance, "state");
    print_line(title, text(instance, "id") + " (" + text(instance, "plugin") + ")" +
                          (state.empty() ? "" : " " + state));
  }
}

// One line for each object of the list: what it has under `member`.
void print_texts(const json::object& from, std::string_view key, std::string_view member,
                 const char* title) {
  const auto* list = from.if_contains(key);
  if (!list || !list->is_array()) return;
  for (const json::value& item : list->get_array())
    if (item.is_object()) print_line(title, text(item.get_object(), member));
}

// What keeps the fleet from deciding, and what the newest worker configurations are refused for.
void print_fleet(const json::object& fleet) {
  const std::string state = text(fleet, "state");
  print_line("fleet", state == "deciding"
                          ? text(fleet, "pools") + " pools, " + text(fleet, "workers") + " workers"
                          : state + ": " + text(fleet, "reason"));
  const auto* workers = fleet.if_contains("workerConfigurations");
  if (workers && workers->is_object()) {
    const json::object& status = workers->get_object();
    print_line("workers from", text(status, "source"));
    print_line("revision", text(status, "revision"));
    print_texts(status, "problems", "text", "problem");
    print_texts(status, "waits", "reason", "waits for");
    print_line("source", text(status, "sourceError"));
  }
  const auto* demand = fleet.if_contains("demand");
  if (!demand || !demand->is_array()) return;
  for (const json::value& item : demand->get_array()) {
    if (!item.is_object()) continue;
    const json::object& source = item.get_object();
    const std::string error = text(source, "error");
    const std::string age = text(source, "ageSeconds");
    print_line("demand", text(source, "name") + " (" + text(source, "type") +
                             "): " + text(source, "pending") + " pending" +
                             (age.empty() ? "" : ", " + age + " s old") +
                             (error.empty() ? "" : ", fails: " + error));
  }
}

void print_status(const json::object& status) {
  std::printf("musterd %s is %s at %s (pid %s, up %s)\n", text(status, "version").c_str(),
              text(status, "state").c_str(), text(status, "address").c_str(),
              text(status, "pid").c_str(), duration(status).c_str());
  print_line("data directory", text(status, "dataDirectory"));
  const std::string file = text(status, "configurationFile");
  print_line("configuration", file.empty() ? "(built-in)" : file);
  print_list(status, "configurationProblems", "refused");
  print_list(status, "restartNeeded", "restart needed");
  if (const auto* plugins = status.if_contains("plugins"); plugins && plugins->is_object()) {
    print_instances(plugins->get_object(), "providers", "provider");
    print_instances(plugins->get_object(), "strategies", "strategy");
  }
  if (const auto* fleet = status.if_contains("fleet"); fleet && fleet->is_object())
    print_fleet(fleet->get_object());
}

[[noreturn]] void fail(const Error& error) {
  std::fprintf(stderr, "muster: %s\n", error.message.c_str());
  throw Exit{exit_failed};
}

void run(const HostOptions& options, bool as_json) {
  auto address = find_host(options, process_environment);
  if (!address) fail(address.error());
  const auto status = HostClient(std::move(*address)).get("/api/muster/v1/status");
  if (!status) fail(status.error());
  if (as_json)
    std::printf("%s\n", json::write_pretty(*status).c_str());
  else if (status->is_object())
    print_status(status->get_object());
}

}  // namespace

void add_status_command(CLI::App& app) {
  const auto options = std::make_shared<HostOptions>();
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("status", "Show what the running host says of itself");
  add_host_options(*command, *options);
  command->add_flag("--json", *as_json, "Print JSON");
  command->callback([options, as_json] { run(*options, *as_json); });
}

}  // namespace muster::cli

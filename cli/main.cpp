// muster: the command line for operators and for teams that edit worker configurations.
#include <cstdio>
#include <exception>

#include "cli/command.hpp"
#include "cli/reference_commands.hpp"

namespace muster::cli {
namespace {

constexpr const char* where_hosts_are =
    "Commands that talk to a host find it by the first of: --url; the data directory of\n"
    "--data-directory; --context or MUSTER_CONTEXT; MUSTER_URL; TASKCLUSTER_ROOT_URL (with\n"
    "TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN); the context in use; `muster login`;\n"
    "a host that runs on this machine.\n"
    "They authenticate with the first of: --token; a context that was named; MUSTER_TOKEN;\n"
    "requests signed as TASKCLUSTER_CLIENT_ID with TASKCLUSTER_ACCESS_TOKEN (and\n"
    "TASKCLUSTER_CERTIFICATE for temporary credentials); the context in use or the login; the\n"
    "admin token in the data directory.\n"
    "MUSTER_CA_FILE has the same effect as --ca-file.\n"
    "Exit codes: 0 done, 1 failed or errors found, 2 wrong command line, 75 no worker in time.";

// Whether the command line asks for JSON, also if it cannot be parsed.
bool wants_json(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    const bool next_is_json = i + 1 < arguments.size() && arguments[i + 1] == "json";
    if (argument == "--json" || argument == "--output=json" || argument == "-ojson" ||
        argument == "--format=json")
      return true;
    if (next_is_json && (argument == "-o" || argument == "--output" || argument == "--format"))
      return true;
  }
  return false;
}

// The one place where a failure is printed.
int report(const CommandFailure& failure, bool as_json) {
  if (as_json || failure.as_json) {
    print_json({{"error", failure.message},
                {"code", failure.code.empty() ? "failed" : failure.code},
                {"exitCode", failure.exit_code}});
  } else {
    const Style style = Style::of_stderr();
    std::fprintf(stderr, "%s %s\n", style(Look::red, "muster:").c_str(),
                 harmless(failure.message, NewLines::kept).c_str());
  }
  return failure.exit_code;
}

// A command line that cannot be parsed; the nearest known word if one is mistyped.
CommandFailure usage_failure(const CLI::App& app, const CLI::ParseError& error,
                             const std::vector<std::string>& arguments) {
  const CommandInfo root = describe(app, "muster");
  std::string message = usage_advice(root, arguments);
  const std::string path = named_command(root, arguments).path;
  const std::size_t name = std::string_view("muster ").size();
  if (message.empty())
    message = (path.size() < name ? "" : path.substr(name) + ": ") + error.what();
  return {exit_usage, message + "\nSee: " + path + " --help", "usage"};
}

void add_all_commands(CLI::App& app) {
  app.name("muster");
  app.set_version_flag("--version", MUSTER_VERSION);
  app.require_subcommand(1);
  app.set_help_all_flag("--help-all", "Print the help of all commands");
  add_fleet_commands(app);
  add_queue_commands(app);
  add_client_commands(app);
  add_docs_commands(app);
  add_backup_commands(app);
  add_hosts_commands(app);
  add_plugin_commands(app);
  add_rule_commands(app);
  add_simulate_command(app);
  add_import_commands(app);
  add_login_commands(app);
  add_reference_commands(app);
  app.footer(where_hosts_are);  // last, or every command would have it
}

int run(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const bool as_json = wants_json(arguments);
  CLI::App app{"keeps fleets of CI workers at the right size"};
  add_all_commands(app);
  try {
    app.parse(argc, argv);
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help and version
    return report(usage_failure(app, error, arguments), as_json);
  } catch (const Exit& exit) {
    return exit.code;
  } catch (const CommandFailure& failure) {
    return report(failure, as_json);
  } catch (const std::exception& error) {
    return report({exit_failed, error.what(), "internal"}, as_json);
  }
}

}  // namespace

void add_host_options(CLI::App& command, HostOptions& options, bool with_data_directory) {
  command
      .add_option("--url", options.url, "Address of the host, such as https://muster.example.com")
      ->type_name("URL");
  command.add_option("--token", options.token, "Bearer token; other users can see it in `ps`")
      ->type_name("TOKEN");
  command.add_option("--ca-file", options.ca_file, "CA of the host's certificate (PEM)")
      ->type_name("FILE");
  command.add_option("--context", options.context, "A host that `muster context add` has stored")
      ->type_name("NAME");
  if (with_data_directory)
    command
        .add_option("--data-directory", options.data_directory,
                    "Data directory of a host on this machine; it holds the address and a token")
        ->type_name("FOLDER");
}

void add_output_options(CLI::App& command, bool& as_json, ViewOptions& view) {
  command.add_flag("--json", as_json, "Print JSON, as the host sends it");
  command
      .add_option("-o,--output", view.format,
                  "wide: all columns, nothing folded; json; name: names alone")
      ->check(CLI::IsMember({"wide", "json", "name"}))
      ->each([&as_json](const std::string& format) { as_json |= format == "json"; });
  command.add_flag("--no-headers", view.no_headers, "Tables without their first line");
}

CLI::App& add_noun(CLI::App& app, const char* name, const char* description) {
  const auto known =
      app.get_subcommands([name](const CLI::App* each) { return each->get_name() == name; });
  return known.empty() ? *app.add_subcommand(name, description) : *known.front();
}

}  // namespace muster::cli

int main(int argc, char** argv) {
  try {
    return muster::cli::run(argc, argv);
  } catch (const muster::cli::Exit& exit) {  // of a closed pipe
    return exit.code;
  }
}

#include "cli/plugin/plugin_commands.hpp"

#include <cstdio>
#include <memory>

#include "cli/command.hpp"

namespace muster::cli {
namespace {

template <class Options>
CLI::App* add_verb(CLI::App& plugin, const char* name, const char* help,
                   void (*run)(const Options&), const std::shared_ptr<Options>& options) {
  CLI::App* verb = plugin.add_subcommand(name, help);
  verb->add_flag("--json", options->as_json, "Print JSON");
  verb->callback([run, options] { run(*options); });
  return verb;
}

}  // namespace

void add_plugin_commands(CLI::App& app) {
  CLI::App* plugin = &add_noun(app, "plugin", "Plugins: list, check, install, roll back, create");
  plugin->require_subcommand(1);

  const auto listing = std::make_shared<PluginListing>();
  CLI::App* list = add_verb(*plugin, "list", "List the plugins of the host", list_plugins, listing);
  list->add_flag("--rescan", listing->rescan, "Make the host scan its plugin folders first");
  add_host_options(*list, listing->host);

  const auto logging = std::make_shared<PluginLog>();
  CLI::App* log = add_verb(*plugin, "log",
                           "Show how long the calls of a plugin instance take, and its newest log "
                           "lines",
                           show_plugin_log, logging);
  log->add_option("instance", logging->instance_id, "Its id, such as the provider's")->required();
  add_host_options(*log, logging->host);

  const auto checking = std::make_shared<PluginCheck>();
  CLI::App* check = add_verb(*plugin, "check",
                             "Test a plugin against the whole plugin contract, in a cell and in "
                             "process; needs no host",
                             check_plugin, checking);
  check->add_option("path", checking->path, "A folder with a plugin.toml, or a library (.so)");
  check->add_option("--service", checking->service,
                    "Instead of a plugin, the address of a provider of your own over HTTP: checks "
                    "it through provider/bridge, and launches and terminates workers there");
  check->add_option("--config", checking->config_file,
                    "JSON file with the configuration to check with; the check launches and "
                    "terminates workers there [default: the plugin's example]");
  check->add_option("--section", checking->section_file,
                    "JSON file with the section of a worker configuration to launch from "
                    "[default: the plugin's example]");

  const auto installation = std::make_shared<PluginInstallation>();
  CLI::App* install =
      add_verb(*plugin, "install", "Copy a plugin into a plugin folder, where the host loads it",
               install_plugin, installation);
  install->add_option("path", installation->path, "A folder with a plugin.toml, or a library (.so)")
      ->required();
  install->add_option("--folder", installation->folder,
                      "Plugin folder [default: the last one of the host]");
  add_host_options(*install, installation->host);

  const auto rollback = std::make_shared<PluginRollback>();
  CLI::App* back = add_verb(*plugin, "rollback", "Return to the previous version of a plugin",
                            roll_back_plugin, rollback);
  back->add_option("plugin", rollback->plugin_id, "provider/<name> or strategy/<name>")->required();
  add_host_options(*back, rollback->host);

  const auto beginning = std::make_shared<NewPlugin>();
  CLI::App* begin =
      add_verb(*plugin, "new", "Create a plugin: a folder that builds and passes its tests",
               make_new_plugin, beginning);
  begin->add_option("kind", beginning->kind, "provider or strategy")
      ->required()
      ->check(CLI::IsMember({"provider", "strategy"}));
  begin
      ->add_option("name", beginning->name,
                   "Lower-case letters, digits and _; begins with a letter")
      ->required();
  begin->add_option("folder", beginning->folder,
                    "Where to create it [default: a folder of that name here]");
}

}  // namespace muster::cli

// `muster import`: from other systems to worker configurations.
#include "cli/command.hpp"

#include <memory>

#include "cli/import/import.hpp"

namespace muster::cli {

void add_import_commands(CLI::App& app) {
  CLI::App& noun =
      add_noun(app, "import", "Make worker configurations from what other systems have");
  noun.require_subcommand(1);
  auto options = std::make_shared<ImportOptions>();
  auto* command = noun.add_subcommand(
      "taskcluster", "Turn worker pools of Taskcluster into worker configurations");
  command->footer(
      "SOURCE is a file (JSON or YAML) with what worker-manager's listWorkerPools or workerPool "
      "answer, a\n"
      "list of pools or the output of `tc-admin generate --json`; - for standard input; or the "
      "root URL of a\n"
      "deployment, which is asked with TASKCLUSTER_CLIENT_ID, TASKCLUSTER_ACCESS_TOKEN and\n"
      "TASKCLUSTER_CERTIFICATE if they are set. Each pool becomes one file, which `muster check` "
      "takes. The\n"
      "report says what could not be carried over; what looks like a secret is left out.\n"
      "\n"
      "Exit code: 0 everything was carried over, 1 nothing was written, 2 wrong command line, 3 "
      "written,\n"
      "but something was not carried over.\n"
      "Example: muster import taskcluster pools.json --provider-map aws=ec2 --output "
      "configs/workers");
  command->add_option("source", options->source, "A file, -, or a root URL")->required();
  command
      ->add_option("--provider-map", options->provider_map,
                   "What a provider of Taskcluster is called here: aws=ec2 [default: the same]")
      ->type_name("THERE=HERE");
  command
      ->add_option("--subnet-zone", options->subnet_zones,
                   "In which zone a subnet of AWS is: subnet-1=us-east-1a")
      ->type_name("SUBNET=ZONE");
  command->add_option("--pool", options->pool, "Only pools whose names match: 'gecko-t/*'")
      ->type_name("GLOB");
  command->add_option("--output", options->output, "Folder for the files [default: .]")
      ->type_name("FOLDER");
  command->add_flag("--facts", options->facts,
                    "Also write facts.toml, with the places that the pools use");
  command->add_flag("--dry-run", options->dry_run, "Print the files instead of writing them");
  command->add_flag("--force", options->force, "Replace files that are there");
  command->add_option("--plugins", options->plugin_folders,
                      "Folder with plugins of your own, whose sections are checked too");
  auto* client = command
                     ->add_option("--client-id", options->client_id,
                                  "Client of Taskcluster [TASKCLUSTER_CLIENT_ID]")
                     ->type_name("CLIENTID");
  command
      ->add_option("--access-token-file", options->access_token_file,
                   "File with its access token, readable by its owner only "
                   "[TASKCLUSTER_ACCESS_TOKEN]")
      ->type_name("FILE")
      ->needs(client);
  command->add_option("--ca-file", options->ca_file, "CA of the deployment's certificate (PEM)")
      ->type_name("FILE");
  command->add_flag("--json", options->as_json, "Print the report as JSON");
  command->callback([options] { import_taskcluster(*options); });
}

}  // namespace muster::cli

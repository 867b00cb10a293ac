// `muster simulate`: what would this configuration cost, and how long would tasks wait?
#include "cli/command.hpp"

#include <memory>

#include "cli/simulate/run.hpp"

namespace muster::cli {

void add_simulate_command(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  auto* command = app.add_subcommand(
      "simulate", "Simulate a configuration on a demand trace: waits, launches, cost");
  command->footer(
      "Nothing is launched: every provider is replaced by a simulated cloud. The demand is CSV, "
      "JSON\n"
      "lines or TOML; in CSV its first line is\n"
      "  time,workerPoolId,tasks,taskSeconds\n"
      "and a row such as 00:15:00,worker-manager/build-opt,40,600. Prices, boot times and failures "
      "are\n"
      "read from simulation.toml beside the configuration, if it exists. See docs/simulating.md."
      "\n"
      "The same arguments and files print the same bytes.\n"
      "\n"
      "Exit code: 0 simulated, 1 the configuration or the demand is wrong or an invariant was "
      "violated,\n"
      "2 wrong command line.\n"
      "Example: muster simulate configs/workers --demand monday.csv --svg monday.svg");
  command
      ->add_option(
          "config", options->configuration,
          "Folder with worker configurations and facts.toml, or a host configuration (TOML)")
      ->required();
  command->add_option("--demand", options->demand, "The demand trace; - reads standard input")
      ->required();
  auto* hours = command->add_option("--hours", options->hours,
                                    "Time to simulate [default: until all work is done, at most a "
                                    "day after the last arrival]");
  hours->check(CLI::Range(0.01, 8784.0));
  command
      ->add_option_function<double>(
          "--days", [options](double days) { options->hours = days * 24; },
          "Time to simulate, in days")
      ->check(CLI::Range(0.001, 366.0))
      ->excludes(hours);
  command->add_option("--seed", options->seed, "Seed of the random numbers [default: 1]");
  command->add_option("--strategy", options->strategy,
                      "Use this strategy for all pools, such as classic, cheapest or estimator");
  command
      ->add_option("--faults", options->faults,
                   "Faults besides those of simulation.toml: none, some or many [default: none]")
      ->check(CLI::IsMember({"none", "some", "many"}));
  command->add_option("--compare", options->compare,
                      "Also simulate this configuration, and show the differences");
  command->add_option("--prices", options->prices,
                      "Take the currency and the prices from this file, which is like "
                      "simulation.toml");
  command->add_option("--host", options->host.url,
                      "Take the prices that the providers of this host asked for its workers");
  command->add_option("--token", options->host.token, "Token for the host [MUSTER_TOKEN]");
  command->add_option("--ca-file", options->host.ca_file,
                      "Certificates that the host's may be signed by [MUSTER_CA_FILE]");
  command->add_option("--svg", options->svg, "Write a plot to this file");
  command->add_option("--html", options->html,
                      "Write a page with plots to this file, for a browser");
  command->add_flag("--json", options->json, "Print JSON, with a sample for each minute");
  command->callback([options] { simulate(*options); });
}

}  // namespace muster::cli

// `muster simulate`: what would this configuration cost, and how long would tasks wait?
#include "cli/command.hpp"

#include <memory>

#include "cli/simulate/run.hpp"

namespace muster::cli {

void add_simulate_command(CLI::App& app) {
  auto options = std::make_shared<SimulateOptions>();
  auto* command = app.add_subcommand(
      "simulate", "Try a configuration on a demand trace in virtual time: waits, launches, cost");
  command->footer(
      "Nothing is launched: every provider is replaced by a simulated cloud. The demand is CSV, "
      "JSON\n"
      "lines or TOML; in CSV its first line is\n"
      "  time,workerPoolId,tasks,taskSeconds\n"
      "and a row such as 00:15:00,worker-manager/build-opt,40,600. Prices, boot times and failures "
      "are\n"
      "read from simulation.toml beside the configuration, if it is there. docs/simulating.md "
      "tells all.\n"
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
                                    "Simulate so long [default: until all work is done, at most a "
                                    "day after the last arrival]");
  hours->check(CLI::Range(0.01, 8784.0));
  command
      ->add_option_function<double>(
          "--days", [options](double days) { options->hours = days * 24; }, "The same in days")
      ->check(CLI::Range(0.001, 366.0))
      ->excludes(hours);
  command->add_option("--seed", options->seed,
                      "Everything that is drawn depends on it [default: 1]");
  command->add_option("--strategy", options->strategy,
                      "Use this strategy for all pools, such as classic, cheapest or estimator");
  command
      ->add_option("--faults", options->faults,
                   "What goes wrong besides simulation.toml: none, some or many [default: none]")
      ->check(CLI::IsMember({"none", "some", "many"}));
  command->add_option("--compare", options->compare,
                      "Simulate this configuration, too, and show what differs");
  command->add_option("--svg", options->svg, "Write a plot to this file");
  command->add_flag("--json", options->json, "Print JSON, with a sample for each minute");
  command->callback([options] { simulate(*options); });
}

}  // namespace muster::cli

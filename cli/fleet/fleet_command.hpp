// A command that talks to a host, with the options that all of them have.
#pragma once

#include <memory>
#include <utility>

#include "cli/command.hpp"
#include "cli/fleet/actions.hpp"

namespace muster::cli {

using FleetAction = void (*)(const FleetOptions&);

struct FleetCommand {
  std::shared_ptr<FleetOptions> options = std::make_shared<FleetOptions>();
  CLI::App* app;

  FleetCommand(CLI::App& parent, const char* name, const char* description, FleetAction action)
      : FleetCommand(*parent.add_subcommand(name, description), action) {}
  // For a command that is there.
  FleetCommand(CLI::App& command, FleetAction action) : app(&command) {
    add_host_options(*app, options->host);
    add_output_options(*app, options->as_json, options->view);
    app->callback([given = options, action, at = app] {
      if (at->get_subcommands().empty()) action(*given);
    });
  }

  CLI::Option* pool() const {
    return app->add_option("pool", options->pool,
                           "The worker pool: a worker type, or provisionerId/workerType in full");
  }
  void worker() const {
    app->add_option("worker", options->worker, "workerGroup/workerId")->required();
  }
  void pool_of_worker() const {
    text("--pool", options->pool, "Its pool, if several pools have a worker of this name", "POOL");
  }
  void end_of_pause() const {
    auto* until =
        app->add_option("--until", options->until, "When it ends, such as 2026-01-02T03:04:05Z")
            ->type_name("TIME");
    app->add_option("--for", options->duration,
                    "How long: 30m, 2h, 3d [default: until it is ended]")
        ->type_name("DURATION")
        ->excludes(until);
  }
  CLI::Option* reason() const {
    return app->add_option("--reason", options->reason, "Why; shown in events and the log");
  }
  void yes() const { app->add_flag("--yes", options->yes, "Do not ask before it is done"); }
  void limit() const {
    app->add_option("--limit", options->limit, "Number of entries (1 to 1000)")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
  }
  CLI::Option* text(const char* name, std::string& into, const char* description,
                    const char* type = "TEXT") const {
    return app->add_option(name, into, description)->type_name(type);
  }
};

// One command with several spellings: the first is its own, the others are listed as spellings of
// it. `configure` adds the options to each.
struct Spelling {
  CLI::App* parent;
  const char* name;
};

template <class Configure>
void add_spellings(std::initializer_list<Spelling> spellings, const char* description,
                   FleetAction action, Configure configure) {
  std::string first;
  for (const Spelling& spelling : spellings) {
    const FleetCommand command(*spelling.parent, spelling.name, description, action);
    configure(command);
    if (first.empty())
      first =
          (spelling.parent->get_parent() ? spelling.parent->get_name() + " " : "") + spelling.name;
    else
      mark_as_spelling_of(*command.app, first);
  }
}

// change_commands.cpp: what changes something.
void add_change_commands(CLI::App& app);

}  // namespace muster::cli

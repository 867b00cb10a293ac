#include "cli/rules/commands.hpp"

#include "cli/command.hpp"

namespace muster::cli {

void add_rule_commands(CLI::App& app) {
  add_check(app);
  add_evaluate(app);
  add_explain(app);
  add_diff(app);
  add_rule(app);
}

}  // namespace muster::cli

// What the commands under `muster rule` share.
#pragma once

#include <string>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/edit.hpp>

namespace CLI {
class App;
}

namespace muster::cli {

struct RuleOptions {
  std::string configuration;
  std::string rule;
  std::string dir;
  bool json = false;
  bool dry_run = false;
};

// CONFIG, RULE, --dir and --json; for editing ones also --dry-run.
void add_common(CLI::App& command, RuleOptions& options, bool edits);

// Edits the file and says what was done. Ends the program if the edit is refused, or if the folder
// would have errors that it did not have before.
void apply_edits(const RuleOptions& options, const std::vector<rules::Edit>& edits);

void add_rule_get(CLI::App& rule);

}  // namespace muster::cli

// The commands about worker configurations. None needs a running host.
#pragma once

namespace CLI {
class App;
}

namespace muster::cli {

void add_check(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_explain(CLI::App& app);
void add_diff(CLI::App& app);
void add_rule(CLI::App& app);

}  // namespace muster::cli

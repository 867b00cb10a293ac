#include "lib/git/git_call.hpp"

#include <algorithm>

namespace muster::git {
namespace {

// Variables such as GIT_DIR or GIT_CONFIG_COUNT would lead git elsewhere, or make it run things.
std::vector<std::string> environment() {
  std::vector<std::string> all = own_environment();
  std::erase_if(all, [](const std::string& variable) {
    return variable.starts_with("GIT_") || variable.starts_with("SSH_ASKPASS") ||
           variable.starts_with("LC_") || variable.starts_with("LANG");
  });
  for (const char* variable :
       {"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=/bin/false", "SSH_ASKPASS=/bin/false",
        "SSH_ASKPASS_REQUIRE=never", "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"})
    all.emplace_back(variable);
  return all;
}

}  // namespace

Result<Finished> call_git(const std::filesystem::path& folder, std::vector<std::string> arguments,
                          Repository::Time time, std::string_view input, std::size_t max_output) {
  std::vector<std::string> words = {"git", "-C", folder.string()};
  for (const char* setting :
       {"core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.ext.allow=never",
        "gc.autoDetach=false", "maintenance.autoDetach=false", "submodule.recurse=false"})
    words.insert(words.end(), {"-c", setting});
  words.insert(words.end(), std::make_move_iterator(arguments.begin()),
               std::make_move_iterator(arguments.end()));
  return run_process(words, environment(), input, {time, max_output});
}

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

std::string complaint_of(const Finished& finished) {
  auto line = first_line(finished.err);
  for (const std::string_view prefix : {"fatal: ", "error: "})
    if (line.starts_with(prefix)) line.erase(0, prefix.size());
  return "git: " + (line.empty() ? "it failed without a message" : line);
}

}  // namespace muster::git

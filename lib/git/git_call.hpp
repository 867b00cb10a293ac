// How this host calls git.
#pragma once

#include "lib/git/process.hpp"
#include "lib/git/repository.hpp"

namespace muster::git {

// `git -C <folder> <arguments>`, with no GIT_* variable of ours, no hooks, no prompts.
Result<Finished> call_git(const std::filesystem::path& folder, std::vector<std::string> arguments,
                          Repository::Time time, std::string_view input = {},
                          std::size_t max_output = std::size_t{64} << 20);

// What git says is enough for a person, without its "fatal: ".
std::string complaint_of(const Finished& finished);
std::string first_line(std::string text);

}  // namespace muster::git

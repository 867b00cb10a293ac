// What the program knows of its own commands, as plain values: help, completion, man pages and the
// reference come from here, and so does the comparison with the host's API.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/json.hpp>

namespace muster::cli {

struct OptionInfo {
  std::vector<std::string> names = {};  // "--output", "-o"; of an argument: its name
  std::string value = {};               // "FILE"; empty: a flag
  std::vector<std::string> choices = {};
  std::string description = {};
  bool required = false;
  bool is_argument = false;  // and not an option
};

struct CommandInfo {
  std::string path = {};  // "muster pool list"
  std::string description = {};
  std::string footer = {};
  std::string same_as = {};  // "muster pool list"; empty: it is no other spelling
  std::vector<OptionInfo> options = {};
  std::vector<CommandInfo> commands = {};

  std::string name() const { return path.substr(path.rfind(' ') + 1); }
  const CommandInfo* find(std::string_view command) const;
  const OptionInfo* option(std::string_view option) const;
};

// A command and all below it.
template <class Visit>
void visit_commands(const CommandInfo& command, const Visit& visit) {
  visit(command);
  for (const CommandInfo& below : command.commands) visit_commands(below, visit);
}

// What is probably wrong with a command line that was refused, and the nearest thing that is known;
// empty if it is not a name.
std::string usage_advice(const CommandInfo& root, const std::vector<std::string>& arguments);

// The command that a command line names, as far as it is known.
const CommandInfo& named_command(const CommandInfo& root,
                                 const std::vector<std::string>& arguments);

// [{"command", "description", "sameAs", "options", "calls"}]
json::array reference_json(const CommandInfo& root);
std::string reference_markdown(const CommandInfo& root);

// completion.cpp: scripts for shells.
std::string bash_completion(const CommandInfo& root);
std::string zsh_completion(const CommandInfo& root);
std::string fish_completion(const CommandInfo& root);

// man_page.cpp: a page (roff) about a command and what is below it; `version` is for its footer.
std::string man_page(const CommandInfo& command, const std::string& version);
// The same for another program, from what it prints for --help.
std::string man_page_of_help(const std::string& program, const std::string& help,
                             const std::string& version);

// api_calls.cpp: "GET /pools" and the like that a command sends.
std::vector<std::string_view> api_calls(std::string_view command_path);

}  // namespace muster::cli

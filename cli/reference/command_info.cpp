#include "cli/reference/command_info.hpp"

#include <algorithm>

#include <muster/nearest.hpp>

namespace muster::cli {

const CommandInfo* CommandInfo::find(std::string_view command) const {
  for (const CommandInfo& below : commands)
    if (below.name() == command) return &below;
  return nullptr;
}

const OptionInfo* CommandInfo::option(std::string_view wanted) const {
  for (const OptionInfo& each : options)
    if (!each.is_argument && std::ranges::find(each.names, wanted) != each.names.end())
      return &each;
  return nullptr;
}

// -------------------------------------------------------------------------------------------------
// Mistakes

namespace {

std::ptrdiff_t arguments_of(const CommandInfo& command) {
  return std::ranges::count_if(command.options, &OptionInfo::is_argument);
}
bool takes_arguments(const CommandInfo& command) {
  return arguments_of(command) > 0;
}

std::string unknown_option(const CommandInfo& command, const std::string& given) {
  std::vector<std::string_view> known;
  for (const OptionInfo& option : command.options)
    if (!option.is_argument) known.insert(known.end(), option.names.begin(), option.names.end());
  const auto near = nearest(given, known);
  return command.path + " has no option " + given + (near ? "; did you mean " + *near + "?" : "");
}

std::string unknown_command(const CommandInfo& command, const std::string& given) {
  std::vector<std::string> names;
  for (const CommandInfo& below : command.commands) names.push_back(below.name());
  const auto near = nearest(given, {names.begin(), names.end()});
  return "there is no command " + command.path + " " + given +
         (near ? "; did you mean " + command.path + " " + *near + "?" : "");
}

// `muster pool shwo default`: the name of a pool stands where a verb was meant. Empty if no verb is
// near.
std::string mistyped_verb(const CommandInfo& command, const std::vector<std::string>& names) {
  if (command.commands.empty() || names.empty()) return {};
  const std::string advice = unknown_command(command, names.front());
  return advice.ends_with('?') ? advice : std::string();
}

// Walks along a command line. `stop` says where it is not understood any more.
struct Walk {
  const CommandInfo* command;
  std::string advice = {};
};

Walk walk(const CommandInfo& root, const std::vector<std::string>& arguments) {
  Walk at{&root};
  std::vector<std::string> names;  // arguments of the command
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") return at;
    if (argument.size() > 1 && argument[0] == '-') {
      const bool is_long = argument[1] == '-';
      const std::string name =
          is_long ? argument.substr(0, argument.find('=')) : argument.substr(0, 2);
      const OptionInfo* option = at.command->option(name);
      if (!option) {
        const std::string verb = mistyped_verb(*at.command, names);
        return {at.command, verb.empty() ? unknown_option(*at.command, name) : verb};
      }
      const bool has_value = name.size() != argument.size();
      if (!option->value.empty() && !has_value) ++i;
    } else if (const CommandInfo* below = at.command->find(argument)) {
      at.command = below;
      names.clear();
    } else if (!at.command->commands.empty() && !takes_arguments(*at.command)) {
      return {at.command, unknown_command(*at.command, argument)};
    } else {
      names.push_back(argument);
      if (std::ssize(names) > arguments_of(*at.command))
        if (std::string verb = mistyped_verb(*at.command, names); !verb.empty())
          return {at.command, std::move(verb)};
    }
  }
  return at;
}

}  // namespace

std::string usage_advice(const CommandInfo& root, const std::vector<std::string>& arguments) {
  return walk(root, arguments).advice;
}

const CommandInfo& named_command(const CommandInfo& root,
                                 const std::vector<std::string>& arguments) {
  return *walk(root, arguments).command;
}

// -------------------------------------------------------------------------------------------------
// The reference

namespace {

json::object to_json(const OptionInfo& option) {
  json::array names(option.names.begin(), option.names.end());
  json::object document{{"names", std::move(names)}, {"description", option.description}};
  if (!option.value.empty()) document["value"] = option.value;
  if (!option.choices.empty())
    document["choices"] = json::array(option.choices.begin(), option.choices.end());
  if (option.required) document["required"] = true;
  if (option.is_argument) document["argument"] = true;
  return document;
}

// What most commands have is said once, at the top of the page.
bool is_usual(const OptionInfo& option) {
  constexpr std::string_view usual[] = {"--url",  "--token",   "--ca-file",    "--data-directory",
                                        "--json", "--output",  "--no-headers", "--context",
                                        "--help", "--help-all"};
  return std::ranges::any_of(option.names, [&](const std::string& name) {
    return std::ranges::find(usual, name) != std::end(usual);
  });
}

std::string for_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, "\\");
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::string usage_of(const CommandInfo& command) {
  std::string usage = command.path;
  for (const OptionInfo& option : command.options) {
    if (is_usual(option)) continue;
    std::string shown = option.names.front();
    if (!option.is_argument && !option.value.empty()) shown += " " + option.value;
    if (option.is_argument) std::ranges::transform(shown, shown.begin(), ::toupper);
    usage += option.required ? " " + shown : " [" + shown + "]";
  }
  return usage;
}

void add_rows(const CommandInfo& command, std::string& out) {
  if (!command.same_as.empty()) return;
  const bool acts = command.commands.empty() || takes_arguments(command);
  if (acts && command.path != "muster")
    out += "| `" + for_cell(usage_of(command)) + "` | " + for_cell(command.description) + " |\n";
  for (const CommandInfo& below : command.commands) add_rows(below, out);
}

}  // namespace

json::array reference_json(const CommandInfo& root) {
  json::array all;
  visit_commands(root, [&](const CommandInfo& command) {
    json::array options, calls, commands;
    for (const OptionInfo& option : command.options) options.push_back(to_json(option));
    for (const std::string_view call : api_calls(command.path)) calls.emplace_back(call);
    for (const CommandInfo& below : command.commands) commands.emplace_back(below.name());
    json::object document{{"command", command.path},
                          {"description", command.description},
                          {"options", std::move(options)},
                          {"commands", std::move(commands)},
                          {"calls", std::move(calls)}};
    if (!command.same_as.empty()) document["sameAs"] = command.same_as;
    all.push_back(std::move(document));
  });
  return all;
}

std::string reference_markdown(const CommandInfo& root) {
  std::string out = "| command | what it does |\n|---|---|\n";
  for (const CommandInfo& command : root.commands) add_rows(command, out);
  out += "\nOlder and shorter spellings do the same:\n\n| spelling | command |\n|---|---|\n";
  visit_commands(root, [&](const CommandInfo& command) {
    if (!command.same_as.empty())
      out += "| `" + for_cell(usage_of(command)) + "` | `" + command.same_as + "` |\n";
  });
  return out;
}

}  // namespace muster::cli

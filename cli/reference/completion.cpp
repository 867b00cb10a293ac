// Scripts that complete commands, options and values, for bash, zsh and fish.
#include <algorithm>

#include "cli/reference/command_info.hpp"

namespace muster::cli {
namespace {

// In single quotes, for a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string joined(const std::vector<std::string>& words, const char* between = " ") {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

std::vector<std::string> option_names(const CommandInfo& command, bool valued_only) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options)
    if (!option.is_argument && (!valued_only || !option.value.empty()))
      names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// The values that an argument of the command may have.
std::vector<std::string> argument_choices(const CommandInfo& command) {
  std::vector<std::string> choices;
  for (const OptionInfo& option : command.options)
    if (option.is_argument)
      choices.insert(choices.end(), option.choices.begin(), option.choices.end());
  return choices;
}

// One line of an array of bash or zsh: [muster pool]='list show'.
std::string entry(const std::string& key, const std::string& value) {
  return value.empty() ? "" : "  [" + quoted(key) + "]=" + quoted(value) + "\n";
}

struct Arrays {
  std::string commands, options, valued, choices;
};

Arrays arrays_of(const CommandInfo& root) {
  Arrays arrays;
  visit_commands(root, [&](const CommandInfo& command) {
    std::vector<std::string> below;
    for (const CommandInfo& each : command.commands)
      if (each.same_as.empty() || &command != &root) below.push_back(each.name());
    arrays.commands += entry(command.path, joined(below));
    arrays.options += entry(command.path, joined(option_names(command, false)));
    arrays.valued += entry(command.path, joined(option_names(command, true)));
    arrays.choices += entry(command.path, joined(argument_choices(command)));
    for (const OptionInfo& option : command.options)
      if (!option.is_argument)
        for (const std::string& name : option.names)
          arrays.choices += entry(command.path + " " + name, joined(option.choices));
  });
  return arrays;
}

std::string spellings_of(const CommandInfo& root) {
  std::string all;
  for (const CommandInfo& command : root.commands)
    if (!command.same_as.empty()) all += (all.empty() ? "" : " ") + command.name();
  return all;
}

}  // namespace

std::string bash_completion(const CommandInfo& root) {
  const Arrays arrays = arrays_of(root);
  return "# Completion of muster for bash: made by `muster completion bash`.\n"
         "declare -gA _muster_commands=(\n" +
         arrays.commands + ")\n" + "declare -gA _muster_options=(\n" + arrays.options + ")\n" +
         "declare -gA _muster_valued=(\n" + arrays.valued + ")\n" +
         "declare -gA _muster_choices=(\n" + arrays.choices + ")\n" +
         "_muster_spellings=" + quoted(spellings_of(root)) + R"(

_muster() {
  local cur=${COMP_WORDS[COMP_CWORD]} path=muster word value="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == = ]]; then continue; fi
    if [[ -n $value ]]; then value=""; continue; fi
    if [[ $word == -- ]]; then
      compopt -o default 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -c -- "$cur")
      return 0
    fi
    if [[ $word == -* ]]; then
      if [[ " ${_muster_valued[$path]-} " == *" $word "* ]]; then value=$word; fi
    elif [[ " ${_muster_commands[$path]-} " == *" $word "* ||
      ($path == muster && " $_muster_spellings " == *" $word "*) ]]; then
      path="$path $word"
    fi
  done
  if [[ $cur == = ]]; then cur=""; fi
  local words
  if [[ -n $value ]]; then
    words=${_muster_choices["$path $value"]-}
    if [[ -z $words ]]; then compopt -o default 2>/dev/null; return 0; fi
  elif [[ $cur == -* ]]; then
    words=${_muster_options[$path]-}
  else
    words="${_muster_commands[$path]-} ${_muster_choices[$path]-}"
    if [[ -z ${words// /} ]]; then compopt -o default 2>/dev/null; return 0; fi
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -F _muster muster
)";
}

std::string zsh_completion(const CommandInfo& root) {
  const Arrays arrays = arrays_of(root);
  std::string descriptions;
  visit_commands(root, [&](const CommandInfo& command) {
    if (!command.commands.empty())
      for (const CommandInfo& below : command.commands)
        if (below.same_as.empty()) descriptions += entry(below.path, below.description);
  });
  return "#compdef muster\n# Completion of muster for zsh: made by `muster completion zsh`.\n"
         "typeset -gA _muster_commands=(\n" +
         arrays.commands + ")\n" + "typeset -gA _muster_options=(\n" + arrays.options + ")\n" +
         "typeset -gA _muster_valued=(\n" + arrays.valued + ")\n" +
         "typeset -gA _muster_choices=(\n" + arrays.choices + ")\n" +
         "typeset -gA _muster_descriptions=(\n" + descriptions + ")\n" +
         "typeset -g _muster_spellings=" + quoted(spellings_of(root)) + R"(

_muster() {
  local path_=muster word value="" i
  local -a known candidates
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    if [[ -n $value ]]; then value=""; continue; fi
    if [[ $word == -- ]]; then _command_names; return; fi
    if [[ $word == -* ]]; then
      known=(${=_muster_valued[$path_]})
      if (( ${known[(Ie)$word]} )); then value=$word; fi
    else
      known=(${=_muster_commands[$path_]})
      if [[ $path_ == muster ]]; then known+=(${=_muster_spellings}); fi
      if (( ${known[(Ie)$word]} )); then path_="$path_ $word"; fi
    fi
  done
  if [[ -n $value ]]; then
    candidates=(${=_muster_choices[$path_ $value]})
    if (( ${#candidates} )); then compadd -a candidates; else _files; fi
    return
  fi
  if [[ ${words[CURRENT]} == -* ]]; then
    candidates=(${=_muster_options[$path_]})
    compadd -a candidates
    return
  fi
  known=(${=_muster_commands[$path_]})
  for word in $known; do
    candidates+=("$word:${_muster_descriptions[$path_ $word]}")
  done
  if (( ${#candidates} )); then _describe command candidates; fi
  candidates=(${=_muster_choices[$path_]})
  if (( ${#candidates} )); then compadd -a candidates; elif (( ! ${#known} )); then _files; fi
}

if [[ $funcstack[1] == _muster ]]; then _muster "$@"; else compdef _muster muster; fi
)";
}

std::string fish_completion(const CommandInfo& root) {
  std::string paths, lines;
  visit_commands(root, [&](const CommandInfo& command) {
    paths += " " + quoted(command.path);
    const std::string start =
        "complete -c muster -n " + quoted("__muster_at \"" + command.path + "\"");
    for (const CommandInfo& below : command.commands)
      if (below.same_as.empty() || &command != &root)
        lines +=
            start + " -f -a " + quoted(below.name()) + " -d " + quoted(below.description) + "\n";
    for (const OptionInfo& option : command.options) {
      if (option.is_argument) {
        if (!option.choices.empty())
          lines += start + " -f -a " + quoted(joined(option.choices)) + "\n";
        continue;
      }
      lines += start;
      for (const std::string& name : option.names)
        lines +=
            (name.starts_with("--") ? " -l " + quoted(name.substr(2)) : " -s " + name.substr(1));
      if (!option.value.empty()) lines += " -r";
      if (!option.choices.empty()) lines += " -f -a " + quoted(joined(option.choices));
      lines += " -d " + quoted(option.description) + "\n";
    }
  });
  return "# Completion of muster for fish: made by `muster completion fish`.\n"
         "set -g __muster_paths" +
         paths + R"(

function __muster_at
    set -l path muster
    for word in (commandline -opc)[2..-1]
        if test "$word" = --
            return 1
        end
        if contains -- "$path $word" $__muster_paths
            set path "$path $word"
        end
    end
    test "$path" = "$argv[1]"
end

)" + lines;
}

}  // namespace muster::cli

// Manual pages in the language of man(7), made from what --help says.
#include <algorithm>
#include <cctype>

#include "cli/reference/command_info.hpp"

namespace muster::cli {
namespace {

// Text that roff prints as it is.
std::string roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string dashed(std::string path) {
  std::ranges::replace(path, ' ', '-');
  return path;
}

std::string title(const std::string& page, const std::string& version) {
  return ".TH " + upper(roff(page)) + " 1 \"\" \"muster " + roff(version) + "\" \"muster\"\n";
}

std::string option_lines(const OptionInfo& option) {
  std::string names;
  for (const std::string& name : option.names)
    names += (names.empty() ? "" : ", ") +
             ("\\fB" + roff(option.is_argument ? upper(name) : name) + "\\fR");
  if (!option.value.empty() && !option.is_argument) names += " \\fI" + roff(option.value) + "\\fR";
  std::string text = roff(option.description);
  if (!option.choices.empty()) {
    std::string choices;
    for (const std::string& choice : option.choices)
      choices += (choices.empty() ? "" : ", ") + choice;
    text += (text.empty() ? "" : ": ") + roff(choices);
  }
  if (option.required) text += text.empty() ? "required" : " (required)";
  return ".TP\n" + names + "\n" + text + "\n";
}

std::string synopsis(const CommandInfo& command) {
  std::string out = "\\fB" + roff(command.path) + "\\fR";
  if (std::ranges::any_of(command.options, [](const OptionInfo& o) { return !o.is_argument; }))
    out += " [\\fIoptions\\fR]";
  for (const OptionInfo& option : command.options)
    if (option.is_argument)
      out += option.required ? " \\fI" + roff(upper(option.names[0])) + "\\fR"
                             : " [\\fI" + roff(upper(option.names[0])) + "\\fR]";
  if (!command.commands.empty()) out += " \\fIcommand\\fR ...";
  return out;
}

void add_command(const CommandInfo& command, std::string& out) {
  out += ".SS \"" + roff(command.path) + "\"\n" + roff(command.description) + ".\n.PP\n" +
         synopsis(command) + "\n";
  for (const OptionInfo& option : command.options) out += option_lines(option);
  if (!command.footer.empty()) out += ".PP\n.nf\n" + roff(command.footer) + "\n.fi\n";
  for (const CommandInfo& below : command.commands) add_command(below, out);
}

}  // namespace

std::string man_page(const CommandInfo& command, const std::string& version) {
  std::string out = title(dashed(command.path), version) + ".SH NAME\n" +
                    roff(dashed(command.path)) + " \\- " + roff(command.description) + "\n" +
                    ".SH SYNOPSIS\n" + synopsis(command) + "\n";
  const bool is_root = command.path.find(' ') == std::string::npos;
  if (!command.options.empty()) out += ".SH OPTIONS\n";
  for (const OptionInfo& option : command.options) out += option_lines(option);
  if (!command.commands.empty()) out += ".SH COMMANDS\n";
  for (const CommandInfo& below : command.commands) {
    if (!is_root) {
      add_command(below, out);
      continue;
    }
    out += ".TP\n\\fB" + roff(below.path) + "\\fR\n" +
           roff(below.same_as.empty() ? below.description : "Same as " + below.same_as) + "\n";
  }
  if (!command.footer.empty()) out += ".SH NOTES\n.nf\n" + roff(command.footer) + "\n.fi\n";
  out +=
      ".SH EXIT STATUS\n0: done. 1: it failed, or found errors. 2: the command line is wrong. "
      "75: no worker came in time.\n";
  out += ".SH SEE ALSO\n";
  if (!is_root) return out + ".BR muster (1)\n";
  for (const CommandInfo& below : command.commands)
    if (below.same_as.empty()) out += ".BR " + roff(dashed(below.path)) + " (1)\n";
  return out;
}

std::string man_page_of_help(const std::string& program, const std::string& help,
                             const std::string& version) {
  const std::size_t end = std::min(help.find('\n'), help.size());
  std::string description = help.substr(0, end);
  if (description.starts_with(program + " ")) description.erase(0, program.size() + 1);
  std::string out = title(program, version) + ".SH NAME\n" + roff(program) + " \\- " +
                    roff(description) + "\n.SH DESCRIPTION\n.nf\n" + roff(help.substr(end)) +
                    ".fi\n.SH SEE ALSO\n.BR muster (1)\n";
  return out;
}

}  // namespace muster::cli

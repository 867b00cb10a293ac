// muster completion, man and commands; and the values that they are made of, read from the parser.
#include "cli/reference_commands.hpp"

#include <filesystem>
#include <iostream>
#include <iterator>

#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::cli {
namespace {

constexpr std::string_view same_as = "Same as: ";

// "TEXT:{wide,json}" → {"wide", "json"}
std::vector<std::string> choices_in(const std::string& type) {
  std::vector<std::string> choices;
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return choices;
  std::string word;
  for (const char c : type.substr(open + 1, close - open)) {
    if (c != ',' && c != '}') {
      word += c;
      continue;
    }
    choices.push_back(word);
    word.clear();
  }
  return choices;
}

OptionInfo info_of(const CLI::Option& option) {
  OptionInfo info{.description = option.get_description(), .required = option.get_required()};
  info.is_argument = option.get_lnames().empty() && option.get_snames().empty();
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  if (info.is_argument) info.names.push_back(option.get_name(true));
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() > 0) info.value = type.substr(0, type.find(':'));
  info.choices = choices_in(type);
  return info;
}

}  // namespace

CommandInfo describe(const CLI::App& app, const std::string& path) {
  CommandInfo info{.path = path, .description = app.get_description(), .footer = app.get_footer()};
  if (info.description.starts_with(same_as)) info.same_as = info.description.substr(same_as.size());
  for (const CLI::Option* option : app.get_options()) info.options.push_back(info_of(*option));
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    info.commands.push_back(describe(*below, path + " " + below->get_name()));
  return info;
}

void mark_as_spelling_of(CLI::App& command, const std::string& of) {
  command.group(other_spellings);
  command.description(std::string(same_as) + "muster " + of);
}

namespace {

void write_page(const std::filesystem::path& folder, const std::string& name,
                const std::string& text) {
  const auto written = write_file_atomically(folder / (name + ".1"), text, 0644);
  if (!written) fail(written.error());
}

void write_pages(const CommandInfo& root, const std::filesystem::path& folder) {
  std::error_code trouble;
  std::filesystem::create_directories(folder, trouble);
  if (trouble) fail(Error::config(folder.string() + " cannot be made: " + trouble.message()));
  write_page(folder, "muster", man_page(root, MUSTER_VERSION));
  for (const CommandInfo& command : root.commands)
    if (command.same_as.empty())
      write_page(folder, "muster-" + command.name(), man_page(command, MUSTER_VERSION));
}

struct ManOptions {
  std::vector<std::string> command;
  std::string folder, program;
  bool as_json = false;
};

// With --json the page is a text of the document, for there is nothing else to say.
void put_text(const std::string& text, bool as_json) {
  if (as_json) return print_json({{"text", text}});
  print(text);
}

void show_page(const CLI::App& app, const ManOptions& options) {
  const CommandInfo root = describe(app, "muster");
  if (!options.program.empty()) {
    const std::string help{std::istreambuf_iterator<char>(std::cin), {}};
    return put_text(man_page_of_help(options.program, help, MUSTER_VERSION), options.as_json);
  }
  if (!options.folder.empty()) return write_pages(root, options.folder);
  if (options.command.empty()) return put_text(man_page(root, MUSTER_VERSION), options.as_json);
  // The page of a noun has its verbs.
  const CommandInfo* command = root.find(options.command.front());
  const std::string advice = usage_advice(root, options.command);
  if (!command || !advice.empty()) throw CommandFailure{exit_usage, advice, "usage"};
  put_text(man_page(*command, MUSTER_VERSION), options.as_json);
}

void add_man(CLI::App& app) {
  const auto options = std::make_shared<ManOptions>();
  CLI::App* man = app.add_subcommand("man", "Print a manual page: muster man pool | man -l -");
  man->add_option("command", options->command, "The command [default: all of them in short]");
  man->add_option("--folder", options->folder, "Write the pages of all commands into this folder")
      ->type_name("FOLDER");
  man->add_option("--program", options->program,
                  "Make the page of another program, whose --help is on standard input")
      ->type_name("NAME");
  man->add_flag("--json", options->as_json, "Print JSON");
  man->callback([&app, options] { show_page(app, *options); });
}

void add_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  const auto as_json = std::make_shared<bool>(false);
  CLI::App* completion =
      app.add_subcommand("completion", "Print a script that completes commands in a shell");
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->add_flag("--json", *as_json, "Print JSON");
  completion->footer(
      "For one shell:  source <(muster completion bash)\n"
      "For all of them:\n"
      "  muster completion bash > /etc/bash_completion.d/muster\n"
      "  muster completion zsh > /usr/local/share/zsh/site-functions/_muster\n"
      "  muster completion fish > ~/.config/fish/completions/muster.fish");
  completion->callback([&app, shell, as_json] {
    const CommandInfo root = describe(app, "muster");
    put_text(*shell == "bash"  ? bash_completion(root)
             : *shell == "zsh" ? zsh_completion(root)
                               : fish_completion(root),
             *as_json);
  });
}

std::string command_table(const json::object& document, const View& view) {
  Table rows;
  for (const json::object& command : objects_of(document, "commands"))
    if (!command.contains("sameAs"))
      rows.add({{text_of(command, "command"), Look::bold}, {text_of(command, "description")}});
  return rows.text(view);
}

void add_commands(CLI::App& app) {
  struct Options {
    bool as_json = false, markdown = false;
    ViewOptions view;
  };
  const auto options = std::make_shared<Options>();
  CLI::App* commands = app.add_subcommand(
      "commands", "List all commands; with --json also their options and the API paths they call");
  add_output_options(*commands, options->as_json, options->view);
  commands->add_flag("--markdown", options->markdown, "As the tables of docs/cli.md");
  commands->callback([&app, options] {
    const CommandInfo root = describe(app, "muster");
    if (options->markdown) return print(reference_markdown(root));
    put_out(json::object{{"commands", reference_json(root)}}, options->as_json, options->view,
            command_table);
  });
}

}  // namespace

void add_reference_commands(CLI::App& app) {
  add_commands(app);
  add_completion(app);
  add_man(app);
}

}  // namespace muster::cli

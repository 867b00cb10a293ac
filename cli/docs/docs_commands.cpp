// muster docs push|pull|show|list|delete: documentation of pools and worker configurations.
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/docs/folder.hpp"
#include "cli/fleet/show.hpp"
#include "host/documentation/hierarchy.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::cli {
namespace {

struct DocsOptions {
  HostOptions host;
  ViewOptions view;
  bool as_json = false, is_configuration = false, html = false, orphans = false, yes = false;
  std::string subject, source, target, file, if_match;

  // "worker-manager/build" of "build".
  std::string name() const { return is_configuration ? subject : with_provisioner(subject); }
  std::string path(const std::string& below = "") const {
    return api_path + (is_configuration ? "worker-configurations/files/" : "pools/") +
           path_segment(name()) + "/documentation" + below;
  }
};
using Options = std::shared_ptr<DocsOptions>;

std::string bytes_of(Result<std::string> bytes) {
  if (!bytes) fail(bytes.error());
  return std::move(*bytes);
}

json::object object_of(Result<json::value> answer) {
  const json::value document = answer_of(std::move(answer));
  return document.is_object() ? document.get_object() : json::object();
}

// -------------------------------------------------------------------------------------------------
// Words

std::string show_pushed(const json::object& document, const View& style) {
  return style(Look::bold, text_of(document, "name")) + ": pushed " + text_of(document, "files") +
         " files of " + text_of(document, "project") + ", sha256 " + text_of(document, "digest") +
         "\n";
}

std::string show_list(const json::object& document, const View& style) {
  Table rows;
  rows.add_heads({"NAME", "KIND", "PROJECT", "FILES", "BYTES", "CHANGED", "BY", ""});
  for (const json::object& each : objects_of(document, "documentation"))
    rows.add({{text_of(each, "name"), Look::bold},
              {text_of(each, "kind")},
              {text_of(each, "project")},
              {text_of(each, "files")},
              {text_of(each, "bytes")},
              {style.time(text_of(each, "lastModified"))},
              {text_of(each, "changedBy")},
              {text_of(each, "orphan") == "true" ? "orphan" : "", Look::yellow}});
  return list_of(document, "documentation").empty() ? "No documentation.\n" : rows.text(style);
}

std::string show_files(const json::object& document, const View& style) {
  std::string out = style(Look::bold, text_of(document, "name")) + " sha256 " +
                    text_of(document, "digest") + ", " +
                    style.time(text_of(document, "lastModified")) + " by " +
                    text_of(document, "changedBy") + "\n";
  for (const json::value& path : list_of(document, "paths"))
    if (path.is_string()) out += "  " + harmless(std::string(path.get_string())) + "\n";
  return out;
}

// -------------------------------------------------------------------------------------------------
// Work

// Checked before it is sent, so that a mistake is found without a host.
std::string tarball_of(const std::string& source) {
  if (!std::filesystem::is_directory(source))
    return bytes_of(read_file(source, documentation::Limits{}.compressed_bytes));
  const auto files = files_of_folder(source);
  if (!files) fail(files.error());
  if (auto fits = documentation::check_hierarchy(*files); !fits) fail(fits.error());
  return bytes_of(documentation::pack(*files));
}

void push(const DocsOptions& options) {
  const std::string tarball = tarball_of(options.source);
  if (const auto checked = documentation::read_tarball(tarball); !checked) fail(checked.error());
  const std::string condition = options.if_match.empty() ? "" : "\"" + options.if_match + "\"";
  put_out(
      object_of(
          connect(options.host).put_bytes(options.path(), tarball, "application/gzip", condition)),
      options.as_json, options.view, show_pushed);
}

void pull(const DocsOptions& options) {
  const bool to_stdout = options.target == "-";
  if (to_stdout && ::isatty(STDOUT_FILENO) != 0)
    fail(Error::invalid("a tarball is nothing for a terminal: name a file"));
  const std::string tarball = bytes_of(connect(options.host).get_bytes(options.path()));
  if (to_stdout) return print(tarball);
  if (const auto written = write_file_atomically(options.target, tarball, 0644); !written)
    fail(written.error());
  print("wrote " + std::to_string(tarball.size()) + " bytes to " + options.target + "\n");
}

std::string path_of_file(const std::string& file) {
  std::string path = "/files";
  for (std::string_view rest = file;;) {
    const auto slash = std::min(rest.find('/'), rest.size());
    path += "/" + path_segment(rest.substr(0, slash));
    if (slash == rest.size()) return path;
    rest.remove_prefix(slash + 1);
  }
}

// Documents are somebody else's text: a terminal must not act on what stands in them.
void show(const DocsOptions& options) {
  const std::string below = !options.file.empty() ? path_of_file(options.file)
                            : options.html        ? "/html"
                                                  : "/markdown";
  const std::string text = bytes_of(connect(options.host).get_bytes(options.path(below)));
  const bool to_terminal = ::isatty(STDOUT_FILENO) != 0;
  print(to_terminal ? harmless(text, NewLines::kept) : text);
}

void list(const DocsOptions& options) {
  HostClient host = connect(options.host);
  if (!options.subject.empty())
    return put_out(object_of(host.get(options.path("/description"))), options.as_json, options.view,
                   show_files);
  json::object document = object_of(host.get(api_path + "documentation"));
  if (options.orphans) {
    json::array orphans;
    for (json::object& each : objects_of(document, "documentation"))
      if (text_of(each, "orphan") == "true") orphans.push_back(std::move(each));
    document["documentation"] = std::move(orphans);
  }
  put_out(document, options.as_json, options.view, show_list);
}

void delete_docs(const DocsOptions& options) {
  HostClient host = connect(options.host);
  answer_of(host.get(options.path("/description")));  // a mistyped name is said first
  confirm(options.yes, "Delete the documentation of " + options.name() + "?");
  answer_of(host.remove(options.path()));
  put_out(json::object{{"deleted", options.name()}}, options.as_json, options.view,
          [](const json::object& document, const View&) {
            return "deleted the documentation of " + text_of(document, "deleted") + "\n";
          });
}

CLI::App* add_docs_verb(CLI::App& group, const char* name, const char* description,
                        const Options& options, void (*work)(const DocsOptions&),
                        bool needs_subject = true) {
  CLI::App* command = group.add_subcommand(name, description);
  add_host_options(*command, options->host);
  auto* subject = command->add_option(
      "subject", options->subject,
      "Pool, such as worker-manager/build or build; with --configuration a worker configuration");
  if (needs_subject) subject->required();
  command->add_flag("--configuration", options->is_configuration,
                    "The subject is a worker configuration: its file's name without .toml");
  command->callback([options, work] { work(*options); });
  return command;
}

void add_output(CLI::App* command, const Options& options) {
  add_output_options(*command, options->as_json, options->view);
}

}  // namespace

void add_docs_commands(CLI::App& app) {
  CLI::App& group =
      add_noun(app, "docs", "Documentation of pools and worker configurations: push, show, ...");
  group.require_subcommand(1);

  auto options = std::make_shared<DocsOptions>();
  CLI::App* command =
      add_docs_verb(group, "push", "Put documentation in place of what is there", options, push);
  command->add_option("source", options->source, "A folder with metadata.json, or a .tar.gz")
      ->required()
      ->check(CLI::ExistingPath);
  command
      ->add_option("--if-match", options->if_match,
                   "Only if what is there has this digest; `muster docs list` shows it")
      ->type_name("SHA256");
  add_output(command, options);

  options = std::make_shared<DocsOptions>();
  command = add_docs_verb(group, "pull", "Save the tarball as it was pushed", options, pull);
  command->add_option("target", options->target, "File to write; -: standard output")->required();

  options = std::make_shared<DocsOptions>();
  command = add_docs_verb(
      group, "show", "Print the documents as one Markdown text; a pool's with its configuration's",
      options, show);
  auto* html = command->add_flag("--html", options->html, "Print HTML");
  command->add_option("--file", options->file, "Print one file, such as docs/usage.md")
      ->type_name("PATH")
      ->excludes(html);

  options = std::make_shared<DocsOptions>();
  command = add_docs_verb(group, "list", "List all documentation, or the files of one", options,
                          list, false);
  command->add_flag("--orphans", options->orphans, "Only those whose subject is gone");
  add_output(command, options);

  options = std::make_shared<DocsOptions>();
  command = add_docs_verb(group, "delete", "Delete documentation", options, delete_docs);
  command->add_flag("--yes", options->yes, "Do not ask");
  add_output(command, options);
}

}  // namespace muster::cli

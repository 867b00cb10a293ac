// muster plugin check
#include <cstdio>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include <muster/codec.hpp>
#include <muster/testing/contract.hpp>

#include "cli/exit_code.hpp"
#include "cli/plugin/plugin_commands.hpp"
#include "cli/plugin/scratch_folder.hpp"
#include "host/config/default_configuration.hpp"
#include "host/plugin_loader/contract_subject.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using plugin_loader::StoredPlugin;
using testing::Check;

json::object as_document(const std::vector<Check>& checks) {
  json::array list;
  for (const Check& check : checks)
    list.push_back(
        json::object{{"about", check.about},
                     {"promise", check.promise},
                     {"outcome", check.outcome == testing::Outcome::kept     ? "kept"
                                 : check.outcome == testing::Outcome::broken ? "broken"
                                                                             : "unchecked"},
                     {"detail", check.detail}});
  return {{"kept", testing::all_kept(checks)}, {"checks", std::move(list)}};
}

struct Verdict {
  bool kept = false;
  json::object document;
  std::string text;
};

Verdict verdict_of(const std::vector<Check>& checks) {
  return {testing::all_kept(checks), as_document(checks), testing::report(checks)};
}

Verdict refused(const std::string& why) {
  return {false, {{"kept", false}, {"reason", why}}, why + "\n"};
}

// What the contract launches with.
struct Example {
  json::object config, section;  // empty: as the plugin describes it
};

json::object read_document(const fs::path& file, const char* option) {
  if (file.empty()) return {};
  const auto text = read_file(file, std::size_t{1} << 20);
  if (!text) fail(Error::invalid(std::string(option) + ": " + text.error().message));
  auto document = json::parse_object(*text);
  if (!document)
    fail(Error::invalid(std::string(option) + " " + file.string() + ": " +
                        document.error().message));
  return std::move(*document);
}

testing::ContractSubject with(const Example& example, testing::ContractSubject subject) {
  if (example.config.empty() && example.section.empty()) return subject;
  return plugin_loader::with_example(std::move(subject), example.config, example.section);
}

// In a process of its own: a plugin that crashes there must not take the report along. A file takes
// what it says, since a pipe could fill up. `seconds` ends a plugin that hangs.
Verdict check_in_process(const StoredPlugin& copy, const Example& example,
                         const fs::path& scratch) {
  constexpr unsigned seconds = 120;
  const fs::path answer = scratch / "in-process.json";
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) return refused("fork failed");
  if (child == 0) {
    ::alarm(seconds);
    const auto subject = plugin_loader::subject_in_process(copy);
    const Verdict verdict =
        subject ? verdict_of(testing::check_plugin(copy.manifest.kind, with(example, *subject)))
                : refused(subject.error().message);
    json::object document = verdict.document;
    document["text"] = verdict.text;
    const auto written = write_file_atomically(answer, json::write(document));
    ::_exit(written ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const auto text = read_file(answer, std::size_t{64} << 20);
  auto document = text ? json::parse_object(*text) : Result<json::object>(text.error());
  if (WIFSIGNALED(status))
    return refused(std::string("it crashed its process: killed by ") +
                   ::strsignal(WTERMSIG(status)));
  if (!document) return refused("it ended its process with " + std::to_string(WEXITSTATUS(status)));
  Verdict verdict{document->at("kept").as_bool(), {}, std::string()};
  if (const auto* said = document->if_contains("text"))
    verdict.text = std::string(said->as_string());
  document->erase("text");
  verdict.document = std::move(*document);
  return verdict;
}

// A service is checked through the bridge that comes with this program.
fs::path plugin_to_check(const PluginCheck& options) {
  if (options.path.empty() == options.service.empty())
    throw CommandFailure{exit_usage,
                         options.path.empty() ? "Name a plugin, or a service with --service URL."
                                              : "Name a plugin or --service, not both.",
                         "usage"};
  if (options.service.empty()) return options.path;
  return config::shipped_plugin_folder(fs::read_symlink("/proc/self/exe")) / "provider/bridge";
}

Example example_of(const PluginCheck& options) {
  Example example{read_document(options.config_file, "--config"),
                  read_document(options.section_file, "--section")};
  if (!options.service.empty()) example.config["url"] = options.service;
  return example;
}

}  // namespace

void check_plugin(const PluginCheck& options) {
  const ScratchFolder scratch;
  const fs::path path = plugin_to_check(options);
  const Example example = example_of(options);
  Verdict in_process = refused("");
  Result<StoredPlugin> copy = Error::internal("");
  Verdict in_cells;
  {
    plugin_loader::CellSpawner spawner(cell_program());
    copy = copy_of(path, scratch.path(), spawner);
    if (!copy) fail(Error::invalid("the plugin is refused: " + copy.error().message));
    in_cells = verdict_of(testing::check_plugin(
        copy->manifest.kind, with(example, plugin_loader::subject_in_cells(*copy, spawner))));
  }  // the fork below wants no other threads
  in_process = in_cells.kept ? check_in_process(*copy, example, scratch.path())
                             : refused("not tried, because it breaks its contract in a cell");
  const bool kept = in_cells.kept && in_process.kept;
  if (options.as_json) {
    std::printf("%s\n", json::write_pretty(json::object{{"plugin", copy->manifest.id()},
                                                        {"version", copy->manifest.version},
                                                        {"sha256", copy->manifest.sha256},
                                                        {"kept", kept},
                                                        {"process", in_cells.document},
                                                        {"in_process", in_process.document}})
                            .c_str());
  } else {
    std::printf("%s %s, in a cell\n%s\n%s %s, in process\n%s\n%s\n", copy->manifest.id().c_str(),
                copy->manifest.version.c_str(), in_cells.text.c_str(), copy->manifest.id().c_str(),
                copy->manifest.version.c_str(), in_process.text.c_str(),
                (std::string(options.service.empty() ? "The plugin " : "The service ") +
                 (kept ? "keeps its contract." : "breaks its contract."))
                    .c_str());
  }
  if (!kept) throw Exit{exit_failed};
}

}  // namespace muster::cli

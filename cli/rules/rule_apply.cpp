#include <algorithm>
#include <cstdio>

#include <muster/plural.hpp>
#include <muster/rules/document.hpp>

#include "cli/exit_code.hpp"
#include "cli/rules/judge.hpp"
#include "cli/rules/problems.hpp"
#include "cli/rules/rule.hpp"
#include "cli/rules/target.hpp"
#include "cli/rules/unified_diff.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

int exit_code_for(const Error& error) {
  return error.error_class == ErrorClass::not_found || error.error_class == ErrorClass::invalid
             ? exit_usage
             : exit_failed;
}

rules::FileEdit edited(const fs::path& file, const std::vector<rules::Edit>& edits, bool dry_run,
                       bool as_json) {
  auto result = rules::edit_file(file, edits, {.dry_run = dry_run});
  if (!result) {
    auto sentence = result.error().message;
    if (sentence.find(file.string()) == std::string::npos)
      sentence = file.string() + ": " + sentence;
    fail(exit_code_for(result.error()), sentence, as_json);
  }
  return std::move(*result);
}

// Errors that only the edited file would have; what was wrong already is not this edit's fault.
rules::Problems new_errors(const fs::path& file, const rules::FileEdit& edit, bool as_json) {
  auto folder = load_folder(file.parent_path(), as_json);
  const auto errors = [&](const std::vector<rules::SourceFile>& files) {
    auto problems = judge(files, {}, as_json).problems;
    std::erase_if(problems, [](const auto& p) { return p.severity != rules::Severity::error; });
    return problems;
  };
  const auto before = errors(folder.files);
  for (auto& source : folder.files)
    if (source.name == tidy(file)) source.text = edit.after;
  auto after = errors(folder.files);
  std::erase_if(after, [&](const auto& problem) {
    return std::any_of(before.begin(), before.end(), [&](const auto& old) {
      return old.code == problem.code && old.position.file == problem.position.file &&
             old.reason == problem.reason;
    });
  });
  return after;
}

void refuse_new_errors(const fs::path& file, const rules::FileEdit& edit, bool as_json) {
  const auto problems = new_errors(file, edit, as_json);
  if (problems.empty()) return;
  if (as_json) {
    print_json({{"error", "the edit would cause errors"},
                {"code", "failed"},
                {"exitCode", exit_failed},
                {"problems", problems_json(problems)}});
  } else {
    const std::vector<rules::SourceFile> files = {{tidy(file), edit.after}};
    std::fputs(problems_text(problems, files, Style::of_stderr()).c_str(), stderr);
    std::fputs("muster: nothing was changed, because the edit would cause this error\n", stderr);
  }
  throw Exit{exit_failed};
}

std::string lines_text(const LineCounts& counts) {
  if (counts.removed == counts.added) return count_of(counts.added, "line") + " changed";
  std::string text;
  if (counts.added > 0) text += count_of(counts.added, "line") + " added";
  if (counts.removed > 0)
    text += (text.empty() ? "" : ", ") + count_of(counts.removed, "line") + " removed";
  return text;
}

}  // namespace

void apply_edits(const RuleOptions& options, const std::vector<rules::Edit>& edits) {
  const auto file = find_file(options.configuration, options.dir, options.json);
  if (file.extension() == ".json")
    fail(exit_failed, file.string() + " is JSON; only TOML files can be edited.", options.json);
  auto edit = edited(file, edits, true, options.json);
  refuse_new_errors(file, edit, options.json);
  // Once more, on the file as it is now: another program may have edited it.
  if (!options.dry_run) edit = edited(file, edits, false, options.json);
  const auto style = Style::of_stdout();
  const bool changed = edit.before != edit.after;
  if (options.json) {
    print_json({{"file", file.string()},
                {"changed", changed},
                {"dryRun", options.dry_run},
                {"diff", unified_diff(edit.before, edit.after, file.string(), Style(false))}});
  } else if (!changed) {
    print(file.string() + ": nothing to change\n");
  } else if (options.dry_run) {
    print(unified_diff(edit.before, edit.after, file.string(), style));
  } else {
    print(file.string() + ": " + lines_text(count_changes(edit.before, edit.after)) + "\n");
  }
}

}  // namespace muster::cli

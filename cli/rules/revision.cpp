#include "cli/rules/revision.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "cli/rules/locate.hpp"
#include "cli/rules/process.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

// What git says is enough for a person, without its "fatal: ".
Error git_error(const Finished& finished) {
  auto line = first_line(finished.err);
  for (const std::string_view prefix : {"fatal: ", "error: "})
    if (line.starts_with(prefix)) line.erase(0, prefix.size());
  return Error::invalid("git: " + line);
}

struct TreeEntry {
  std::string id;
  std::string name;
  bool is_link = false;
};

// `<mode> <type> <object>\t<name>`, each ended by a zero byte.
std::vector<TreeEntry> parse_tree(std::string_view text) {
  std::vector<TreeEntry> entries;
  while (!text.empty()) {
    const auto end = std::min(text.find('\0'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto tab = line.find('\t');
    if (tab == std::string_view::npos || line.substr(7, 5) != "blob ") continue;
    entries.push_back({std::string(line.substr(12, tab - 12)), std::string(line.substr(tab + 1)),
                       line.starts_with("120000")});
  }
  return entries;
}

// `<object> <type> <size>\n<bytes>\n`
Result<std::vector<std::string>> parse_batch(std::string_view text, std::size_t count) {
  std::vector<std::string> contents;
  for (; contents.size() < count; text.remove_prefix(1)) {
    const auto end = text.find('\n');
    const auto head = text.substr(0, end);
    std::size_t size = 0;
    const auto digits = head.substr(head.rfind(' ') + 1);
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (end == std::string_view::npos || error != std::errc() ||
        last != digits.data() + digits.size() || text.size() < end + 1 + size + 1)
      return Error::invalid("git: cannot read the object " + std::string(head) + ".");
    contents.emplace_back(text.substr(end + 1, size));
    text.remove_prefix(end + 1 + size);
  }
  return contents;
}

fs::path existing_ancestor(fs::path folder) {
  std::error_code code;
  folder = fs::absolute(folder, code).lexically_normal();
  while (!fs::is_directory(folder, code) && folder.has_relative_path())
    folder = folder.parent_path();
  return folder;
}

}  // namespace

Result<Repository> Repository::around(const fs::path& folder) {
  const auto at = existing_ancestor(folder);
  const auto result = run_process({"git", "-C", at.string(), "rev-parse", "--show-toplevel"});
  if (!result) return result.error();
  if (result->exit_code != 0) return Error::not_found(tidy(folder) + " is not in a git checkout.");
  auto root = result->out;
  if (root.ends_with('\n')) root.pop_back();
  return Repository(root);
}

std::optional<std::string> Repository::commit(const std::string& revision) const {
  // A name that looks like an option is none that git knows.
  if (revision.empty() || revision.starts_with('-')) return std::nullopt;
  const auto result = run_process(
      {"git", "-C", root_.string(), "rev-parse", "--verify", "--quiet", revision + "^{commit}"});
  if (!result || result->exit_code != 0) return std::nullopt;
  return first_line(result->out);
}

Result<std::vector<std::string>> Repository::objects(const std::vector<std::string>& ids) const {
  std::string input;
  for (const auto& id : ids) input += id + "\n";
  const auto result = run_process({"git", "-C", root_.string(), "cat-file", "--batch"}, input);
  if (!result) return result.error();
  if (result->exit_code != 0) return git_error(*result);
  return parse_batch(result->out, ids.size());
}

Result<std::vector<rules::SourceFile>> Repository::read(const std::string& commit,
                                                        const fs::path& folder) const {
  std::error_code code;
  const auto inside = fs::weakly_canonical(fs::absolute(folder), code)
                          .lexically_relative(fs::weakly_canonical(root_, code));
  if (inside.empty() || *inside.begin() == "..")
    return Error::invalid(tidy(folder) + " is not in the checkout " + root_.string() + ".");
  const auto tree = commit + ":" + (inside == "." ? "" : inside.generic_string());
  const auto listed = run_process({"git", "-C", root_.string(), "ls-tree", "-z", tree});
  if (!listed) return listed.error();
  // The commit is known to be there, so it is the folder that is not.
  if (listed->exit_code != 0) return std::vector<rules::SourceFile>{};
  const auto entries = parse_tree(listed->out);
  std::map<std::string, const TreeEntry*> by_name;
  for (const auto& entry : entries) by_name[entry.name] = &entry;
  std::vector<std::string> names, ids;
  for (const auto& entry : entries) {
    if (!rules::is_configuration_file(entry.name)) continue;
    const auto* target = &entry;
    for (int hops = 0; target && target->is_link && hops < 8; ++hops) {
      const auto link = objects({target->id});
      if (!link) return link.error();
      const auto found = by_name.find(fs::path(link->front()).lexically_normal().string());
      target = found == by_name.end() ? nullptr : found->second;
    }
    if (!target || target->is_link) continue;
    names.push_back(tidy(folder / entry.name));
    ids.push_back(target->id);
  }
  const auto contents = objects(ids);
  if (!contents) return contents.error();
  std::vector<rules::SourceFile> files;
  for (std::size_t i = 0; i < names.size(); ++i) files.push_back({names[i], (*contents)[i]});
  return files;
}

}  // namespace muster::cli

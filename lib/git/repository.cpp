#include "lib/git/repository.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "lib/git/git_call.hpp"

namespace muster::git {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_listing_bytes = std::size_t{64} << 20;
constexpr std::string_view bad_link =
    "is a symbolic link that does not lead to another file of this kind in the same folder; "
    "commit the file itself";

struct TreeEntry {
  std::string id;
  std::string name;
  std::size_t size = 0;
  bool is_link = false;
};

// `<mode> <type> <object> <size>\t<name>`, each ended by a zero byte.
std::vector<TreeEntry> parse_tree(std::string_view text) {
  std::vector<TreeEntry> entries;
  while (!text.empty()) {
    const auto end = std::min(text.find('\0'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto tab = line.find('\t');
    if (tab == std::string_view::npos || line.substr(0, tab).find(" blob ") != 6) continue;
    const auto head = line.substr(12, tab - 12);
    TreeEntry entry{std::string(head.substr(0, head.find(' '))), std::string(line.substr(tab + 1)),
                    0, line.starts_with("120000")};
    const auto digits = head.substr(head.rfind(' ') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), entry.size);
    entries.push_back(std::move(entry));
  }
  return entries;
}

// `<object> <type> <size>\n<bytes>\n`; `<object> missing\n` for one that is not there.
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
      return Error::transient("git: cannot read the object " + std::string(head) + ".");
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

bool is_plain_ref(std::string_view ref) {
  if (ref.empty() || ref.size() > 255 || ref.starts_with('-') || ref.starts_with('/')) return false;
  for (const std::string_view forbidden : {"..", "@{", "//"})
    if (ref.find(forbidden) != std::string_view::npos) return false;
  return std::none_of(ref.begin(), ref.end(), [](unsigned char c) {
    return c <= ' ' || c == 0x7f ||
           std::string_view("~^:?*[\\").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_remote(std::string_view location) {
  if (location.find("://") != std::string_view::npos) return true;
  const auto colon = location.find(':');  // as git sees it: a colon before any slash names a host
  return colon != std::string_view::npos && colon > 0 && location.find('/') > colon;
}

Result<Repository> Repository::around(const fs::path& folder, Time time) {
  const auto result = call_git(existing_ancestor(folder), {"rev-parse", "--show-toplevel"}, time);
  if (!result) return result.error();
  if (result->exit_code != 0) return Error::not_found(folder.string() + " is not in a checkout.");
  auto root = result->out;
  if (root.ends_with('\n')) root.pop_back();
  return Repository(root, time);
}

Result<Repository> Repository::at(const fs::path& path, Time time) {
  std::error_code code;
  if (!fs::is_directory(path, code))
    return Error::not_found("there is no repository " + path.string());
  // The top of a checkout has an empty prefix, a bare repository has none at all: in a subfolder of
  // some other checkout, git would find that one.
  const auto result = call_git(path, {"rev-parse", "--is-bare-repository", "--show-prefix"}, time);
  if (!result) return result.error();
  if (result->exit_code != 0)
    return Error::not_found(path.string() + " is not a repository (" + complaint_of(*result) + ")");
  if (!result->out.starts_with("true\n") && result->out != "false\n\n")
    return Error::not_found(path.string() + " is a folder inside a checkout and no repository");
  return Repository(path, time);
}

Result<fs::path> Repository::refs_folder() const {
  const auto result = call_git(root_, {"rev-parse", "--git-common-dir"}, time_);
  if (!result) return result.error();
  if (result->exit_code != 0) return Error::transient(complaint_of(*result));
  return (root_ / first_line(result->out)).lexically_normal();
}

std::optional<std::string> Repository::commit(const std::string& revision) const {
  // A name that looks like an option is none that git knows.
  if (revision.empty() || revision.starts_with('-')) return std::nullopt;
  const auto result =
      call_git(root_, {"rev-parse", "--verify", "--quiet", revision + "^{commit}"}, time_);
  if (!result || result->exit_code != 0) return std::nullopt;
  return first_line(result->out);
}

Result<std::vector<std::string>> Repository::objects(const std::vector<std::string>& ids,
                                                     std::size_t max_bytes) const {
  std::string input;
  for (const auto& id : ids) input += id + "\n";
  const auto result =
      call_git(root_, {"cat-file", "--batch"}, time_, input, max_bytes + ids.size() * 100 + 65536);
  if (!result) return result.error();
  if (result->exit_code != 0) return Error::transient(complaint_of(*result));
  return parse_batch(result->out, ids.size());
}

Result<std::vector<File>> Repository::read(const std::string& commit, const std::string& folder,
                                           bool (*wanted)(std::string_view),
                                           const ReadLimits& limits) const {
  const auto listed = call_git(root_, {"ls-tree", "-z", "-l", "--full-tree", commit + ":" + folder},
                               time_, {}, max_listing_bytes);
  if (!listed) return listed.error();
  if (listed->exit_code != 0) {
    if (complaint_of(*listed).find("Not a valid object name") != std::string::npos)
      return Error::not_found("there is no folder " + (folder.empty() ? "/" : folder) +
                              " in the commit " + commit);
    return Error::transient(complaint_of(*listed));
  }
  const auto entries = parse_tree(listed->out);
  std::map<std::string, const TreeEntry*> by_name;
  for (const auto& entry : entries) by_name[entry.name] = &entry;
  std::vector<File> files;
  std::vector<std::size_t> readable;  // places in `files`
  std::vector<std::string> ids;
  std::size_t bytes = 0;
  for (const auto& entry : entries) {
    if (!wanted(entry.name)) continue;
    const auto* target = &entry;
    for (int hops = 0; target && target->is_link && hops < 8; ++hops) {
      const auto link = objects({target->id}, limits.file_bytes);
      if (!link) return link.error();
      const auto found = by_name.find(fs::path(link->front()).lexically_normal().string());
      target = found == by_name.end() || !wanted(found->first) ? nullptr : found->second;
    }
    if (files.size() == limits.files)
      return Error::invalid("there are more than the " + std::to_string(limits.files) +
                            " files that a folder may have");
    files.push_back({entry.name, {}});
    if (!target || target->is_link) {
      files.back().unreadable = std::string(bad_link);
      continue;
    }
    if (target->size > limits.file_bytes)
      return Error::invalid(entry.name + " has " + std::to_string(target->size) +
                            " bytes, more than the " + std::to_string(limits.file_bytes) +
                            " that a file may have");
    readable.push_back(files.size() - 1);
    ids.push_back(target->id);
    bytes += target->size;
  }
  auto contents = objects(ids, bytes);
  if (!contents) return contents.error();
  for (std::size_t i = 0; i < readable.size(); ++i)
    files[readable[i]].text = std::move((*contents)[i]);
  return files;
}

}  // namespace muster::git

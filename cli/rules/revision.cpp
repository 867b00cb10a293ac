#include "cli/rules/revision.hpp"

#include "cli/rules/target.hpp"

namespace muster::cli {

namespace fs = std::filesystem;

Result<Repository> Repository::around(const fs::path& folder) {
  auto found = git::Repository::around(folder);
  if (found) return Repository(std::move(*found));
  if (found.error().error_class == ErrorClass::not_found &&
      found.error().message.ends_with("checkout."))
    return Error::not_found(tidy(folder) + " is not in a git checkout.");
  return found.error();
}

std::optional<std::string> Repository::commit(const std::string& revision) const {
  return repository_.commit(revision);
}

Result<std::vector<rules::SourceFile>> Repository::read(const std::string& commit,
                                                        const fs::path& folder) const {
  std::error_code code;
  const auto inside = fs::weakly_canonical(fs::absolute(folder), code)
                          .lexically_relative(fs::weakly_canonical(repository_.root(), code));
  if (inside.empty() || *inside.begin() == "..")
    return Error::invalid(tidy(folder) + " is not in the checkout " + repository_.root().string() +
                          ".");
  const rules::Limits limits;
  auto read =
      repository_.read(commit, inside == "." ? "" : inside.generic_string(),
                       rules::is_configuration_file, {limits.max_files, limits.max_file_bytes});
  std::vector<rules::SourceFile> files;
  // The commit is known to be there, so it is the folder that is not.
  if (!read && read.error().error_class == ErrorClass::not_found) return files;
  if (!read) return read.error();
  for (git::File& file : *read)
    files.push_back({tidy(folder / file.name), std::move(file.text), std::move(file.unreadable)});
  return files;
}

}  // namespace muster::cli

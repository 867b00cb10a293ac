// Worker configurations as they were in a git revision.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/rules/configuration_set.hpp>

#include "lib/git/repository.hpp"

namespace muster::cli {

class Repository {
 public:
  // The one around a folder; fails as `not_found` if there is none. The folder itself need not
  // exist any more.
  static Result<Repository> around(const std::filesystem::path& folder);

  // The commit that a revision names; nothing if it names none.
  std::optional<std::string> commit(const std::string& revision) const;

  // The configuration files directly in `folder` at a commit, named as they would be in the
  // checkout. A folder that was not there has none.
  Result<std::vector<rules::SourceFile>> read(const std::string& commit,
                                              const std::filesystem::path& folder) const;

 private:
  explicit Repository(git::Repository repository) : repository_(std::move(repository)) {}

  git::Repository repository_;
};

}  // namespace muster::cli

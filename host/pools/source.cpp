#include "host/pools/source.hpp"

#include <muster/rules/content_hash.hpp>

#include "lib/git/repository.hpp"

namespace muster::pools {
namespace {

namespace fs = std::filesystem;

class FolderSource final : public Source {
 public:
  FolderSource(fs::path folder, rules::Limits limits)
      : folder_(std::move(folder)), limits_(limits) {}

  std::string name() const override { return folder_.string(); }
  bool changes_piecemeal() const override { return true; }

  // The folder above is watched, too: this one may be made later, or be a link that is swapped.
  std::vector<WatchedFolder> folders_to_watch() const override {
    return {{folder_}, {folder_.parent_path(), folder_.filename().string()}};
  }

  Result<std::optional<SourceFiles>> read(const std::string& known) override {
    auto files = rules::read_folder(folder_, limits_);
    if (!files) return files.error();
    std::string revision = digest_of(*files);
    if (revision == known) return std::optional<SourceFiles>();
    return std::optional(SourceFiles{std::move(revision), std::move(*files)});
  }

 private:
  fs::path folder_;
  rules::Limits limits_;
};

class GitSource final : public Source {
 public:
  GitSource(GitSourceSettings settings, rules::Limits limits)
      : settings_(std::move(settings)), limits_(limits) {}

  std::string name() const override {
    return settings_.location + " " + settings_.ref +
           (settings_.folder.empty() ? "" : " " + settings_.folder);
  }
  bool changes_piecemeal() const override { return false; }

  std::vector<WatchedFolder> folders_to_watch() const override { return watched_; }

  Result<std::optional<SourceFiles>> read(const std::string& known) override {
    if (!git::is_plain_ref(settings_.ref))
      return Error::config("\"" + settings_.ref + "\" is not a branch, tag or commit");
    auto repository = open();
    if (!repository) return repository.error();
    auto commit = newest(*repository);
    if (!commit) return commit.error();
    if (*commit == known) return std::optional<SourceFiles>();
    auto read = repository->read(*commit, settings_.folder, rules::is_configuration_file,
                                 {limits_.max_files, limits_.max_file_bytes});
    if (!read) return read.error();
    SourceFiles files{std::move(*commit), {}};
    for (git::File& file : *read)
      files.files.push_back(
          {settings_.folder.empty() ? file.name : settings_.folder + "/" + file.name,
           std::move(file.text), std::move(file.unreadable)});
    return std::optional(std::move(files));
  }

 private:
  bool remote() const { return git::is_remote(settings_.location); }

  Result<git::Repository> open() {
    if (remote())
      return git::Repository::cache(
          settings_.cache / (rules::sha256_hex(settings_.location).substr(0, 16) + ".git"),
          settings_.time);
    auto repository = git::Repository::at(settings_.location, settings_.time);
    if (repository && watched_.empty())
      if (const auto refs = repository->refs_folder(); refs)
        watched_ = {{*refs},
                    {*refs / "refs" / "heads"},
                    {(*refs / "refs" / "heads" / settings_.ref).parent_path()},
                    {*refs / "refs" / "tags"}};
    return repository;
  }

  Result<std::string> newest(const git::Repository& repository) const {
    if (remote()) return repository.fetch(settings_.location, settings_.ref);
    if (auto commit = repository.commit(settings_.ref)) return *commit;
    return Error::not_found("the repository " + settings_.location +
                            " has no branch, tag or commit " + settings_.ref);
  }

  GitSourceSettings settings_;
  rules::Limits limits_;
  std::vector<WatchedFolder> watched_;
};

}  // namespace

std::unique_ptr<Source> folder_source(fs::path folder, rules::Limits limits) {
  return std::make_unique<FolderSource>(std::move(folder), limits);
}

std::unique_ptr<Source> git_source(GitSourceSettings settings, rules::Limits limits) {
  return std::make_unique<GitSource>(std::move(settings), limits);
}

std::string digest_of(const std::vector<rules::SourceFile>& files) {
  std::string all;
  for (const rules::SourceFile& file : files)
    all += file.name + '\0' + std::to_string(file.text.size()) + '\0' + file.text +
           (file.unreadable.empty() ? "" : '\0' + file.unreadable);
  return "sha256-" + rules::sha256_hex(all).substr(0, 32);
}

}  // namespace muster::pools

// From what a person types to worker configurations: the folder, the file, the worker type.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/rules/configuration_set.hpp>

namespace muster::cli {

// Ends the program with the sentence: see CommandFailure.
[[noreturn]] void fail(int code, std::string_view sentence, bool as_json = false);

// The worker configurations of one folder, as read.
struct Folder {
  std::filesystem::path path;
  std::vector<rules::SourceFile> files;  // named as a person would from the current folder
  rules::ConfigurationSet set;
};

// Ends the program if the folder cannot be read or holds no worker configuration.
Folder load_folder(const std::filesystem::path& path, bool as_json);

// Where worker configurations are by default: the current folder, ./configs/workers or
// ./configs, or the same of a folder above, up to the root of the git checkout. Empty if nowhere.
std::vector<std::filesystem::path> usual_folders();
std::filesystem::path default_folder(bool as_json);

// What CONFIG|WORKERTYPE named.
struct Target {
  Folder folder;
  const rules::Document* document = nullptr;  // of folder.set
  std::optional<std::string> worker_type;     // if that was named, or the file has only one
  bool names_worker_type = false;             // it was named
};

// A path to a file, the id of a worker configuration, or (if allowed) a worker type. Ends the
// program with the nearest names if there is none, and with its problems if it has errors.
Target find_target(const std::string& name, const std::string& dir, bool worker_types,
                   bool as_json);

// The file alone, for commands that edit it: it may have errors.
std::filesystem::path find_file(const std::string& name, const std::string& dir, bool as_json);

// `k=v` texts as facts; ends the program on any other.
rules::Facts parse_facts(const std::vector<std::string>& texts, bool as_json);

// Says on stderr when a fact looks like a misspelt one.
void note_unknown_facts(const rules::Facts& facts, const Target& target);

// A text without a leading "./".
std::string tidy(const std::filesystem::path& path);

}  // namespace muster::cli

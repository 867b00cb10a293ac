// From a file to a checked configuration, or to everything that is wrong with it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/config/host_configuration.hpp"
#include "lib/toml/mistake.hpp"

namespace muster::config {

// What a configuration without certain keys falls back to. The caller reads them from the
// environment, so that reading a configuration depends on its arguments and the file system only.
struct Defaults {
  std::filesystem::path data_directory;
  std::vector<std::filesystem::path> plugin_folders;
  // Of the command line: stronger than what the file says.
  bool data_directory_was_given = false;
  std::optional<ListenAddress> listen = {};
};

struct Report {
  std::string file;                                        // as mistakes name it
  std::vector<Mistake> mistakes;                           // in the order of the file; warnings too
  std::shared_ptr<const HostConfiguration> configuration;  // null if any mistake is an error
};

// Finds every mistake in one go, except that nothing is read past a syntax error. Relative paths
// count from the folder of the file. Has no effect; may be repeated at will.
Report read_configuration(const std::filesystem::path& file, const Defaults& defaults);

// The same for the file that a host runs on: it names programs that the host starts, so it is
// refused if it is another user's than the host's or root's, or if others may write it.
Report read_own_configuration(const std::filesystem::path& file, const Defaults& defaults);

// The same for a text; an empty `file` means the built-in configuration, whose relative paths count
// from the working directory.
Report read_configuration_text(std::string_view text, const std::filesystem::path& file,
                               const Defaults& defaults);

}  // namespace muster::config

// A plugin's shared library, opened with Boost.DLL.
#pragma once

#include <filesystem>
#include <memory>

#include <muster/abi.h>
#include <muster/error.hpp>

namespace muster::plugin_loader {

// Reads the ELF file's symbol table; none of its code runs. Damaged files can make this ask for
// gigabytes, so it is only called where memory is capped: in the child that checks.
Result<void> read_symbols(const std::filesystem::path& library);

// Owns the mapping and is never copied. Whatever can reach the plugin's code holds a shared_ptr to
// it and lets it go last. Libraries that serve no more stay mapped until the process ends:
// unloading code whose threads and exit handlers are unknown is the one risky step, and nothing
// needs it.
class Library {
 public:
  static Result<std::shared_ptr<const Library>> open(const std::filesystem::path& library);

  const muster_plugin& plugin() const { return *plugin_; }

 private:
  explicit Library(const muster_plugin& plugin) : plugin_(&plugin) {}
  const muster_plugin* plugin_;
};

}  // namespace muster::plugin_loader

// muster plugin new
#include <algorithm>
#include <cctype>
#include <cstdio>

#include <muster/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/plugin/plugin_commands.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

bool is_plugin_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 &&
         std::islower(static_cast<unsigned char>(name.front())) &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::islower(static_cast<unsigned char>(c)) ||
                  std::isdigit(static_cast<unsigned char>(c)) || c == '_';
         });
}

// my_lab → MyLab
std::string in_pascal_case(const std::string& name) {
  std::string words;
  bool begins = true;
  for (const char c : name) {
    if (c != '_')
      words += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = c == '_';
  }
  return words;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Where this program is installed: ../ of its folder.
fs::path prefix() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}

// Beside this program, whether it is installed or in a build tree.
Result<fs::path> template_folder(const std::string& kind) {
  fs::path folder = prefix() / "share/muster/plugin-template" / kind;
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return folder;
  return Error::not_found(
      "the template is not at " + folder.string() +
      "; install the package muster-plugin-dev, or muster with its component plugin-api");
}

}  // namespace

void make_new_plugin(const NewPlugin& options) {
  if (!is_plugin_name(options.name))
    throw CommandFailure{exit_usage,
                         "\"" + options.name +
                             "\" is not a plugin name: use lower-case letters, digits and _, "
                             "beginning with a letter",
                         "usage"};
  const auto from = template_folder(options.kind);
  if (!from) fail(from.error());
  const fs::path to = options.folder.empty() ? fs::path(options.name) : options.folder;
  std::error_code code;
  if (fs::exists(to, code) && !fs::is_empty(to, code))
    fail(Error::invalid(to.string() + " exists and is not empty; nothing was changed"));
  fs::create_directories(to, code);
  if (code) fail(Error::invalid(to.string() + " cannot be created: " + code.message()));

  const std::string word = "template_" + options.kind;
  json::array files;
  for (const auto& entry : fs::directory_iterator(*from)) {
    auto text = read_file(entry.path(), 1 << 20);
    if (!text) fail(text.error());
    std::string name = entry.path().filename().string();
    for (std::string* changed : {&*text, &name}) {
      replace_all(*changed, word, options.name);
      replace_all(*changed, in_pascal_case(word), in_pascal_case(options.name));
    }
    if (const auto written = write_file_atomically(to / name, *text); !written)
      fail(written.error());
    files.emplace_back((to / name).string());
  }
  if (options.as_json) {
    std::printf("%s\n", json::write_pretty(
                            json::object{{"folder", to.string()}, {"files", std::move(files)}})
                            .c_str());
    return;
  }
  std::printf(
      "%s is a %s plugin in %s. Next:\n  cd %s\n  cmake -B build -DCMAKE_PREFIX_PATH=%s && cmake "
      "--build build && ctest --test-dir build\n"
      "  muster plugin check build/plugins/%s/%s\n  muster plugin install build/plugins/%s/%s\n",
      options.name.c_str(), options.kind.c_str(), to.c_str(), to.c_str(), prefix().c_str(),
      options.kind.c_str(), options.name.c_str(), options.kind.c_str(), options.name.c_str());
}

}  // namespace muster::cli

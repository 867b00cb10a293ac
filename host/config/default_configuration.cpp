#include "host/config/default_configuration.hpp"

#include <cstdlib>

#include <muster/json.hpp>

#include "host/config/embedded.hpp"

namespace muster::config {
namespace fs = std::filesystem;
namespace {

// JSON's strings are TOML's basic strings, for all that a path can hold.
std::string toml_string(const fs::path& path) {
  return json::write(json::value(json::string(path.string())));
}

void fill_in(std::string& text, std::string_view placeholder, const std::string& value) {
  const auto at = text.find(placeholder);
  if (at != std::string::npos) text.replace(at, placeholder.size(), value);
}

}  // namespace

std::string process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

fs::path shipped_plugin_folder(const fs::path& executable) {
  const fs::path folder = executable.parent_path();
  return (folder / "../lib/muster/plugins").lexically_normal();
}

Defaults defaults_for(const fs::path& executable, const Environment& environment) {
  Defaults defaults;
  const std::string by_systemd = environment("STATE_DIRECTORY");
  const std::string state = environment("XDG_STATE_HOME");
  const std::string home = environment("HOME");
  if (!by_systemd.empty())
    defaults.data_directory = by_systemd.substr(0, by_systemd.find(':'));
  else if (fs::path(state).is_absolute())
    defaults.data_directory = fs::path(state) / "muster";
  else if (fs::path(home).is_absolute())
    defaults.data_directory = fs::path(home) / ".local/state/muster";
  else
    defaults.data_directory = "/var/lib/muster";
  defaults.plugin_folders = {shipped_plugin_folder(executable),
                             defaults.data_directory / "plugins.d"};
  return defaults;
}

std::string default_configuration_text(const Defaults& defaults) {
  std::string text = default_text;
  fill_in(text, "${dataDirectory}", toml_string(defaults.data_directory));
  std::string folders;
  for (const fs::path& folder : defaults.plugin_folders)
    folders += (folders.empty() ? "" : ", ") + toml_string(folder);
  fill_in(text, "${pluginFolders}", "[" + folders + "]");
  return text;
}

}  // namespace muster::config

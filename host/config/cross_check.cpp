#include "host/config/cross_check.hpp"

#include <algorithm>
#include <pwd.h>

#include <muster/nearest.hpp>

#include "host/config/installed_plugins.hpp"

namespace muster::config {
namespace fs = std::filesystem;
namespace {

class CrossCheck {
 public:
  CrossCheck(const HostConfiguration& host, const TomlDocument& document)
      : host_(host), document_(document) {}

  std::vector<Mistake> run() {
    check_listen();
    check_data_directory();
    check_plugin_folders();
    check_worker_configurations();
    check_tokens();
    const std::vector<std::string> installed = installed_plugins(host_.plugin_folders);
    for (const PluginInstance& provider : host_.providers)
      check_instance("/providers/" + pointer_part(provider.id), provider, installed);
    for (const PluginInstance& strategy : host_.strategies)
      if (const std::string pointer = "/strategies/" + pointer_part(strategy.id);
          document_.values.contains(pointer))  // else it is the one that is there by default
        check_instance(pointer, strategy, installed);
    return std::move(mistakes_);
  }

 private:
  void add(Severity severity, const std::string& pointer, std::string reason, std::string remedy) {
    mistakes_.push_back({severity, document_.value_position(pointer),
                         key_path(document_.root, pointer), std::move(reason), std::move(remedy)});
  }
  void error(const std::string& pointer, std::string reason, std::string remedy) {
    add(Severity::error, pointer, std::move(reason), std::move(remedy));
  }
  void warning(const std::string& pointer, std::string reason, std::string remedy) {
    add(Severity::warning, pointer, std::move(reason), std::move(remedy));
  }

  void check_listen() {
    const auto* written = document_.root.if_contains("listen");
    if (!written) return;
    const auto listen = parse_listen_address(std::string_view(written->get_string()));
    if (!listen)
      return error("/listen",
                   json::write(*written) + " is not an IP address and a port from 0 to 65535",
                   "write for example \"127.0.0.1:8600\", \"[::1]:8600\" or \"0.0.0.0:8600\"");
    if (!listen->loopback)
      warning("/listen", "tokens travel in clear text to and from " + to_string(*listen),
              "listen on 127.0.0.1 behind a proxy that speaks TLS unless the network is trusted");
  }

  void check_data_directory() {
    const fs::path& folder = host_.data_directory;
    std::error_code failed;
    if (fs::exists(folder, failed)) {
      if (!fs::is_directory(folder, failed))
        error("/dataDirectory", folder.string() + " is not a folder", "name another path");
      return;
    }
    if (failed && failed != std::errc::no_such_file_or_directory &&
        failed != std::errc::not_a_directory)
      return error("/dataDirectory", folder.string() + ": " + failed.message(),
                   "run musterd as a user that may look there");
    // A default is made with its parents; a path that somebody typed is not, because a typing
    // mistake must not begin an empty fleet.
    if (!host_.data_directory_is_default && !fs::is_directory(folder.parent_path(), failed))
      error("/dataDirectory",
            "neither " + folder.string() + " nor the folder that should hold it exists",
            "make " + folder.parent_path().string() + " or correct the path");
  }

  void check_plugin_folders() {
    if (!document_.root.contains("pluginFolders")) return;
    for (std::size_t i = 0; i < host_.plugin_folders.size(); ++i) {
      const fs::path& folder = host_.plugin_folders[i];
      const std::string pointer = "/pluginFolders/" + std::to_string(i);
      const auto first =
          std::find(host_.plugin_folders.begin(), host_.plugin_folders.end(), folder);
      if (first != host_.plugin_folders.begin() + static_cast<std::ptrdiff_t>(i))
        error(pointer, folder.string() + " is listed twice", "delete one of the two");
      else if (folder == host_.data_directory)
        error(pointer, "this is the data directory, which is the host's own",
              "use another folder, for example " + (folder / "plugins.d").string());
      else if (folder.parent_path() != host_.data_directory)  // there the host makes it
        check_folder(pointer, folder, "it is watched for, and read as soon as it is there");
    }
  }

  void check_worker_configurations() {
    if (host_.worker_configurations)
      check_folder("/workerConfigurations", *host_.worker_configurations,
                   "make it, or correct the path");
  }

  void check_folder(const std::string& pointer, const fs::path& folder, std::string if_missing) {
    std::error_code failed;
    const auto status = fs::status(folder, failed);
    if (!fs::exists(status) && status.type() == fs::file_type::none)
      error(pointer, folder.string() + ": " + failed.message(),
            "run musterd as a user that may look there");
    else if (!fs::exists(status))
      warning(pointer, folder.string() + " does not exist", std::move(if_missing));
    else if (!fs::is_directory(status))
      error(pointer, folder.string() + " is not a folder", "name the folder");
  }

  void check_tokens() {
    for (auto token = host_.auth.tokens.begin(); token != host_.auth.tokens.end(); ++token) {
      const std::string pointer = "/auth/tokens/" + pointer_part(token->first) + "/sha256";
      if (token->second == sha256(""))
        error(pointer, "this is the SHA-256 of an empty text, so nothing would be a token",
              "hash the token itself: printf %s \"$TOKEN\" | sha256sum");
      const auto same = std::find_if(host_.auth.tokens.begin(), token, [&](const auto& other) {
        return other.second == token->second;
      });
      if (same != token)
        error(pointer, "the same token already has the name " + same->first,
              "give each name a token of its own");
    }
  }

  void check_instance(const std::string& pointer, const PluginInstance& instance,
                      const std::vector<std::string>& installed) {
    if (instance.isolation == Isolation::in_process) {
      if (instance.limits != CellLimits{}) only_for_cells(pointer + "/limits", "limits");
      if (instance.user) only_for_cells(pointer + "/user", "a user of its own");
    }
    if (instance.user && !::getpwnam(instance.user->c_str()))
      warning(pointer + "/user", "this machine has no user \"" + *instance.user + "\"",
              "make it (useradd --system " + *instance.user + ") before the host starts");
    const bool is_there =
        std::find(installed.begin(), installed.end(), instance.plugin) != installed.end();
    if (is_there || instance.plugin.empty()) return;  // empty: the schema's check has refused it
    const std::vector<std::string_view> names(installed.begin(), installed.end());
    const auto meant = nearest(instance.plugin, names);
    warning(pointer + "/plugin", "no plugin folder holds \"" + instance.plugin + "\" yet",
            meant ? "did you mean \"" + *meant + "\"?"
                  : "it starts to work as soon as the plugin is dropped in");
  }

  void only_for_cells(const std::string& pointer, const std::string& what) {
    error(pointer, what + " cannot be had by a plugin that runs inside the host",
          "write isolation = \"process\", or delete this");
  }

  const HostConfiguration& host_;
  const TomlDocument& document_;
  std::vector<Mistake> mistakes_;
};

}  // namespace

std::vector<Mistake> cross_check(const HostConfiguration& host, const TomlDocument& document) {
  return CrossCheck(host, document).run();
}

}  // namespace muster::config

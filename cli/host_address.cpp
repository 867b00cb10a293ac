#include "cli/host_address.hpp"

#include <array>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <muster/json.hpp>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_ownership.hpp"

namespace muster::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t longest_file = 64 * 1024;

std::string first_line_of(const fs::path& file) {
  const auto text = read_file(file, longest_file);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

std::string without_slashes(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::vector<fs::path> usual_folders(const Environment& environment,
                                    const fs::path& service_folder) {
  std::vector<fs::path> folders;
  if (const fs::path state = environment("XDG_STATE_HOME"); state.is_absolute())
    folders.push_back(state / "muster");
  if (const fs::path home = environment("HOME"); home.is_absolute())
    folders.push_back(home / ".local/state/muster");
  folders.push_back(service_folder);
  return folders;
}

// Everything there is to find, before anything is chosen.
struct Sources {
  const HostOptions& options;
  const Environment& environment;
  std::vector<fs::path> folders;
  std::optional<HostAddress> login;

  std::string taskcluster_url() const {
    const bool whole = !environment("TASKCLUSTER_CLIENT_ID").empty() &&
                       !environment("TASKCLUSTER_ACCESS_TOKEN").empty();
    return whole ? environment("TASKCLUSTER_ROOT_URL") : "";
  }
  // The first folder with an address; with that address, if one is given.
  const fs::path* running_host(const std::string& url) const {
    for (const fs::path& folder : folders)
      if (const std::string address = without_slashes(first_line_of(folder / "address"));
          !address.empty() && (url.empty() || address == url))
        return &folder;
    return nullptr;
  }
};

Error nothing_found(const std::vector<fs::path>& folders) {
  std::string message = "no running musterd was found: there is no file `address` in ";
  for (const fs::path& folder : folders)
    message += (&folder == &folders.front() ? "" : ", ") + folder.string();
  return Error::not_found(message +
                          "; start musterd, or say where it is with `muster login`, --url, "
                          "--data-directory, MUSTER_URL or TASKCLUSTER_ROOT_URL");
}

void find_address(HostAddress& found, const Sources& from) {
  const auto take = [&](const std::string& url, const char* origin) {
    if (!found.url.empty() || url.empty()) return;
    found.url = without_slashes(url);
    found.origin = origin;
  };
  take(from.options.url, "--url");
  if (!from.options.data_directory.empty())
    take(first_line_of(fs::path(from.options.data_directory) / "address"), "--data-directory");
  if (!from.options.data_directory.empty()) return;
  take(from.environment("MUSTER_URL"), "MUSTER_URL");
  take(from.taskcluster_url(), "TASKCLUSTER_ROOT_URL");
  if (from.login) take(from.login->url, "muster login");
  if (const fs::path* folder = from.running_host("")) {
    const std::string origin = (*folder / "address").string();
    take(first_line_of(*folder / "address"), origin.c_str());
  }
}

void use_taskcluster_client(HostAddress& found, const Environment& environment) {
  if (environment("TASKCLUSTER_CLIENT_ID").empty() ||
      environment("TASKCLUSTER_ACCESS_TOKEN").empty())
    return;
  found.client_id = environment("TASKCLUSTER_CLIENT_ID");
  found.access_token = environment("TASKCLUSTER_ACCESS_TOKEN");
  found.certificate = environment("TASKCLUSTER_CERTIFICATE");
}

Result<void> find_credentials(HostAddress& found, const Sources& from) {
  found.token = from.options.token;
  if (found.token.empty()) found.token = from.environment("MUSTER_TOKEN");
  if (found.has_credentials()) return {};
  if (found.origin == "--url" || found.origin == "MUSTER_URL" ||
      found.origin == "TASKCLUSTER_ROOT_URL")
    use_taskcluster_client(found, from.environment);
  if (found.has_credentials()) return {};
  // A host that was named otherwise must not be shown another one's secrets.
  if (from.login && from.login->url == found.url) {
    found.token = from.login->token;
    found.client_id = from.login->client_id;
    found.access_token = from.login->access_token;
    found.certificate = from.login->certificate;
    if (found.has_credentials()) return {};
  }
  const fs::path* folder = from.running_host(found.url);
  if (!folder)
    return Error::auth("there is no token for " + found.url +
                       ": use `muster login`, set MUSTER_TOKEN (or TASKCLUSTER_CLIENT_ID and "
                       "TASKCLUSTER_ACCESS_TOKEN), or use --data-directory");
  found.token = first_line_of(*folder / "admin-token");
  if (found.has_credentials()) return {};
  return Error::auth("musterd serves " + found.url + ", but " + (*folder / "admin-token").string() +
                     " cannot be read: run this as the user of the host, or set MUSTER_TOKEN");
}

}  // namespace

std::string process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

Result<HostAddress> find_host(const HostOptions& options, const Environment& environment,
                              const fs::path& service_folder) {
  Sources sources{options, environment, {}, {}};
  sources.folders = options.data_directory.empty() ? usual_folders(environment, service_folder)
                                                   : std::vector<fs::path>{options.data_directory};
  if (options.data_directory.empty()) {
    auto login = read_login(environment);
    if (!login) return login.error();
    sources.login = std::move(*login);
  }
  HostAddress found;
  find_address(found, sources);
  if (found.url.empty()) return nothing_found(sources.folders);
  if (const auto known = find_credentials(found, sources); !known) return known.error();
  found.ca_file = options.ca_file;
  if (found.ca_file.empty()) found.ca_file = environment("MUSTER_CA_FILE");
  if (found.ca_file.empty() && sources.login && sources.login->url == found.url)
    found.ca_file = sources.login->ca_file;
  return found;
}

// -------------------------------------------------------------------------------------------------
// The login

namespace {

constexpr std::array login_members{
    std::pair{"url", &HostAddress::url},
    std::pair{"token", &HostAddress::token},
    std::pair{"clientId", &HostAddress::client_id},
    std::pair{"accessToken", &HostAddress::access_token},
    std::pair{"certificate", &HostAddress::certificate},
    std::pair{"caFile", &HostAddress::ca_file},
};

}  // namespace

Result<fs::path> login_file(const Environment& environment) {
  if (const fs::path folder = environment("XDG_CONFIG_HOME"); folder.is_absolute())
    return folder / "muster/login.json";
  if (const fs::path home = environment("HOME"); home.is_absolute())
    return home / ".config/muster/login.json";
  return Error::invalid("neither XDG_CONFIG_HOME nor HOME says where a login could be stored");
}

Result<std::optional<HostAddress>> read_login(const Environment& environment) {
  const auto file = login_file(environment);
  struct ::stat found {};
  if (!file || ::stat(file->c_str(), &found) != 0) return std::optional<HostAddress>();
  if (const auto ours = check_ownership(found, *file, "the login", OthersMay::nothing, ::geteuid());
      !ours)
    return Error::auth(ours.error().message + "; or run `muster logout`");
  const auto text = read_file(*file, longest_file);
  if (!text) return text.error();
  const auto document = json::parse_object(*text);
  if (!document)
    return Error::config(file->string() + " is damaged: " + document.error().message +
                         "; `muster login` writes a new one");
  HostAddress address;
  for (const auto& [name, member] : login_members)
    if (const json::value* value = document->if_contains(name); value && value->is_string())
      address.*member = value->get_string();
  address.url = without_slashes(address.url);
  return std::optional(std::move(address));
}

Result<fs::path> write_login(const HostAddress& address, const Environment& environment) {
  const auto file = login_file(environment);
  if (!file) return file.error();
  std::error_code trouble;
  fs::create_directories(file->parent_path(), trouble);
  if (trouble)
    return Error::config(file->parent_path().string() + " cannot be made: " + trouble.message());
  json::object document;
  for (const auto& [name, member] : login_members)
    if (!(address.*member).empty()) document[name] = address.*member;
  if (const auto written = write_file_atomically(*file, json::write_pretty(document) + "\n", 0600);
      !written)
    return written.error();
  return *file;
}

}  // namespace muster::cli

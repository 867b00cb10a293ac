#include "cli/host_address.hpp"

#include <cstdlib>
#include <vector>

#include "cli/stored_login.hpp"
#include "lib/base/atomic_file.hpp"

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
  std::optional<HostAddress> login;  // or the context that takes its place
  bool context_was_named = false;

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
  if (from.context_was_named) take(from.login->url, from.login->origin.c_str());
  take(from.environment("MUSTER_URL"), "MUSTER_URL");
  take(from.taskcluster_url(), "TASKCLUSTER_ROOT_URL");
  if (from.login) take(from.login->url, from.login->origin.c_str());
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

// A host that was named otherwise must not be shown another one's secrets.
bool use_login(HostAddress& found, const Sources& from) {
  if (!from.login || from.login->url != found.url) return false;
  found.token = from.login->token;
  found.client_id = from.login->client_id;
  found.access_token = from.login->access_token;
  found.certificate = from.login->certificate;
  return found.has_credentials();
}

// A context that is named, or in use, or else the login.
Result<void> find_login(Sources& sources) {
  const auto contexts = read_contexts(sources.environment);
  if (!contexts) return contexts.error();
  std::string name = sources.options.context;
  if (name.empty() && sources.options.url.empty()) name = sources.environment("MUSTER_CONTEXT");
  sources.context_was_named = !name.empty();
  if (name.empty()) name = contexts->current;
  if (!name.empty()) {
    auto context = find_context(*contexts, name);
    if (!context) return context.error();
    sources.login = std::move(*context);
    sources.login->origin = "the context " + name;
    return {};
  }
  auto login = read_login(sources.environment);
  if (!login) return login.error();
  sources.login = std::move(*login);
  if (sources.login) sources.login->origin = "muster login";
  return {};
}

Result<void> find_credentials(HostAddress& found, const Sources& from) {
  found.token = from.options.token;
  if (found.has_credentials()) return {};
  if (from.context_was_named && use_login(found, from)) return {};
  found.token = from.environment("MUSTER_TOKEN");
  if (found.has_credentials()) return {};
  if (found.origin == "--url" || found.origin == "MUSTER_URL" ||
      found.origin == "TASKCLUSTER_ROOT_URL")
    use_taskcluster_client(found, from.environment);
  if (found.has_credentials()) return {};
  if (use_login(found, from)) return {};
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
  Sources sources{options, environment, {}, {}, false};
  sources.folders = options.data_directory.empty() ? usual_folders(environment, service_folder)
                                                   : std::vector<fs::path>{options.data_directory};
  if (!options.context.empty() && !(options.url + options.data_directory).empty())
    return Error::invalid("--context names a host; leave out --url and --data-directory");
  if (options.data_directory.empty())
    if (const auto known = find_login(sources); !known) return known.error();
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

}  // namespace muster::cli

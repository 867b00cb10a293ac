#include "cli/host_client.hpp"

#include <cstdlib>
#include <curl/curl.h>
#include <fstream>
#include <memory>

namespace muster::cli {
namespace fs = std::filesystem;
namespace {

constexpr long connect_seconds = 5, total_seconds = 60;
constexpr std::size_t max_answer = 256 * 1024 * 1024;

std::string first_line_of(const fs::path& file) {
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  return line;
}

std::vector<fs::path> candidates(const HostOptions& options, const Environment& environment) {
  if (!options.data_directory.empty()) return {options.data_directory};
  std::vector<fs::path> folders;
  if (const fs::path state = environment("XDG_STATE_HOME"); state.is_absolute())
    folders.push_back(state / "muster");
  if (const fs::path home = environment("HOME"); home.is_absolute())
    folders.push_back(home / ".local/state/muster");
  folders.push_back("/var/lib/muster");
  return folders;
}

Error nothing_found(const std::vector<fs::path>& folders) {
  std::string message = "no running musterd was found: there is no file `address` in ";
  for (const fs::path& folder : folders)
    message += (&folder == &folders.front() ? "" : ", ") + folder.string();
  return Error::not_found(message +
                          "; start musterd, or say where it is with --data-directory, --host and "
                          "--token, or MUSTER_URL and MUSTER_TOKEN");
}

std::size_t append(char* bytes, std::size_t size, std::size_t count, void* answer) {
  auto& text = *static_cast<std::string*>(answer);
  if (text.size() + size * count > max_answer) return 0;
  text.append(bytes, size * count);
  return size * count;
}

ErrorClass class_of(long status) {
  if (status == 404) return ErrorClass::not_found;
  if (status == 401 || status == 403) return ErrorClass::auth;
  if (status >= 400 && status < 500) return ErrorClass::invalid;
  return status == 503 ? ErrorClass::transient : ErrorClass::internal;
}

std::string text_of(const json::value& document, std::string_view key) {
  const auto* object = document.if_object();
  const auto* found = object ? object->if_contains(key) : nullptr;
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

std::string process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

void add_host_options(CLI::App& command, HostOptions& options) {
  command.add_option("--host", options.url, "The host's address, as http://127.0.0.1:8600")
      ->type_name("URL");
  command.add_option("--token", options.token, "A bearer token; others can see it in `ps`")
      ->type_name("TOKEN");
  command
      .add_option("--data-directory", options.data_directory,
                  "The host's data directory, which has both in files")
      ->type_name("FOLDER");
  command
      .add_option("--ca-file", options.ca_file,
                  "Certificates to trust instead of the system's (MUSTER_CA_FILE)")
      ->type_name("FILE");
}

Result<HostAddress> find_host(const HostOptions& options, const Environment& environment) {
  HostAddress found{options.url, options.token, options.ca_file};
  if (found.ca_file.empty()) found.ca_file = environment("MUSTER_CA_FILE");
  if (found.url.empty()) found.url = environment("MUSTER_URL");
  if (found.token.empty()) found.token = environment("MUSTER_TOKEN");
  if (!found.url.empty() && !found.token.empty()) return found;
  const auto folders = candidates(options, environment);
  for (const fs::path& folder : folders) {
    const std::string address = first_line_of(folder / "address");
    if (address.empty()) continue;
    // A host that was named otherwise must not be shown this one's token.
    if (!found.url.empty() && found.url != address) continue;
    found.url = address;
    if (found.token.empty()) found.token = first_line_of(folder / "admin-token");
    if (found.token.empty())
      return Error::auth("musterd serves " + address + ", but " +
                         (folder / "admin-token").string() +
                         " cannot be read: run this as the user of the host, or set MUSTER_TOKEN");
    return found;
  }
  if (!found.url.empty())
    return Error::auth("there is no token for " + found.url +
                       ": set MUSTER_TOKEN or use --data-directory");
  return nothing_found(folders);
}

struct HostClient::Impl {
  HostAddress address;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl{curl_easy_init(), curl_easy_cleanup};
};

HostClient::HostClient(HostAddress address) : impl_(std::make_unique<Impl>()) {
  while (address.url.ends_with('/')) address.url.pop_back();
  impl_->address = std::move(address);
}
HostClient::~HostClient() = default;
HostClient::HostClient(HostClient&&) noexcept = default;

Result<json::value> HostClient::get(const std::string& path) {
  return send("GET", path, "");
}

Result<json::value> HostClient::post(const std::string& path, const json::object& body) {
  return send("POST", path, json::write(body));
}

Result<json::value> HostClient::put(const std::string& path, const json::object& body) {
  return send("PUT", path, json::write(body));
}

Result<json::value> HostClient::remove(const std::string& path) {
  return send("DELETE", path, "");
}

Result<json::value> HostClient::send(const char* method, const std::string& path,
                                     const std::string& body) {
  CURL* const curl = impl_->curl.get();
  curl_easy_reset(curl);
  std::string answer;
  char reason[CURL_ERROR_SIZE] = "";
  curl_slist* list =
      curl_slist_append(nullptr, ("Authorization: Bearer " + impl_->address.token).c_str());
  list = curl_slist_append(list, "Content-Type: application/json");
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list,
                                                                            curl_slist_free_all);
  curl_easy_setopt(curl, CURLOPT_URL, (impl_->address.url + path).c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  if (!impl_->address.ca_file.empty())
    curl_easy_setopt(curl, CURLOPT_CAINFO, impl_->address.ca_file.c_str());
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, connect_seconds);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, total_seconds);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
  if (!body.empty()) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  }
  const CURLcode code = curl_easy_perform(curl);
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
    return Error::auth("the certificate of " + impl_->address.url +
                       " is not trusted: " + (*reason ? reason : curl_easy_strerror(code)) +
                       "; name the certificates to trust with --ca-file or MUSTER_CA_FILE");
  if (code != CURLE_OK)
    return Error::transient("the host at " + impl_->address.url +
                            " cannot be reached: " + (*reason ? reason : curl_easy_strerror(code)) +
                            "; is musterd running there?");
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  auto document = json::parse(answer);
  if (status >= 200 && status < 300)
    return document ? std::move(document)
                    : Error::internal("the answer of " + impl_->address.url +
                                      " is not JSON; is it a musterd?");
  const std::string message = document ? text_of(*document, "message") : "";
  Error error{class_of(status),
              message.empty() ? "HTTP status " + std::to_string(status) : message};
  if (document) error.code = text_of(*document, "code");
  return error;
}

std::string path_segment(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      escaped += c;
    } else {
      escaped += '%';
      escaped += hex[byte >> 4];
      escaped += hex[byte & 15];
    }
  }
  return escaped;
}

}  // namespace muster::cli

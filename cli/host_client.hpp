// Talks HTTP to a running musterd. libcurl stays inside the .cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <CLI/CLI.hpp>

#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::cli {

// What the operator said about where the host is. Empty fields are looked up.
struct HostOptions {
  std::string url, token, data_directory, ca_file;
};

// Adds --host, --token, --data-directory and --ca-file to a command.
void add_host_options(CLI::App& command, HostOptions& options);

using Environment = std::function<std::string(const char* name)>;  // empty: not set
std::string process_environment(const char* name);

struct HostAddress {
  std::string url, token;
  std::string ca_file = {};  // certificates that are trusted instead of the system's
};

// --ca-file or $MUSTER_CA_FILE is taken over as it is. The rest in this order: the options;
// $MUSTER_URL and $MUSTER_TOKEN; the files `address` and `admin-token` of the data directory
// (--data-directory, else $XDG_STATE_HOME/muster, ~/.local/state/muster or /var/lib/muster,
// whichever a running host has written its address to). Fails as `notFound` with a sentence that
// says where it looked.
Result<HostAddress> find_host(const HostOptions& options, const Environment& environment);

// One connection, kept open between calls. Every call has a deadline of 60 seconds and never
// retries. THREADS: one at a time.
class HostClient {
 public:
  explicit HostClient(HostAddress address);
  ~HostClient();
  HostClient(HostClient&&) noexcept;

  // The answer's JSON. An error answer of the host becomes an Error with its message; its `code` is
  // the host's, and `error_class` is `notFound` for a 404, `auth` for 401 and 403, `invalid` for
  // other 4xx. A host that cannot be reached is `transient`.
  Result<json::value> get(const std::string& path);
  Result<json::value> post(const std::string& path, const json::object& body = {});
  Result<json::value> put(const std::string& path, const json::object& body);
  Result<json::value> remove(const std::string& path);

 private:
  struct Impl;
  Result<json::value> send(const char* method, const std::string& path, const std::string& body);
  std::unique_ptr<Impl> impl_;
};

// "provider/ec2" → "provider%2Fec2", for use as one segment of a path.
std::string path_segment(std::string_view text);

}  // namespace muster::cli

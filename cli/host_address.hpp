// Where the host is and who we are to it: from options, the environment, `muster login`, or the
// data directory of a host on this machine.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include <muster/error.hpp>

namespace muster::cli {

// What the operator said on the command line. Empty fields are looked up.
struct HostOptions {
  std::string url = {}, token = {}, ca_file = {}, data_directory = {}, context = {};
};

using Environment = std::function<std::string(const char* name)>;  // empty: not set
std::string process_environment(const char* name);

// A bearer token, or a client that signs its requests.
struct HostAddress {
  std::string url = {};
  std::string token = {};
  std::string client_id = {}, access_token = {}, certificate = {};
  std::string ca_file = {};  // empty: those that the machine trusts
  std::string origin = {};   // where the address came from, for messages: "MUSTER_URL"

  bool has_credentials() const { return !token.empty() || !client_id.empty(); }
};

// The address is the first of: --url; that of --data-directory; --context or $MUSTER_CONTEXT;
// $MUSTER_URL; $TASKCLUSTER_ROOT_URL (if $TASKCLUSTER_CLIENT_ID and $TASKCLUSTER_ACCESS_TOKEN are
// there, too); the context in use; what `muster login` has stored; the file `address` in
// $XDG_STATE_HOME/muster, ~/.local/state/muster or /var/lib/muster.
//
// The credentials are the first of: --token; those of a context that was named; $MUSTER_TOKEN;
// $TASKCLUSTER_CLIENT_ID and
// $TASKCLUSTER_ACCESS_TOKEN with $TASKCLUSTER_CERTIFICATE, unless the address came from a login or
// a data directory; those of the login, if it is about this address; the file `admin-token`,
// likewise.
//
// The CA's file is --ca-file, $MUSTER_CA_FILE or that of the login. Fails as `notFound` or `auth`
// with a sentence that says where it looked. `service_folder` is the data directory of a host that
// runs as a service of this machine.
Result<HostAddress> find_host(const HostOptions& options, const Environment& environment,
                              const std::filesystem::path& service_folder = "/var/lib/muster");

}  // namespace muster::cli

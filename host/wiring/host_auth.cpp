#include "host/wiring/host_auth.hpp"

#include <utility>

#include "lib/base/atomic_file.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/http/admin_token.hpp"

namespace muster {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t shortest_access_token = 22;
constexpr const char* key_name = "secrets.key";
constexpr std::string_view token_line = "export TASKCLUSTER_ACCESS_TOKEN=";

Secret digest_as_key(const Sha256& digest) {
  return Secret(std::string(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

auth::Client bearer_client(std::string name, const Sha256& digest,
                           std::vector<std::string> scopes) {
  auth::Client client;
  client.client_id = std::move(name);
  client.kind = auth::ClientKind::token;
  client.keys.push_back({digest_as_key(digest)});
  client.scopes = std::move(scopes);
  return client;
}

Result<auth::Client> signing_client(const std::string& id, const config::StaticClient& from) {
  const std::string what = "the access token of client " + id;
  auto key = read_secret_file(from.access_token_file, what);
  if (!key) return key.error();
  if (key->reveal().size() < shortest_access_token)
    return Error::config(what + " in " + from.access_token_file.string() + " has fewer than " +
                         std::to_string(shortest_access_token) +
                         " characters: write a longer one, at random");
  auth::Client client;
  client.client_id = id;
  client.keys.push_back({std::move(*key)});
  client.scopes = from.scopes;
  client.expires = from.expires;
  client.disabled = from.disabled;
  client.replay_protection = from.replay_protection;
  return client;
}

std::string env_text(const std::string& url, const Secret& key) {
  return "# The admin of this muster, for Taskcluster's clients: `. admin.env`. Delete this file "
         "and "
         "send SIGHUP to\n# musterd for a new secret.\nexport TASKCLUSTER_ROOT_URL=" +
         url + "\nexport TASKCLUSTER_CLIENT_ID=admin\n" + std::string(token_line) + key.reveal() +
         "\n";
}

}  // namespace

// The secret is in the file alone; the file's other lines follow once the address is known.
Result<auth::Client> HostAuth::admin_client(const fs::path& data_directory) {
  const fs::path file = data_directory / "admin.env";
  auth::Client admin;
  admin.client_id = "admin";
  admin.scopes = {"*"};
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    const Secret key = random_token();
    if (const auto written = write_file_atomically(file, env_text(url_, key), 0600); !written)
      return written.error();
    log_.info("made an admin client for Taskcluster's clients",
              {{"adminClientFile", file.string()}});
    admin.keys.push_back({key});
    return admin;
  }
  const auto text = read_secret_file(file, "the admin's access token", SecretText::document);
  if (!text) return text.error();
  const std::string_view all = text->reveal();
  const auto begin = all.find(token_line);
  const auto key = begin == all.npos ? std::string_view() : all.substr(begin + token_line.size());
  const std::string line(key.substr(0, key.find_first_of("\r\n")));
  if (line.size() < shortest_access_token)
    return Error::config(file.string() + " has no access token of at least " +
                         std::to_string(shortest_access_token) +
                         " characters: delete the file, and a good one is made");
  admin.keys.push_back({Secret(line)});
  return admin;
}

Result<void> HostAuth::load(const config::HostConfiguration& configuration,
                            const fs::path& data_directory) {
  const config::AuthSettings& from = configuration.auth;
  if (!std::exchange(keeps_seen_times_, true)) {
    if (const auto kept = authority_.keep_seen_times(data_directory / "seen-times"); !kept)
      log_.warning(
          "requests from before this start are refused of clients with replay protection: " +
          kept.error().message);
  }
  const auto admin_token = http::read_or_make_admin_token(from.admin_token_file);
  if (!admin_token) return admin_token.error();
  if (admin_token->made)
    log_.info("made an admin token", {{"adminTokenFile", from.admin_token_file.string()}});
  std::vector<auth::Client> clients{bearer_client("admin", admin_token->digest, {"*"})};
  auto admin = admin_client(data_directory);
  if (!admin) return admin.error();
  clients.push_back(std::move(*admin));
  for (const auto& [name, known] : from.tokens) {
    clients.push_back(bearer_client(name, known.digest, known.scopes));
    clients.back().expires = known.expires;
  }
  for (const auto& [id, known] : from.clients) {
    auto client = signing_client(id, known);
    if (!client) return client.error();
    clients.push_back(std::move(*client));
  }
  auto roles = auth::Roles::make(from.roles);
  if (!roles) return roles.error();
  auth::AuthoritySettings settings;
  settings.lockout = {from.lockout.failures, from.lockout.window, from.lockout.duration};
  authority_.configure(std::move(clients), std::move(*roles), settings);
  return {};
}

Result<void> HostAuth::write_admin_file(const fs::path& data_directory, const std::string& url) {
  url_ = url;
  const auto admin = admin_client(data_directory);
  if (!admin) return admin.error();
  const Secret& key = admin->keys.front().secret;
  return write_file_atomically(data_directory / "admin.env", env_text(url, key), 0600);
}

void HostAuth::write_metrics(metrics::Page& page) const {
  for (std::size_t at = 0; at < std::size(auth::Refusals::names); ++at)
    page.counter(
        "muster_auth_refusals_total", "Requests that were not let in, by reason",
        static_cast<double>(authority_.refusals().of(static_cast<auth::Refusals::Reason>(at))),
        {{"reason", std::string(auth::Refusals::names[at])}});
}

Result<void> HostAuth::check_key(const store::Store& store, const fs::path& data_directory) {
  const auto box = auth::SecretBox::open(data_directory / key_name);
  if (!box) return box.error();
  return auth::ClientStore::check_key(store, *box);
}

// Hosts that share a database have the same id, so a browser's cookie counts at each of them.
void HostAuth::keep_sessions(const store::Store& store, fleet::Service& fleet) {
  std::string host;
  fleet.read([&](const fleet::Fleet& state, fleet::Now) { host = state.host_id(); });
  const auto kept = authority_.keep_sessions(
      store,
      [&fleet](store::Batch rows, std::function<void()> durable) {
        return fleet.committer().submit(std::move(rows), std::move(durable));
      },
      host);
  if (!kept)
    log_.warning("people who use the dashboard have to log in again: " + kept.error().message);
}

void HostAuth::open_store(const store::Store& store, fleet::Service& fleet,
                          const fs::path& data_directory) {
  keep_sessions(store, fleet);
  auto box = auth::SecretBox::open(data_directory / key_name);
  if (!box) {
    store_unavailable_ = "clients cannot be kept: " + box.error().message;
    return log_.error(store_unavailable_);
  }
  auth::ClientStore::Parts parts;
  parts.authority = &authority_;
  parts.committer = &fleet.committer();
  parts.clock = &clock_;
  parts.log = log_;
  parts.commit = [&fleet](store::Batch rows, std::vector<events::Event> told,
                          auth::ClientStore::Parts::Done done) {
    fleet.post_change(
        [rows = std::move(rows), told = std::move(told)](fleet::Fleet& state, fleet::Now now) {
          state.keep_rows(rows, now);
          for (const events::Event& event : told) state.emit_event(event, now);
        },
        std::move(done));
  };
  auto opened = auth::ClientStore::open(store, std::move(*box), std::move(parts));
  if (opened) {
    book_ = std::move(*opened);
    return;
  }
  store_unavailable_ = "the clients in the store cannot be read: " + opened.error().message;
  log_.error(store_unavailable_);
}

}  // namespace muster

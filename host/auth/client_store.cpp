#include "host/auth/client_store.hpp"

#include <cstring>
#include <future>

#include "host/identifiers/identifiers.hpp"
#include "host/store/row.hpp"

namespace muster::auth {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_clients = 10'000;  // that were made through the API
constexpr std::size_t most_scope_bytes = std::size_t{1} << 20;

std::vector<std::string> scopes_of(const ClientRow& row) {
  std::vector<std::string> scopes;
  for (const json::value& scope : row.scopes)
    if (scope.is_string()) scopes.emplace_back(scope.get_string());
  return scopes;
}

json::array to_array(const std::vector<std::string>& texts) {
  json::array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

Error no_client(const std::string& client_id) {
  return Error::not_found("there is no client `" + client_id +
                          "`; GET /api/muster/v1/clients lists all");
}

events::Event event_of(const char* kind, const ClientRow& row, const Caller& by, Time at) {
  events::Event event;
  event.at = at;
  event.kind = kind;
  event.text =
      "client " + row.client_id + " was " + (kind + std::strlen("client-")) + " by " + by.client_id;
  event.details = {{"clientId", row.client_id},
                   {"by", by.client_id},
                   {"scopes", row.scopes},
                   {"disabled", row.disabled}};
  return event;
}

}  // namespace

Result<std::unique_ptr<ClientStore>> ClientStore::open(const store::Store& store, SecretBox box,
                                                       Parts parts) {
  std::unique_ptr<ClientStore> book(new ClientStore(std::move(box), std::move(parts)));
  const auto read = store::read_rows<ClientRow>(
      store, [&](ClientRow row) { book->rows_[row.client_id] = std::move(row); });
  if (!read) return read.error();
  for (const auto& [id, row] : book->rows_) book->make_known(row);
  book->make_host_client();
  return book;
}

// The host's own client is there since a host first led.
Result<void> ClientStore::check_key(const store::Store& store, const SecretBox& box) {
  bool fits = true;
  const auto read = store::read_rows<ClientRow>(
      store,
      [&](const ClientRow& row) { fits = box.unseal(row.secret, host_client_id).has_value(); },
      {.table = nullptr, .prefix = {std::string(host_client_id)}});
  if (!read) return read.error();
  if (fits) return {};
  return Error::config(
      "the secrets in the database were encrypted with another secrets.key: copy the file "
      "secrets.key from the data directory of a host that has led, and start this host again");
}

std::string ClientStore::sealed(const ClientRow& row, const Secret& secret) const {
  return row.kind == ClientKind::hawk ? box_.seal(secret, row.client_id)
                                      : to_hex(sha256(secret.reveal()));
}

Result<Client> ClientStore::client_of(const ClientRow& row) const {
  Client client;
  client.client_id = row.client_id;
  client.kind = row.kind;
  client.scopes = scopes_of(row);
  client.expires = row.expires;
  client.disabled = row.disabled;
  client.replay_protection = row.replay_protection;
  const auto add = [&](const std::string& kept, std::optional<Time> until) -> Result<void> {
    if (row.kind == ClientKind::token) {
      const auto digest = sha256_from_hex(kept);
      if (!digest) return Error::internal("the digest of its token cannot be read");
      client.keys.push_back({Secret(std::string(digest->begin(), digest->end())), until});
      return {};
    }
    auto secret = box_.unseal(kept, row.client_id);
    if (!secret) return secret.error();
    client.keys.push_back({std::move(*secret), until});
    return {};
  };
  if (const auto added = add(row.secret, {}); !added) return added.error();
  if (row.replaced_until && *row.replaced_until > parts_.clock->now())
    if (const auto added = add(row.replaced_secret, row.replaced_until); !added)
      return added.error();
  return client;
}

void ClientStore::make_known(const ClientRow& row) {
  auto client = client_of(row);
  if (client) return parts_.authority->put(std::move(*client));
  parts_.log.error(
      "client " + row.client_id + " cannot come in, rotate it: " + client.error().message,
      {{"client", row.client_id}});
}

// The batch goes into the line before any registration of a worker can, so nobody holds credentials
// whose key was lost.
void ClientStore::make_host_client() {
  const auto found = rows_.find(host_client_id);
  if (found != rows_.end() && client_of(found->second)) return;
  ClientRow row;
  row.client_id = host_client_id;
  row.description = "the host itself: signs the credentials of workers";
  row.scopes = {"*"};
  // The same after the loss of the database: the credentials of the workers that run stay good.
  row.secret = box_.seal(box_.derive(host_client_id), host_client_id);
  row.created = row.last_modified = parts_.clock->now();
  parts_.committer->submit({store::put(row)});
  make_known(row);
  rows_[host_client_id] = std::move(row);
}

Result<void> ClientStore::check_scopes(const std::vector<std::string>& scopes,
                                       const Caller& by) const {
  std::size_t bytes = 0;
  for (const std::string& scope : scopes) {
    if (!is_valid_scope(scope) || scope.size() > 4096)
      return Error::invalid("a scope has up to 4096 printable ASCII characters");
    bytes += scope.size();
  }
  if (bytes > most_scope_bytes)
    return Error::invalid("the scopes of a client have " + std::to_string(most_scope_bytes) +
                          " bytes at most, not " + std::to_string(bytes));
  if (scopes.size() > 10'000) return Error::invalid("a client has 10000 scopes at most");
  const ScopeSet all = parts_.authority->expand(scopes);
  std::vector<Expression> wanted;
  for (const std::string& one : all.list()) wanted.push_back(scope(one));
  const auto refused = Authority::refuse(by, all_of(std::move(wanted)));
  if (!refused) return {};
  return Error::auth(
      "a client can only give scopes that it has, and only change clients whose "
      "scopes it has. " +
      *refused);
}

Result<void> ClientStore::check_store() const {
  const store::Health health = parts_.committer->health();
  if (health.ok) return {};
  return Error::transient("nothing can be changed now: " + health.sentence);
}

Result<void> ClientStore::wait_for(Lock lock, store::Batch batch, events::Event event,
                                   const Actor& by) {
  using Outcome = std::optional<Error>;
  const auto outcome = std::make_shared<std::promise<Outcome>>();
  auto known = outcome->get_future();
  std::vector<events::Event> told{std::move(event)};
  if (by.audit) told.push_back(*by.audit);
  if (parts_.commit)
    parts_.commit(std::move(batch), std::move(told),
                  [outcome](const Outcome& error) { outcome->set_value(error); });
  else if (!parts_.committer->submit(std::move(batch), [outcome] { outcome->set_value({}); }))
    return Error::transient("the host is stopping");
  lock.unlock();
  const auto not_durable = [](const std::string& why) {
    return Error::transient("this is in effect but not durable yet, because the store fails: " +
                            why);
  };
  while (known.wait_for(milliseconds(100)) != std::future_status::ready)
    if (!parts_.committer->health().ok) return not_durable(parts_.committer->health().sentence);
  try {
    if (const Outcome error = known.get()) return not_durable(error->message);
  } catch (const std::future_error&) {  // nobody will say what became of it
    return Error::transient("the host is stopping");
  }
  return {};
}

Result<void> ClientStore::keep(Lock lock, const ClientRow& row, const char* kind, const Actor& by) {
  rows_[row.client_id] = row;
  make_known(row);
  return wait_for(std::move(lock), {store::put(row)},
                  event_of(kind, row, by.caller, parts_.clock->now()), by);
}

Result<ClientStore::Made> ClientStore::create(const std::string& client_id, const Wanted& wanted,
                                              const Actor& by) {
  if (!identifiers::is_client_id(client_id))
    return Error::invalid("a clientId has 1 to 1024 letters, digits and !@/:.+|_-");
  if (client_id == "admin" || client_id.starts_with("muster/"))
    return Error::invalid("the host keeps the names `admin` and `muster/...` for itself");
  if (const auto may = check_scopes(wanted.scopes, by.caller); !may) return may.error();
  if (const auto ok = check_store(); !ok) return ok.error();
  Lock lock(mutex_);
  if (rows_.contains(client_id) || parts_.authority->is_configured(client_id))
    return Error::invalid("there is a client `" + client_id +
                          "` already; change, rotate or remove that")
        .with_code("RequestConflict");
  if (rows_.size() >= most_clients)
    return Error::throttle("there are " + std::to_string(most_clients) +
                           " clients, which is the most; remove one that is not used");
  Made made{{}, random_token()};
  made.row.client_id = client_id;
  made.row.kind = wanted.kind;
  made.row.description = wanted.description;
  made.row.scopes = to_array(wanted.scopes);
  made.row.secret = sealed(made.row, made.secret);
  made.row.created = made.row.last_modified = parts_.clock->now();
  made.row.expires = wanted.expires;
  made.row.replay_protection = wanted.replay_protection;
  if (const auto kept = keep(std::move(lock), made.row, "client-created", by); !kept)
    return kept.error();
  return made;
}

// A caller with fewer scopes than the client could otherwise take it over in steps: first take its
// scopes away, then ask for its new secret.
Result<ClientRow*> ClientStore::changeable(const std::string& client_id, const Caller& by) {
  if (client_id == host_client_id)
    return Error::invalid("the host needs its own client to sign the credentials of workers");
  const auto found = rows_.find(client_id);
  if (found != rows_.end()) {
    if (const auto may = check_scopes(scopes_of(found->second), by); !may) return may.error();
    return &found->second;
  }
  if (parts_.authority->is_configured(client_id))
    return Error::invalid("the client `" + client_id +
                          "` is in the host's configuration: change it there and send SIGHUP");
  return no_client(client_id);
}

Result<ClientRow> ClientStore::change(const std::string& client_id, const Wanted& wanted,
                                      const Actor& by) {
  if (const auto may = check_scopes(wanted.scopes, by.caller); !may) return may.error();
  if (const auto ok = check_store(); !ok) return ok.error();
  Lock lock(mutex_);
  const auto found = changeable(client_id, by.caller);
  if (!found) return found.error();
  ClientRow row = **found;
  row.description = wanted.description;
  row.scopes = to_array(wanted.scopes);
  row.expires = wanted.expires;
  row.replay_protection = wanted.replay_protection;
  row.last_modified = parts_.clock->now();
  if (const auto kept = keep(std::move(lock), row, "client-changed", by); !kept)
    return kept.error();
  return row;
}

Result<ClientStore::Made> ClientStore::rotate(const std::string& client_id, milliseconds grace,
                                              const Actor& by) {
  if (const auto ok = check_store(); !ok) return ok.error();
  Lock lock(mutex_);
  const auto found = changeable(client_id, by.caller);
  if (!found) return found.error();
  Made made{**found, random_token()};
  const Time now = parts_.clock->now();
  made.row.replaced_secret = grace.count() > 0 ? made.row.secret : "";
  made.row.replaced_until.reset();
  if (grace.count() > 0) made.row.replaced_until = now + grace;
  made.row.secret = sealed(made.row, made.secret);
  made.row.last_modified = now;
  if (const auto kept = keep(std::move(lock), made.row, "client-changed", by); !kept)
    return kept.error();
  return made;
}

Result<ClientRow> ClientStore::set_disabled(const std::string& client_id, bool disabled,
                                            const Actor& by) {
  if (const auto ok = check_store(); !ok) return ok.error();
  Lock lock(mutex_);
  const auto found = changeable(client_id, by.caller);
  if (!found) return found.error();
  ClientRow row = **found;
  if (row.disabled == disabled) return row;
  row.disabled = disabled;
  row.last_modified = parts_.clock->now();
  if (const auto kept = keep(std::move(lock), row, "client-changed", by); !kept)
    return kept.error();
  return row;
}

Result<void> ClientStore::remove(const std::string& client_id, const Actor& by) {
  if (const auto ok = check_store(); !ok) return ok.error();
  Lock lock(mutex_);
  const auto found = changeable(client_id, by.caller);
  if (!found) return found.error();
  const ClientRow row = **found;
  rows_.erase(client_id);
  parts_.authority->remove(client_id);
  return wait_for(std::move(lock), {store::erase<ClientRow>({client_id})},
                  event_of("client-removed", row, by.caller, parts_.clock->now()), by);
}

void ClientStore::write_everything(store::Batch& rows) const {
  const Lock lock(mutex_);
  for (const auto& [id, row] : rows_) rows.emplace_back(store::put(row));
}

std::vector<ClientRow> ClientStore::list() const {
  const std::lock_guard guard(mutex_);
  std::vector<ClientRow> all;
  for (const auto& [id, row] : rows_) all.push_back(row);
  return all;
}

Result<ClientRow> ClientStore::find(const std::string& client_id) const {
  const std::lock_guard guard(mutex_);
  const auto found = rows_.find(client_id);
  if (found == rows_.end()) return no_client(client_id);
  return found->second;
}

}  // namespace muster::auth

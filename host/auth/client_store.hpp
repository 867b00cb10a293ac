// Clients that were made by the API: kept in the store, known to the authority. And the host's own
// client, which signs the credentials of workers and must outlive a restart.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "host/auth/authority.hpp"
#include "host/auth/secret_box.hpp"
#include "host/events/model/event.hpp"
#include "host/store/committer.hpp"
#include "lib/base/log.hpp"

namespace muster::auth {

// THREADS: any. Whatever changes something waits until that is durable, so it must not be called
// where requests are served; it counts at once, before that. While the store fails nothing is
// taken.
class ClientStore {
 public:
  struct Parts {
    Authority* authority = nullptr;  // these are borrowed
    store::Committer* committer = nullptr;
    const Clock* clock = nullptr;
    Log log = {};
    // Makes rows durable together with the events of their change; `done` is called once, then or
    // with the error, or destroyed if the host stops. None: the committer writes the rows alone.
    using Done = std::function<void(const std::optional<Error>&)>;
    std::function<void(store::Batch, std::vector<events::Event>, Done)> commit = {};
  };
  // Reads all clients and makes them known. One whose secret cannot be decrypted is logged and
  // stays out until it is rotated.
  static Result<std::unique_ptr<ClientStore>> open(const store::Store& store, SecretBox box,
                                                   Parts parts);

  // `config`: the secrets in the store were encrypted with the key of another host.
  static Result<void> check_key(const store::Store& store, const SecretBox& box);

  struct Wanted {
    ClientKind kind = ClientKind::hawk;
    std::string description = {};
    std::vector<std::string> scopes = {};
    std::optional<Time> expires = {};
    bool replay_protection = false;
  };
  struct Made {
    ClientRow row;
    Secret secret;  // shown to the caller once, never again
  };

  // Who changes a client, and the event of the audit log that becomes durable with the change.
  struct Actor {
    Actor(const Caller& who, std::optional<events::Event> event = std::nullopt)
        : caller(who), audit(std::move(event)) {}
    const Caller& caller;
    std::optional<events::Event> audit;
  };

  // Errors: `invalid` (the name, the scopes; code "RequestConflict" if there is one), `auth` (the
  // caller lacks scopes that it would give, or that the client has), `notFound`, `transient` (the
  // store).
  Result<Made> create(const std::string& client_id, const Wanted& wanted, const Actor& by);
  Result<ClientRow> change(const std::string& client_id, const Wanted& wanted, const Actor& by);
  // The old secret counts for another `grace`.
  Result<Made> rotate(const std::string& client_id, std::chrono::milliseconds grace,
                      const Actor& by);
  Result<ClientRow> set_disabled(const std::string& client_id, bool disabled, const Actor& by);
  Result<void> remove(const std::string& client_id, const Actor& by);

  std::vector<ClientRow> list() const;
  // Puts of all of them, the host's own among them.
  void write_everything(store::Batch& rows) const;
  Result<ClientRow> find(const std::string& client_id) const;

 private:
  ClientStore(SecretBox box, Parts parts) : box_(std::move(box)), parts_(std::move(parts)) {}
  using Lock = std::unique_lock<std::mutex>;

  void make_known(const ClientRow& row);
  Result<Client> client_of(const ClientRow& row) const;
  std::string sealed(const ClientRow& row, const Secret& secret) const;
  void make_host_client();
  Result<void> check_scopes(const std::vector<std::string>& scopes, const Caller& by) const;
  Result<ClientRow*> changeable(const std::string& client_id, const Caller& by);
  Result<void> check_store() const;
  // Puts the row, lets go of the lock, and waits.
  Result<void> keep(Lock lock, const ClientRow& row, const char* kind, const Actor& by);
  Result<void> wait_for(Lock lock, store::Batch batch, events::Event event, const Actor& by);

  const SecretBox box_;
  const Parts parts_;
  mutable std::mutex mutex_;
  std::map<std::string, ClientRow> rows_;
};

}  // namespace muster::auth

// Who a worker is: what the host asks a provider about it, and what the provider says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <muster/fields.hpp>
#include <muster/ids.hpp>
#include <muster/json.hpp>

namespace muster {

// Somebody whom the host trusts with it says who a worker is: a relay that has looked the worker's
// address up, in both directions.
struct Voucher {
  std::string by;  // the relay's client id
  std::string host_name;
  std::string address;

  static constexpr auto fields(auto visit) {
    return visit(required("by", &Voucher::by), required("hostName", &Voucher::host_name),
                 required("address", &Voucher::address));
  }
};

// A worker says who it is; `proof` is of the provider's own kind. If somebody vouches for it, pool,
// group and id may be empty: the provider then says which worker that is.
struct IdentifyRequest {
  WorkerPoolId worker_pool_id;
  WorkerGroup worker_group;
  WorkerId worker_id;
  json::object proof;
  json::object provider_data = {};  // of the worker's row; empty if the host does not know it
  std::string peer_address = {};    // where the proof came from, if known
  json::object document = {};       // the newest launch document that the worker stands under
  // What a key must have signed: a text that the host has made for this worker of this pool, and
  // takes once. Empty: the worker showed none.
  std::string challenge = {};
  std::optional<Voucher> voucher = {};
  // The fingerprint of the key of the pool with which the worker has signed the challenge: the host
  // has checked that. Empty: the pool has no keys at the host.
  std::string pool_key = {};

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &IdentifyRequest::worker_pool_id),
                 required("workerGroup", &IdentifyRequest::worker_group),
                 required("workerId", &IdentifyRequest::worker_id),
                 required("proof", &IdentifyRequest::proof),
                 optional("providerData", &IdentifyRequest::provider_data),
                 optional("peerAddress", &IdentifyRequest::peer_address),
                 optional("document", &IdentifyRequest::document),
                 optional("challenge", &IdentifyRequest::challenge),
                 optional("voucher", &IdentifyRequest::voucher),
                 optional("poolKey", &IdentifyRequest::pool_key));
  }
};

// The host need not know the worker yet: it may join as a machine that nobody launched.
struct Admission {
  std::int64_t capacity = 1;
  json::object provider_data = {};  // as Instance::provider_data

  static constexpr auto fields(auto visit) {
    return visit(optional("capacity", &Admission::capacity),
                 optional("providerData", &Admission::provider_data));
  }
};

struct Identity {
  WorkerGroup worker_group;
  WorkerId worker_id;
  json::object claims = {};  // what else was proven: account, image, the machine's own state
  WorkerPoolId worker_pool_id = {};         // only if the request named none
  std::optional<Admission> admission = {};  // only of a provider that announces machines

  static constexpr auto fields(auto visit) {
    return visit(required("workerGroup", &Identity::worker_group),
                 required("workerId", &Identity::worker_id), optional("claims", &Identity::claims),
                 optional("workerPoolId", &Identity::worker_pool_id),
                 optional("admission", &Identity::admission));
  }
};

// The code of an `invalid` error of `identify`: the proof is good, but the machine is not in the
// state that its pool wants. The host tells it 410 with the message and keeps it in quarantine.
inline constexpr const char* not_conformant = "notConformant";

}  // namespace muster

// How a worker gets in, whichever way it comes: by itself, or because a relay vouches for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/registration/claim.hpp"
#include "host/taskcluster_api/call.hpp"

namespace muster::taskcluster_api {

// What a worker is told, and what it needs to come back.
struct Granted {
  Claim claim;
  fleet::Registered registered;
  Secret secret;
  Time at{};
};

struct Applicant {
  // Pool, group and id may be empty if somebody vouches: then the provider says them.
  Claim claim;
  json::object proof;
  std::string address;  // where it comes from, for the provider
  // Whose buckets its failures are taken from.
  std::string peer_key, worker_key;
  std::optional<Voucher> voucher = {};
  std::optional<Time> booted = {};

  // One of them is called, once, on any thread that may not wait for long.
  std::function<void(const Claim&, const Failure&)> refuse;
  std::function<void(const Granted&)> grant;
  // In the same step in which the fleet lets it in.
  std::function<void(fleet::Fleet&, const Claim&, fleet::Now)> witness = {};
};

// Checks the claim, asks the provider and changes the fleet. Returns at once. THREADS: any.
void register_applicant(const std::shared_ptr<const Api>& api, Applicant applicant);

// 44 letters that need no quoting anywhere, 264 bits.
Secret new_secret();

// The credentials of a worker that was let in, or has renewed them.
struct WorkerCredentials {
  std::string client_id, access_token, certificate;
};
WorkerCredentials credentials_for(const Api& api, const Granted& granted);

}  // namespace muster::taskcluster_api

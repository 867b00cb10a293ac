// What the host's answers mean. Pure functions.
#pragma once

#include <optional>
#include <string>

#include <muster/context.hpp>
#include <muster/json.hpp>

#include "agent/call_outcome.hpp"
#include "agent/configuration.hpp"
#include "agent/http_client.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::agent {

// What a registration or a renewal brings.
struct Grant {
  Time expires{};  // by the host's clock
  hawk::Credentials credentials;
  Secret secret{""};
  std::optional<json::object> worker_config;  // nothing: as before
  std::optional<std::string> outdated = {};   // it is to end when its work is done: why
  Place place;                                // what a relay found out; else empty
};

// Fails as `transient` if it is not such an answer.
Result<Grant> grant_of(const std::string& body);

// Whether the call succeeded, and if not, what to do about it. `now` is only for a Retry-After
// that is a date.
CallOutcome call_outcome_of(const Result<HttpAnswer>& answer, Time now);

// Whether the host itself wrote it, and not a proxy in front of it.
bool is_from_host(const HttpAnswer& answer);

}  // namespace muster::agent

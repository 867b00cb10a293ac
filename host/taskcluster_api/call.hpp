// How this API checks calls and answers them: in the order and the words of Taskcluster.
#pragma once

#include <string>
#include <vector>

#include "host/endpoints/dispatch.hpp"
#include "host/taskcluster_api/parts.hpp"
#include "host/taskcluster_api/schemas.hpp"

namespace muster::registration {
struct Refusal;
}

namespace muster::taskcluster_api {

using endpoints::Answer;
using endpoints::Call;
using endpoints::CallPtr;
using endpoints::conflict;
using endpoints::Endpoint;
using endpoints::Failure;
using endpoints::FleetChange;
using endpoints::FleetChangeOrFailure;
using endpoints::input_error;
using endpoints::not_found;

// What the fleet says, in the codes of this API.
Failure to_failure(const Error& error);
Failure to_failure(const registration::Refusal& refusal);

// What all calls share. Filled before the first and then only read.
class Api final : public endpoints::Api {
 public:
  Api(Parts of_host, Schemas of_calls, SteadyTime now)
      : parts(std::move(of_host)), schemas(std::move(of_calls)), started(now) {}

  const endpoints::Host& host() const override { return parts; }
  // Calls check credentials by themselves, for a body that is no JSON is refused before.
  http::Access access(const Endpoint&) const override { return http::Access::open; }
  bool admit_head(Call& call) const override;
  bool admit(Call& call) const override;
  http::Response answer(const Call& call, std::string body) const override;
  http::Response failure(const Call& call, const Failure& failure,
                         std::vector<http::Header> headers) const override;
  Failure no_fleet() const override { return {"ServiceUnavailable", parts.problem}; }

  const Parts parts;
  const Schemas schemas;
  const SteadyTime started;
};

inline const Api& api_of(const Call& call) {
  return static_cast<const Api&>(call.api());
}
inline const Parts& parts_of(const Call& call) {
  return api_of(call).parts;
}

}  // namespace muster::taskcluster_api

// Which worker a machine says that it is.
#pragma once

#include <string>

#include "host/fleet/model/registration.hpp"

namespace muster::registration {

struct Claim {
  fleet::WorkerName name;
  ProviderId provider;

  // "group/id"
  std::string in_words() const { return name.worker_group.str() + "/" + name.worker_id.str(); }
  // Of the credentials that the worker gets.
  std::string client_id() const { return "worker/" + provider.str() + "/" + key(); }
  // "pool/group/id"
  std::string key() const { return name.worker_pool_id.str() + "/" + in_words(); }
};

}  // namespace muster::registration

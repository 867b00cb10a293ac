// Who the host is to its providers.
#pragma once

#include <cstdint>
#include <string>

#include <muster/provider.hpp>

#include "host/fleet/model/state.hpp"

namespace muster::fleet {

struct HostIdentity {
  std::string host_id;
  std::int64_t epoch = 1;  // grows with every start

  Owner owner_of(const ProviderId& provider) const { return {host_id, provider, epoch}; }
  // The same for every call about the worker's launch.
  IdempotencyKey key_of(const Worker& worker) const {
    return IdempotencyKey(host_id + "-" + std::to_string(worker.epoch) + "-" +
                          std::to_string(worker.number));
  }
};

}  // namespace muster::fleet

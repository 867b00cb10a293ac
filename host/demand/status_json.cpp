#include <muster/codec.hpp>

#include "host/demand/service.hpp"

namespace muster::demand {

json::array to_json(const std::vector<SourceStatus>& status) {
  json::array all;
  for (const SourceStatus& source : status) {
    json::object item = {{"name", source.name},
                         {"type", source.type},
                         {"pools", source.pools},
                         {"stalePools", source.stale_pools},
                         {"pending", source.pending}};
    if (source.answered) item["answered"] = format_time(*source.answered);
    if (source.age) item["ageSeconds"] = static_cast<double>(source.age->count()) / 1000;
    if (!source.error.empty()) item["error"] = source.error;
    if (source.failed_since) item["failedSince"] = format_time(*source.failed_since);
    if (!source.pool_errors.empty()) {
      json::object errors;
      for (const auto& [pool, error] : source.pool_errors) errors[pool.str()] = error;
      item["poolErrors"] = std::move(errors);
    }
    if (!source.unknown_pools.empty())
      item["unknownPools"] = json::array(source.unknown_pools.begin(), source.unknown_pools.end());
    all.push_back(std::move(item));
  }
  return all;
}

}  // namespace muster::demand

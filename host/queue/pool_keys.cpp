#include "host/queue/pool_keys.hpp"

namespace muster::queue {

Result<std::vector<ssh::PublicKey>> read_pool_keys(std::string_view name,
                                                   const std::vector<std::string>& lines) {
  if (lines.size() > most_pool_keys)
    return Error::invalid(std::string(name) + ": there are " + std::to_string(lines.size()) +
                          " keys; at most " + std::to_string(most_pool_keys) + " are possible");
  auto keys = ssh::parse_keys(lines);
  if (!keys) return Error::invalid(std::string(name) + keys.error().message);
  return keys;
}

}  // namespace muster::queue

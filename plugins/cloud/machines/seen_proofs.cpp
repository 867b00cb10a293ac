#include "plugins/cloud/machines/seen_proofs.hpp"

#include "lib/crypto/sha256.hpp"

namespace muster::cloud {

Result<void> SeenProofs::use_once(std::string_view proof, const std::string& name, Time end,
                                  Time now, std::chrono::milliseconds again_for) {
  std::erase_if(uses_, [&](const auto& entry) { return entry.second.end <= now; });
  const auto [entry, is_new] = uses_.try_emplace(sha256_hex(proof), Use{name, end, now});
  const Use& use = entry->second;
  if (is_new || (use.name == name && now < use.first + again_for)) return {};
  return Error::auth("this proof of identity was used before, for " + use.name +
                     "; each may be used once: the worker must fetch a new one");
}

}  // namespace muster::cloud

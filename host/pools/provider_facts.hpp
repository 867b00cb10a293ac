// What must be known of the host's providers and strategies to make pools of worker configurations.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/provider.hpp>

namespace muster::pools {

struct ProviderFacts {
  ProviderDescription description;
  std::vector<Placement> placements;
  // Of plugin and instance: changes whenever the same request may come to expand to something else.
  std::string version;
  // The provider does not run, or cannot say now where it can launch; nothing above holds then.
  std::optional<Error> unavailable = {};
};

struct ProviderContext {
  std::map<ProviderId, ProviderFacts> providers;  // all configured ones
  std::vector<std::string> strategies;            // all configured ones
  bool knows_all_strategies = true;               // false: a host may have others
  std::string default_strategy = "classic";
};

// Provider::expand of the provider of that id. Blocks up to its own deadline.
using Expand = std::function<Result<Expansion>(const ProviderId&, const ExpandRequest&)>;

// Asks a running provider where it can launch. An answer that is none becomes `unavailable`.
ProviderFacts ask_provider(ProviderDescription description, std::string version, Provider& provider,
                           const Context& context);

// Whether pools made for the one would be those made for the other.
bool same(const ProviderFacts& a, const ProviderFacts& b);
bool same(const ProviderContext& a, const ProviderContext& b);

// Whether an error of a provider means that the document is wrong, and not that the provider is in
// trouble at the moment.
bool blames_the_document(const Error& error);

}  // namespace muster::pools

#include "host/pools/provider_facts.hpp"

#include <algorithm>

namespace muster::pools {

ProviderFacts ask_provider(ProviderDescription description, std::string version, Provider& provider,
                           const Context& context) {
  ProviderFacts facts{std::move(description), {}, std::move(version)};
  auto answer = provider.placements({}, context);
  if (!answer) {
    facts.unavailable = answer.error();
    return facts;
  }
  facts.placements = std::move(answer->placements);
  // The order in which a cloud lists its zones means nothing.
  std::sort(facts.placements.begin(), facts.placements.end(),
            [](const Placement& a, const Placement& b) { return a.facts < b.facts; });
  facts.placements.erase(std::unique(facts.placements.begin(), facts.placements.end()),
                         facts.placements.end());
  for (const Placement& placement : facts.placements)
    if (placement.facts.contains("workerType") || placement.facts.contains("provider"))
      facts.unavailable = Error::internal(
          "its placements name workerType or provider, which is not for a placement to say");
  return facts;
}

bool same(const ProviderFacts& a, const ProviderFacts& b) {
  if (a.unavailable.has_value() != b.unavailable.has_value()) return false;
  if (a.unavailable) return a.unavailable->message == b.unavailable->message;
  return a.version == b.version && a.placements == b.placements &&
         a.description.section == b.description.section &&
         a.description.section_schema == b.description.section_schema &&
         a.description.field_classes.static_fields == b.description.field_classes.static_fields &&
         a.description.field_classes.dynamic_fields == b.description.field_classes.dynamic_fields &&
         a.description.field_classes.behavioural_fields ==
             b.description.field_classes.behavioural_fields;
}

bool same(const ProviderContext& a, const ProviderContext& b) {
  return a.strategies == b.strategies && a.knows_all_strategies == b.knows_all_strategies &&
         a.default_strategy == b.default_strategy &&
         std::equal(a.providers.begin(), a.providers.end(), b.providers.begin(), b.providers.end(),
                    [](const auto& x, const auto& y) {
                      return x.first == y.first && same(x.second, y.second);
                    });
}

bool blames_the_document(const Error& error) {
  switch (error.error_class) {
    case ErrorClass::invalid:
    case ErrorClass::config:
    case ErrorClass::not_found:
    case ErrorClass::unsupported:
      return true;
    default:
      return false;
  }
}

}  // namespace muster::pools

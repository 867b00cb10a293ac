#include "host/registration/meters.hpp"

#include <algorithm>

namespace muster::registration {
namespace {

constexpr std::array<std::string_view, registration_outcomes> outcome_names{
    "registered", "renewed", "refused", "limited", "unavailable"};

enum Meter { registrations, provision, startup };

const std::vector<MeterDescription>& table() {
  static const std::vector<double> seconds{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600};
  static const std::vector<MeterDescription> meters{
      {"muster_worker_manager_registrations_total",
       "Registrations and renewals of credentials",
       {{"providerId", "the provider that the worker named"}, {"outcome", "what became of it"}}},
      {"muster_worker_manager_provision_seconds",
       "From the request for a machine to its start",
       {{"providerId", "the provider of the machine"}},
       seconds},
      {"muster_worker_manager_startup_seconds",
       "From the start of a machine to its registration",
       {{"providerId", "the provider of the machine"}},
       seconds}};
  return meters;
}

}  // namespace

std::span<const MeterDescription> meter_descriptions() {
  return table();
}

void Meters::count(const std::string& provider_id, RegistrationOutcome outcome) {
  const std::lock_guard lock(mutex_);
  ++providers_[provider_id].outcomes[static_cast<std::size_t>(outcome)];
}

std::int64_t Meters::counted(const std::string& provider_id, RegistrationOutcome outcome) const {
  const std::lock_guard lock(mutex_);
  const auto found = providers_.find(provider_id);
  return found == providers_.end() ? 0 : found->second.outcomes[static_cast<std::size_t>(outcome)];
}

void Meters::observe(metrics::Histogram& histogram, double seconds) {
  if (histogram.bounds.empty()) {
    histogram.bounds = table()[provision].buckets;
    histogram.counts.resize(histogram.bounds.size() + 1);
  }
  const auto bucket = std::ranges::lower_bound(histogram.bounds, seconds);
  ++histogram.counts[static_cast<std::size_t>(bucket - histogram.bounds.begin())];
  histogram.sum += seconds;
}

// Clocks that disagree make negative times, which are worthless.
void Meters::observe_start(const std::string& provider_id, double provision_seconds,
                           double startup_seconds) {
  const std::lock_guard lock(mutex_);
  OfProvider& provider = providers_[provider_id];
  if (provision_seconds >= 0) observe(provider.provision, provision_seconds);
  if (startup_seconds >= 0) observe(provider.startup, startup_seconds);
}

void Meters::write(metrics::Page& page) const {
  const std::lock_guard lock(mutex_);
  const auto histogram = [&](Meter meter, const std::string& id, const metrics::Histogram& of_it) {
    if (!of_it.bounds.empty())
      page.histogram(table()[meter].name, table()[meter].description, of_it, {{"providerId", id}});
  };
  for (const auto& [id, provider] : providers_) {
    for (std::size_t i = 0; i < registration_outcomes; ++i)
      page.counter(table()[registrations].name, table()[registrations].description,
                   static_cast<double>(provider.outcomes[i]),
                   {{"providerId", id}, {"outcome", std::string(outcome_names[i])}});
    histogram(provision, id, provider.provision);
    histogram(startup, id, provider.startup);
  }
}

}  // namespace muster::registration

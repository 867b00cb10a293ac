#include "host/registration/meters.hpp"

#include <algorithm>

namespace muster::registration {
namespace {

constexpr std::array<std::string_view, registration_outcomes> outcome_names{
    "registered", "renewed", "refused", "limited", "unavailable"};

constexpr std::size_t most_places = 1000;

enum Meter { registrations, provision, startup };

const std::vector<MeterDescription>& table() {
  // The last two are Taskcluster's own, with its names, labels and buckets.
  static const std::vector<std::pair<std::string_view, std::string_view>> place{
      {"workerPoolId", "the worker pool of the machine"},
      {"providerId", "the provider of the machine"},
      {"workerGroup", "the worker group of the machine"}};
  static const std::vector<MeterDescription> meters{
      {"muster_worker_manager_registrations_total",
       "Registrations and renewals of credentials",
       {{"providerId", "the provider that the worker named"}, {"outcome", "what became of it"}}},
      {"worker_manager_worker_provision_seconds",
       "From the request for a machine to its start",
       place,
       {15, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800}},
      {"worker_manager_worker_startup_seconds",
       "From the start of a machine to its registration",
       place,
       {5, 10, 15, 30, 45, 60, 90, 120, 180, 300, 600}}};
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

void Meters::observe(metrics::Histogram& histogram, const std::vector<double>& bounds,
                     double seconds) {
  if (histogram.bounds.empty()) {
    histogram.bounds = bounds;
    histogram.counts.resize(histogram.bounds.size() + 1);
  }
  const auto bucket = std::ranges::lower_bound(histogram.bounds, seconds);
  ++histogram.counts[static_cast<std::size_t>(bucket - histogram.bounds.begin())];
  histogram.sum += seconds;
}

// Pools and groups come and go, and a page of metrics must not grow for ever.
Meters::Starts& Meters::starts_of(const Claim& claim) {
  const Place place{claim.name.worker_pool_id.str(), claim.provider.str(),
                    claim.name.worker_group.str()};
  const auto known = starts_.find(place);
  if (known != starts_.end()) return known->second;
  if (starts_.size() < most_places) return starts_[place];
  return starts_[{"other", claim.provider.str(), "other"}];
}

// Clocks that disagree make negative times, which are worthless.
void Meters::observe_start(const Claim& claim, double provision_seconds, double startup_seconds) {
  const std::lock_guard lock(mutex_);
  Starts& starts = starts_of(claim);
  if (provision_seconds >= 0)
    observe(starts.provision, table()[provision].buckets, provision_seconds);
  if (startup_seconds >= 0) observe(starts.startup, table()[startup].buckets, startup_seconds);
}

void Meters::write(metrics::Page& page) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, provider] : providers_)
    for (std::size_t i = 0; i < registration_outcomes; ++i)
      page.counter(table()[registrations].name, table()[registrations].description,
                   static_cast<double>(provider.outcomes[i]),
                   {{"providerId", id}, {"outcome", std::string(outcome_names[i])}});
  const auto histogram = [&](Meter meter, const Place& place, const metrics::Histogram& of_it) {
    if (!of_it.bounds.empty())
      page.histogram(table()[meter].name, table()[meter].description, of_it,
                     {{"workerPoolId", place.worker_pool_id},
                      {"providerId", place.provider_id},
                      {"workerGroup", place.worker_group}});
  };
  for (const auto& [place, starts] : starts_) histogram(provision, place, starts.provision);
  for (const auto& [place, starts] : starts_) histogram(startup, place, starts.startup);
}

}  // namespace muster::registration

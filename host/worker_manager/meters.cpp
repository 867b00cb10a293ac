#include "host/worker_manager/meters.hpp"

#include <muster/json.hpp>

namespace muster::worker_manager {
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

void write_head(std::string& text, const MeterDescription& meter) {
  const std::string name(meter.name);
  text += "# HELP " + name + " " + std::string(meter.description) + "\n# TYPE " + name +
          (meter.buckets.empty() ? " counter\n" : " histogram\n");
}

// `more` are labels beside the provider, each with a comma before it.
void write_line(std::string& text, std::string_view name, const std::string& provider,
                const std::string& more, double value) {
  text += std::string(name) + "{providerId=\"" + provider + "\"" + more + "} " +
          json::write(json::value(value)) + "\n";
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

void Meters::observe(Histogram& histogram, double seconds) {
  const std::vector<double>& bounds = table()[provision].buckets;
  histogram.buckets.resize(bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i)
    if (seconds <= bounds[i]) ++histogram.buckets[i];
  ++histogram.count;
  histogram.sum += seconds;
}

// What is negative comes from clocks that disagree, and says nothing.
void Meters::observe_start(const std::string& provider_id, double provision_seconds,
                           double startup_seconds) {
  const std::lock_guard lock(mutex_);
  OfProvider& provider = providers_[provider_id];
  if (provision_seconds >= 0) observe(provider.provision, provision_seconds);
  if (startup_seconds >= 0) observe(provider.startup, startup_seconds);
}

void Meters::write(std::string& text, const MeterDescription& meter, const std::string& provider,
                   const Histogram& histogram) {
  if (histogram.count == 0) return;
  const std::string name(meter.name);
  const auto bucket = [&](const std::string& bound, std::int64_t count) {
    write_line(text, name + "_bucket", provider, ",le=\"" + bound + "\"",
               static_cast<double>(count));
  };
  for (std::size_t i = 0; i < histogram.buckets.size(); ++i)
    bucket(json::write(json::value(meter.buckets[i])), histogram.buckets[i]);
  bucket("+Inf", histogram.count);
  write_line(text, name + "_sum", provider, "", histogram.sum);
  write_line(text, name + "_count", provider, "", static_cast<double>(histogram.count));
}

std::string Meters::text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  write_head(text, table()[registrations]);
  for (const auto& [id, provider] : providers_)
    for (std::size_t i = 0; i < registration_outcomes; ++i)
      write_line(text, table()[registrations].name, id,
                 ",outcome=\"" + std::string(outcome_names[i]) + "\"",
                 static_cast<double>(provider.outcomes[i]));
  write_head(text, table()[provision]);
  for (const auto& [id, provider] : providers_)
    write(text, table()[provision], id, provider.provision);
  write_head(text, table()[startup]);
  for (const auto& [id, provider] : providers_) write(text, table()[startup], id, provider.startup);
  return text;
}

}  // namespace muster::worker_manager

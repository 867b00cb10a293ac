#include "host/wiring/operation_meters.hpp"

#include <algorithm>

namespace muster {
namespace {

// Kinds of errors are made up by workers.
constexpr std::size_t most_kinds = 50;
const std::string other_operation(metrics::other_label);

const std::vector<double>& call_bounds() {
  static const std::vector<double> bounds{0.001, 0.005, 0.025, 0.1, 0.5, 1,
                                          2.5,   5,     10,    30,  60,  120};
  return bounds;
}

std::string detail(const events::Event& event, std::string_view name) {
  const json::value* found = event.details.if_contains(name);
  return found && found->is_string() ? std::string(found->get_string()) : "";
}

}  // namespace

void OperationMeters::observe(const std::vector<events::Event>& durable) {
  const std::lock_guard guard(mutex_);
  for (const events::Event& event : durable) {
    if (event.kind == "worker-launched") ++launches_[event.provider_id.str()];
    if (event.kind == "plugin-stopped" && !detail(event, "instanceId").empty())
      ++plugin_stops_[detail(event, "instanceId")];
    if (event.kind != "worker-error") continue;
    const std::string kind = detail(event, "errorKind");
    if (kind == "creation-error")
      ++failures_[{event.provider_id.str(), detail(event, "class")}];
    else
      ++worker_errors_[worker_errors_.size() < most_kinds || worker_errors_.contains(kind)
                           ? kind
                           : other_operation];
  }
}

void OperationMeters::observe(const fleet::EndedCall& call) {
  const std::lock_guard guard(mutex_);
  Calls& calls = calls_[{call.instance_id, std::string(call.method)}];
  const std::vector<double>& bounds = call_bounds();
  if (calls.duration.bounds.empty()) {
    calls.duration.bounds = bounds;
    calls.duration.counts.resize(bounds.size() + 1);
  }
  const double seconds = call.took.count();
  const auto bucket = std::ranges::lower_bound(bounds, seconds) - bounds.begin();
  ++calls.duration.counts[static_cast<std::size_t>(bucket)];
  calls.duration.sum += seconds;
  if (call.failed) ++calls.failures;
}

void OperationMeters::write(metrics::Page& page) const {
  const std::lock_guard guard(mutex_);
  for (const auto& [provider, count] : launches_)
    page.counter("muster_fleet_launches_total", "Workers that were launched or found",
                 static_cast<double>(count), {{"provider", provider}});
  for (const auto& [of, count] : failures_)
    page.counter("muster_fleet_launch_failures_total",
                 "Launches that failed, by class of the error", static_cast<double>(count),
                 {{"provider", of.first}, {"class", of.second}});
  for (const auto& [kind, count] : worker_errors_)
    page.counter("muster_fleet_worker_errors_total", "Errors that workers reported, by kind",
                 static_cast<double>(count), {{"kind", kind}});
  for (const auto& [instance, count] : plugin_stops_)
    page.counter("muster_plugin_loader_stops_total",
                 "Stops of a plugin instance: crashes, hangs, replacements",
                 static_cast<double>(count), {{"instance", instance}});
  for (const auto& [of, calls] : calls_) {
    const metrics::Labels labels{{"instance", of.first}, {"method", of.second}};
    page.histogram("muster_fleet_plugin_call_duration_seconds", "How long calls of plugins take",
                   calls.duration, labels);
    page.counter("muster_fleet_plugin_call_failures_total", "Calls of plugins that failed",
                 static_cast<double>(calls.failures), labels);
  }
}

}  // namespace muster

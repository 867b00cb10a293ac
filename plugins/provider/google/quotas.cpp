#include "plugins/provider/google/quotas.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/machine_types.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::for_each_of;
using cloud::table_of;
using cloud::text_of;
using namespace std::chrono_literals;

constexpr auto fresh_for = 1min;
// Google's numbers are late by less than that.
constexpr auto longest_delay = 20s;
constexpr const char* spot_metric = "PREEMPTIBLE_CPUS";

double number_in(const json::object& object, const char* key) {
  const json::value* found = object.if_contains(key);
  if (!found) return 0;
  if (found->is_number()) return found->to_number<double>();
  double number = 0;
  if (found->is_string())
    std::from_chars(found->get_string().data(),
                    found->get_string().data() + found->get_string().size(), number);
  return number;
}

// "n2" → "N2_CPUS". The oldest families share one quota.
std::string metric_of_family(std::string family) {
  if (family == "n1" || family == "e2" || family == "f1" || family == "g1") return "CPUS";
  for (char& letter : family)
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  return family + "_CPUS";
}

// ".../acceleratorTypes/nvidia-tesla-t4" → "NVIDIA_T4_GPUS"
std::string metric_of_accelerator(const std::string& url) {
  std::string name = last_part(url);
  if (const auto at = name.find("tesla-"); at != name.npos) name.erase(at, 6);
  for (char& letter : name) {
    if (letter == '-') letter = '_';
    if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
  }
  return name + "_GPUS";
}

std::string in_words(double number) {
  return json::write(json::value(std::round(number * 100) / 100));
}

}  // namespace

Needs needs_of(const cloud::Machine& machine) {
  Needs needs;
  if (const auto shape = shape_of(machine.instance_type)) {
    needs.family_metric = metric_of_family(shape->family);
    // Shared processors count as two whole ones.
    needs.processors = shape->family == "e2" && shape->processors <= 1 ? 2 : shape->processors;
  }
  needs.metrics["INSTANCES"] = 1;
  if (!machine.launch) return needs;
  for_each_of(*machine.launch, "networkInterfaces", [&](const json::object& interface) {
    for_each_of(interface, "accessConfigs",
                [&](const json::object&) { needs.metrics["IN_USE_ADDRESSES"] += 1; });
  });
  for_each_of(*machine.launch, "disks", [&](const json::object& disk) {
    const json::object* fresh = table_of(disk, "initializeParams");
    if (!fresh || text_of(disk, "type") == "SCRATCH") return;
    const double size = std::max(number_in(*fresh, "diskSizeGb"), number_in(disk, "diskSizeGb"));
    const std::string kind = last_part(text_of(*fresh, "diskType"));
    const bool is_ssd = kind == "pd-ssd" || kind == "pd-balanced";
    if (size > 0 && (is_ssd || kind.empty() || kind == "pd-standard"))
      needs.metrics[is_ssd ? "SSD_TOTAL_GB" : "DISKS_TOTAL_GB"] += size;
  });
  for_each_of(*machine.launch, "guestAccelerators", [&](const json::object& accelerator) {
    const std::string metric = metric_of_accelerator(text_of(accelerator, "acceleratorType"));
    needs.metrics[(machine.is_spot() ? "PREEMPTIBLE_" : "") + metric] +=
        number_in(accelerator, "acceleratorCount");
  });
  return needs;
}

// A project without a quota of its own for spot machines counts them with the others.
std::map<std::string, double> Quotas::counted(const Needs& needs, const Region& region,
                                              bool is_spot) {
  auto metrics = needs.metrics;
  const auto preemptible = region.quotas.find(spot_metric);
  const bool has_own = preemptible != region.quotas.end() && preemptible->second.limit > 0;
  if (!needs.family_metric.empty())
    metrics[is_spot && has_own ? std::string(spot_metric) : needs.family_metric] +=
        needs.processors;
  return metrics;
}

void Quotas::refresh(const std::string& name, Region& region, const Context& context) {
  const auto answer = api_.call({.method = "regions.get",
                                 .path = {{"region", name}},
                                 .query = {{"fields", "name,quotas"}},
                                 .about = scope_of_region(name)},
                                context);
  region.ask_again = context.now() + fresh_for;
  if (!answer) {
    context.log(LogLevel::warning, "the quotas of " + name + " are " +
                                       (region.quotas.empty() ? "not known" : "as they were") +
                                       ": " + answer.error().message);
    return;
  }
  region.quotas.clear();
  std::erase_if(region.debits,
                [&](const Debit& debit) { return debit.at + longest_delay <= context.now(); });
  for_each_of(*answer, "quotas", [&](const json::object& quota) {
    region.quotas[text_of(quota, "metric")] = {number_in(quota, "limit"),
                                               number_in(quota, "usage")};
  });
}

Result<std::optional<std::int64_t>> Quotas::room(const cloud::Machine& machine,
                                                 const Context& context) {
  Region& region = regions_[machine.region];
  if (region.ask_again <= context.now()) refresh(machine.region, region, context);
  std::optional<std::int64_t> room;
  for (const auto& [metric, each] : counted(needs_of(machine), region, machine.is_spot())) {
    const auto quota = region.quotas.find(metric);
    if (quota == region.quotas.end() || each <= 0) continue;
    double under_way = 0;
    for (const Debit& debit : region.debits)
      if (debit.metric == metric) under_way += debit.amount;
    const auto& [limit, usage] = quota->second;
    const auto fits = static_cast<std::int64_t>(
        std::floor(std::clamp((limit - usage - under_way) / each, 0.0, 1e9)));
    if (fits == 0)
      return Error::quota("the quota " + metric + " in " + machine.region + " is " +
                          in_words(limit) + ", of which " + in_words(usage + under_way) +
                          " are used, and a machine of type " + machine.type_and_market() +
                          " needs " + in_words(each) +
                          "; raise it at https://console.cloud.google.com/iam-admin/quotas")
          .in_region(machine.region)
          .of_instance_type(machine.type_and_market())
          .hold_for(60s)
          .with_code("QUOTA_EXCEEDED");
    room = std::min(room.value_or(fits), fits);
  }
  return room;
}

void Quotas::debit(const cloud::Machine& machine, std::int64_t count, Time now) {
  Region& region = regions_[machine.region];
  for (const auto& [metric, each] : counted(needs_of(machine), region, machine.is_spot()))
    region.debits.push_back({metric, each * static_cast<double>(count), now});
}

}  // namespace muster::google

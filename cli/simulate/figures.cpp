#include "cli/simulate/figures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <muster/enum_name.hpp>

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

double in_seconds(milliseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

double rounded(double number) {
  return std::round(number * 10000) / 10000;
}

PoolFigures pool_figures(const std::string& name, const simulation::PoolReport& report) {
  PoolFigures figures{.name = name,
                      .tasks = report.tasks,
                      .done = report.done,
                      .waiting = static_cast<std::int64_t>(report.waiting.size()),
                      .interrupted = report.interrupted,
                      .waits = {},
                      .launches = report.launches,
                      .launch_errors = report.launch_errors,
                      .workers_most = report.workers_most,
                      .machine_hours = report.machine_hours,
                      .cost = report.cost,
                      .verdict = {}};
  auto waits = report.waits;
  waits.insert(waits.end(), report.waiting.begin(), report.waiting.end());
  figures.waits = waits_of(std::move(waits));
  if (report.verdict_kind != verdict::Kind::placed && !report.verdict.empty())
    figures.verdict = muster::name_of(report.verdict_kind) + ": " + report.verdict;
  return figures;
}

json::object pool_json(const PoolFigures& pool) {
  json::object document{{"tasks", pool.tasks},
                        {"done", pool.done},
                        {"waiting", pool.waiting},
                        {"interrupted", pool.interrupted},
                        {"waitSeconds", nullptr},
                        {"launches", pool.launches},
                        {"launchErrors", pool.launch_errors},
                        {"peakWorkers", pool.workers_most},
                        {"machineHours", rounded(pool.machine_hours)},
                        {"cost", rounded(pool.cost)}};
  if (pool.waits)
    document["waitSeconds"] = json::object{{"p50", in_seconds(pool.waits->p50)},
                                           {"p90", in_seconds(pool.waits->p90)},
                                           {"p99", in_seconds(pool.waits->p99)},
                                           {"max", in_seconds(pool.waits->most)}};
  if (!pool.verdict.empty()) document["verdict"] = pool.verdict;
  return document;
}

}  // namespace

std::optional<Waits> waits_of(std::vector<milliseconds> waits) {
  if (waits.empty()) return std::nullopt;
  std::sort(waits.begin(), waits.end());
  // The nearest rank: the smallest wait that so many percent of all do not exceed.
  const auto percentile = [&](std::size_t percent) {
    return waits[(waits.size() * percent + 99) / 100 - 1];
  };
  return Waits{percentile(50), percentile(90), percentile(99), waits.back()};
}

Figures figures_of(const std::string& configuration, const simulation::Report& report) {
  Figures figures;
  figures.configuration = configuration;
  figures.end = report.end;
  figures.digest = report.digest;
  figures.violations = report.violations;
  simulation::PoolReport sum;
  for (const auto& [id, pool] : report.pools) {
    figures.pools.push_back(pool_figures(id.str(), pool));
    sum.tasks += pool.tasks;
    sum.done += pool.done;
    sum.interrupted += pool.interrupted;
    sum.launches += pool.launches;
    sum.launch_errors += pool.launch_errors;
    sum.cost += pool.cost;
    sum.machine_hours += pool.machine_hours;
    sum.waits.insert(sum.waits.end(), pool.waits.begin(), pool.waits.end());
    sum.waiting.insert(sum.waiting.end(), pool.waiting.begin(), pool.waiting.end());
  }
  sum.workers_most = report.workers_most;
  figures.total = pool_figures("total", sum);
  return figures;
}

json::object figures_json(const Figures& figures, const simulation::Report& report) {
  json::object pools, happenings;
  for (const PoolFigures& pool : figures.pools) pools[pool.name] = pool_json(pool);
  for (const auto& [kind, count] : report.happenings) happenings[kind] = count;
  json::array samples, violations;
  for (const simulation::Sample& sample : report.samples)
    samples.push_back(json::object{{"seconds", sample.at.count() / 1000},
                                   {"pending", sample.pending},
                                   {"requested", sample.requested},
                                   {"running", sample.running}});
  for (const std::string& violation : figures.violations)
    violations.push_back(json::string(violation));
  json::array prices;
  for (const UsedPrice& price : figures.prices)
    prices.push_back(json::object{{"providerId", price.provider_id},
                                  {"instanceType", price.instance_type},
                                  {"pricePerHour", price.per_hour},
                                  {"source", price.source}});
  return {{"configuration", figures.configuration},
          {"currency", figures.currency},
          {"prices", std::move(prices)},
          {"simulatedSeconds", in_seconds(figures.end)},
          {"pools", std::move(pools)},
          {"total", pool_json(figures.total)},
          {"happenings", std::move(happenings)},
          {"samples", std::move(samples)},
          {"violations", std::move(violations)},
          {"digest", figures.digest}};
}

json::object comparison_json(const Figures& first, const Figures& second) {
  const PoolFigures &a = first.total, &b = second.total;
  json::object difference{{"done", b.done - a.done},
                          {"waiting", b.waiting - a.waiting},
                          {"launches", b.launches - a.launches},
                          {"launchErrors", b.launch_errors - a.launch_errors},
                          {"peakWorkers", b.workers_most - a.workers_most},
                          {"machineHours", rounded(b.machine_hours - a.machine_hours)},
                          {"cost", rounded(b.cost - a.cost)}};
  if (a.waits && b.waits)
    difference["waitSeconds"] = json::object{{"p50", in_seconds(b.waits->p50 - a.waits->p50)},
                                             {"p90", in_seconds(b.waits->p90 - a.waits->p90)},
                                             {"p99", in_seconds(b.waits->p99 - a.waits->p99)},
                                             {"max", in_seconds(b.waits->most - a.waits->most)}};
  return difference;
}

std::string in_words(milliseconds time) {
  const std::int64_t count = time.count();
  if (count < 0) return "-" + in_words(-time);
  char text[64];
  const long long seconds = (count + 500) / 1000;
  if (count < 1000)
    std::snprintf(text, sizeof text, "%lldms", static_cast<long long>(count));
  else if (seconds < 60)
    std::snprintf(text, sizeof text, "%llds", seconds);
  else if (seconds < 3600)
    std::snprintf(text, sizeof text, "%lldm %02llds", seconds / 60, seconds % 60);
  else if (seconds < 86400)
    std::snprintf(text, sizeof text, "%lldh %02lldm", seconds / 3600, seconds % 3600 / 60);
  else
    std::snprintf(text, sizeof text, "%lldd %02lldh", seconds / 86400, seconds % 86400 / 3600);
  return text;
}

}  // namespace muster::cli

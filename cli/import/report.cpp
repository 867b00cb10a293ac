#include "cli/import/report.hpp"

#include <algorithm>

#include <muster/plural.hpp>

namespace muster::importing {
namespace {

json::object to_json(const Loss& loss) {
  json::object document;
  if (!loss.launch_config.empty()) document["launchConfig"] = loss.launch_config;
  if (!loss.path.empty()) document["path"] = loss.path;
  document["reason"] = loss.reason;
  return document;
}

json::object to_json(const PoolReport& pool) {
  json::object document{{"workerPoolId", pool.worker_pool_id},
                        {"launchConfigs", pool.launch_configs},
                        {"carried", pool.carried}};
  if (!pool.worker_type.empty()) document["workerType"] = pool.worker_type;
  if (!pool.provider_id.empty()) document["providerId"] = pool.provider_id;
  if (!pool.file.empty()) document["file"] = pool.file;
  if (!pool.refused.empty()) document["refused"] = pool.refused;
  json::array losses;
  for (const Loss& loss : pool.losses) losses.push_back(to_json(loss));
  document["notCarriedOver"] = std::move(losses);
  document["decide"] = json::array(pool.decisions.begin(), pool.decisions.end());
  return document;
}

std::string line_of(const Loss& loss) {
  std::string text;
  for (const std::string& part : {loss.launch_config, loss.path})
    if (!part.empty()) text += part + ": ";
  return text + loss.reason;
}

}  // namespace

void PoolReport::lose(std::string launch_config, std::string path, std::string reason) {
  losses.push_back({std::move(launch_config), std::move(path), std::move(reason)});
}

bool Report::is_whole() const {
  return std::ranges::all_of(pools, [](const PoolReport& pool) { return pool.is_whole(); });
}

std::size_t Report::file_count() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(pools, [](const PoolReport& pool) { return pool.refused.empty(); }));
}

json::object to_json(const Report& report) {
  json::array pools;
  std::size_t launch_configs = 0, carried = 0;
  for (const PoolReport& pool : report.pools) {
    pools.push_back(to_json(pool));
    launch_configs += pool.launch_configs;
    carried += pool.carried;
  }
  return {{"whole", report.is_whole()},
          {"workerPools", report.pools.size()},
          {"configurations", report.file_count()},
          {"launchConfigs", launch_configs},
          {"carried", carried},
          {"pools", std::move(pools)},
          {"notes", json::array(report.notes.begin(), report.notes.end())}};
}

std::string to_text(const Report& report, bool written) {
  std::string text;
  std::size_t launch_configs = 0, carried = 0;
  for (const PoolReport& pool : report.pools) {
    launch_configs += pool.launch_configs;
    carried += pool.carried;
    text += pool.worker_pool_id + " -> " + (pool.refused.empty() ? pool.file : "nothing") + ": " +
            std::to_string(pool.carried) + " of " +
            count_of(pool.launch_configs, "launch configuration") + "\n";
    if (!pool.refused.empty()) text += "  not imported: " + pool.refused + "\n";
    for (const Loss& loss : pool.losses) text += "  not carried over: " + line_of(loss) + "\n";
    for (const std::string& decision : pool.decisions) text += "  decide: " + decision + "\n";
  }
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text + count_of(report.file_count(), "worker configuration") +
         (written ? " written" : " made, none written") + " of " +
         count_of(report.pools.size(), "worker pool") + ", with " + std::to_string(carried) +
         " of " + count_of(launch_configs, "launch configuration") + "\n";
}

}  // namespace muster::importing

#include "cli/import/launch_choice.hpp"

#include <algorithm>

#include "cli/import/documents.hpp"

namespace muster::importing {
namespace {

bool is_place_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// workerManager of Taskcluster: what muster has, too, and what it has not.
Result<void> read_worker_manager(const json::object& given, LaunchChoice& choice,
                                 std::vector<Loss>& losses) {
  for (const auto& [key, value] : given) {
    if (key == "launchConfigId" || key == "publicIp") continue;  // made anew; the cloud's reader
    if (key == "capacityPerInstance") {
      if (!value.is_int64() || value.get_int64() < 1 || value.get_int64() > 1'000'000)
        return Error::invalid("workerManager.capacityPerInstance is no whole number from 1");
      choice.capacity = value.get_int64();
    } else if (key == "initialWeight" && value.is_number()) {
      choice.worker_manager[key] = value;
    } else if (key == "maxCapacity" && value.is_int64()) {
      choice.worker_manager[key] = value;
    } else {
      losses.push_back({"", "workerManager." + std::string(key), "muster has no such setting"});
    }
  }
  return {};
}

}  // namespace

const Cloud* cloud_of(const json::object& launch_config) {
  if (launch_config.contains("launchConfig")) return &aws_cloud;
  if (launch_config.contains("machineType")) return &google_cloud;
  if (launch_config.contains("armDeployment") || launch_config.contains("hardwareProfile"))
    return &azure_cloud;
  return nullptr;
}

Result<LaunchChoice> read_choice(const Cloud& cloud, const json::object& launch_config,
                                 const std::string& name, const Knowledge& knowledge,
                                 PoolReport& report) {
  json::object document = launch_config;
  const json::value worker_config = take(document, "workerConfig");
  const json::value worker_manager = take(document, "workerManager");
  const json::value old_capacity = take(document, "capacityPerInstance");
  if (!worker_config.is_null() && !worker_config.is_object())
    return Error::invalid("workerConfig is no table");
  if (!worker_manager.is_null() && !worker_manager.is_object())
    return Error::invalid("workerManager is no table");
  // Read by the cloud's reader: Azure's machines may have public addresses.
  json::object settings = worker_manager.is_object() ? worker_manager.get_object() : json::object();
  if (settings.contains("publicIp")) document["publicIp"] = settings["publicIp"];
  if (!old_capacity.is_null() && !settings.contains("capacityPerInstance"))
    settings["capacityPerInstance"] = old_capacity;

  std::vector<Loss> losses;
  auto choice = cloud.read(std::move(document), knowledge, losses);
  if (!choice) return choice.error();
  choice->name = name;
  if (const auto read = read_worker_manager(settings, *choice, losses); !read) return read.error();
  if (worker_config.is_object()) choice->worker_config = worker_config.get_object();
  if (!is_place_name(choice->region)) return Error::invalid("its region is no name of a region");
  if (!choice->zone.empty() && !is_place_name(choice->zone))
    return Error::invalid("its zone is no name of a zone");
  for (const Loss& loss : losses) report.lose(name, loss.path, loss.reason);
  return choice;
}

}  // namespace muster::importing

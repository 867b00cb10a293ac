// Tries out what launches need, without any effect: `muster provider doctor`.
#pragma once

#include <map>
#include <set>

#include "plugins/cloud/machines/diagnosis_parts.hpp"
#include "plugins/provider/azure/quotas.hpp"

namespace muster::azure {

// The actions of Azure's roles that muster needs; `with_templates`: deployments, too.
std::vector<std::string> needed_actions(bool with_templates);
// Whether the rows of Microsoft.Authorization/permissions allow an action: "*", "*/read".
bool is_allowed(const json::object& permissions, const std::string& action);

// THREADS: one at a time. All references are borrowed.
class Doctor {
 public:
  Doctor(const Settings& settings, Api& api, const Quotas& quotas, const Context& context)
      : settings_(settings), api_(api), quotas_(quotas), context_(context) {}

  // Credentials and the network path, the permissions in each resource group, the clock, prices;
  // images, subnets, sizes and quotas of the launch configurations.
  Diagnosis run(const DiagnoseRequest& request);

 private:
  struct Needed {
    std::map<std::string, std::set<std::string>> images, subnets;  // id or path → locations
    std::map<std::string, std::vector<cloud::Machine>> machines;   // by location
    bool templates = false;
  };

  void collect(const DiagnoseRequest& request);
  bool check_group(const std::string& group);
  void check_permissions(const std::string& group);
  void check_subscription();
  void check_exists(const std::string& subject, const std::string& target, const char* remedy);
  void check_sizes(const std::string& location, const std::vector<cloud::Machine>& machines);

  const Settings& settings_;
  Api& api_;
  const Quotas& quotas_;
  const Context& context_;
  Needed needed_;
  Diagnosis diagnosis_;
};

}  // namespace muster::azure

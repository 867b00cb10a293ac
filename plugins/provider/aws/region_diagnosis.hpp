// What one region needs for launches, tried out.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/diagnosis_parts.hpp"
#include "plugins/provider/aws/api.hpp"
#include "plugins/provider/aws/quotas.hpp"
#include "plugins/provider/aws/section.hpp"

namespace muster::aws {

// THREADS: one at a time. All references are borrowed.
class RegionDiagnosis {
 public:
  RegionDiagnosis(const Owner& owner, std::string region,
                  std::vector<const LaunchConfig*> launch_configs, Api& api,
                  const Context& context);

  std::vector<Diagnosis::Check> run();

 private:
  struct Needed {
    std::set<std::string> images, subnets, groups, types, quotas;
  };

  Result<json::object> ask(const char* action, json::object parameters) const;
  void check_permission(const char* action, json::object parameters);
  void check_permissions();
  void check_termination(const std::string& own);
  void check_launches();
  void check_exist(const char* what, const char* action, const char* parameter, const char* list,
                   const char* id_member, const std::set<std::string>& ids, const char* remedy);
  void check_subnets();
  void check_types();
  void check_quotas();

  const Owner& owner_;
  const std::string region_;
  const std::vector<const LaunchConfig*> launch_configs_;
  Api& api_;
  const Context& context_;
  const Quotas quotas_;
  Needed needed_;
  std::map<std::string, std::set<std::string>> zones_of_subnets_;  // that launch configs expect
  std::vector<Diagnosis::Check> checks_;
};

}  // namespace muster::aws

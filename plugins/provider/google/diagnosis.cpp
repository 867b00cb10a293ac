#include "plugins/provider/google/diagnosis.hpp"

#include <map>
#include <set>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/diagnosis_parts.hpp"
#include "plugins/provider/google/launch_body.hpp"
#include "plugins/provider/google/quotas.hpp"
#include "plugins/provider/google/section.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::for_each_of;
using cloud::table_of;
using cloud::text_of;

// What launches, lists and ends need; the smallest role of docs/clouds/google.md.
constexpr const char* needed_permissions[] = {"compute.disks.create",
                                              "compute.globalOperations.list",
                                              "compute.images.useReadOnly",
                                              "compute.instances.create",
                                              "compute.instances.delete",
                                              "compute.instances.list",
                                              "compute.instances.setLabels",
                                              "compute.instances.setMetadata",
                                              "compute.instances.setServiceAccount",
                                              "compute.regions.get",
                                              "compute.subnetworks.use",
                                              "compute.zoneOperations.list"};
// Given for one service account or network alone, it cannot be seen in the project.
constexpr const char* narrow_permissions[] = {
    "iam.serviceAccounts.actAs", "compute.subnetworks.useExternalIp", "compute.instances.setTags"};

// "projects/p/global/images/family/f", "global/images/i", or a whole URL of either
struct ImageName {
  std::string project, name;
  bool is_family = false;
};
std::optional<ImageName> image_in(const std::string& source) {
  const std::string marker = "global/images/";
  const auto at = source.find(marker);
  if (at == source.npos) return std::nullopt;
  ImageName image{.project = {}, .name = source.substr(at + marker.size())};
  if (image.name.starts_with("family/")) {
    image.is_family = true;
    image.name.erase(0, 7);
  }
  const auto project = source.find("projects/");
  if (project < at)
    image.project = source.substr(project + 9, source.find('/', project + 9) - project - 9);
  if (image.name.empty() || image.name.find('/') != std::string::npos) return std::nullopt;
  return image;
}

class Doctor {
 public:
  Doctor(const DiagnoseRequest& request, const Settings& settings, Api& api, const Context& context)
      : request_(request), settings_(settings), api_(api), context_(context) {}

  Diagnosis run() {
    if (!check_access()) return std::move(diagnosis_);
    if (const auto offset = api_.clock_offset()) add(cloud::check_of_clock(words, *offset));
    collect();
    check_permissions();
    check_regions();
    for (const auto& [type, zones] : types_) check_type(type, zones);
    for (const std::string& image : images_) check_image(image);
    for (const auto& [subnetwork, region] : subnetworks_) check_subnetwork(subnetwork, region);
    check_launches();
    if (request_.launch_configs.empty()) add(cloud::nothing_to_launch(words));
    return std::move(diagnosis_);
  }

 private:
  void add(Diagnosis::Check check) { diagnosis_.checks.push_back(std::move(check)); }
  void add_failure(std::string subject, const Error& error, std::string remedy) {
    add(cloud::failed(words, std::move(subject), error, std::move(remedy)));
  }

  // False: nothing else can be tried.
  bool check_access() {
    const auto project = api_.call({.method = "projects.get"}, context_);
    const bool has_answer = project || (project.error().code != no_answer_code &&
                                        project.error().code != bad_answer_code);
    if (!has_answer) {
      const bool is_token = project.error().message.find("was not sent:") != std::string::npos;
      add_failure(is_token ? "credentials" : "network", project.error(),
                  is_token ? "check `credentials` in the provider's configuration"
                           : "check the network path, `proxy` and `endpoints`; a machine without "
                             "internet access needs Private Google Access");
      return false;
    }
    add(cloud::good("network", "Compute Engine answers"));
    if (project) {
      add(cloud::good("credentials", "accepted for project " + settings_.project));
      return true;
    }
    if (project.error().code == "authError" || project.error().code == "UNAUTHENTICATED") {
      add_failure("credentials", project.error(),
                  "check `credentials` in the provider's configuration");
      return false;
    }
    // The smallest role has no compute.projects.get: another call shows whether they are accepted.
    add(cloud::not_known("project " + settings_.project, project.error().message,
                         "allow compute.projects.get to have the project checked, and check "
                         "`project` of the provider"));
    return true;
  }

  void collect() {
    for (const LaunchConfig& launch_config : request_.launch_configs) {
      const auto machine = cloud::read_machine(words, launch_config);
      if (!machine) continue;
      types_[machine->instance_type].insert(machine->zone);
      for_each_of(*machine->launch, "disks", [&](const json::object& disk) {
        const json::object* fresh = table_of(disk, "initializeParams");
        if (const std::string image = fresh ? text_of(*fresh, "sourceImage") : ""; !image.empty())
          images_.insert(image);
      });
      for_each_of(*machine->launch, "networkInterfaces", [&](const json::object& interface) {
        if (const std::string name = text_of(interface, "subnetwork"); !name.empty())
          subnetworks_.emplace(name, machine->region);
      });
    }
  }

  void check_permissions() {
    json::array asked;
    for (const char* permission : needed_permissions) asked.emplace_back(permission);
    for (const char* permission : narrow_permissions) asked.emplace_back(permission);
    const auto answer = api_.call({.method = "cloudresourcemanager.projects.testIamPermissions",
                                   .body = json::object{{"permissions", std::move(asked)}}},
                                  context_);
    if (!answer) {
      add(cloud::not_known("permissions", answer.error().message,
                           "enable cloudresourcemanager.googleapis.com in the project to have "
                           "permissions checked"));
      return;
    }
    std::set<std::string> held;
    if (const json::value* listed = answer->if_contains("permissions");
        listed && listed->is_array())
      for (const json::value& each : listed->get_array())
        if (each.is_string()) held.emplace(each.get_string());
    for (const char* permission : needed_permissions)
      add(held.contains(permission)
              ? cloud::good(permission, "permitted")
              : cloud::bad(permission,
                           "the credentials lack this permission in project " + settings_.project,
                           std::string("allow ") + permission +
                               "; docs/clouds/google.md has the whole role"));
    for (const char* permission : narrow_permissions)
      add(held.contains(permission)
              ? cloud::good(permission, "permitted in the whole project")
              : cloud::not_known(permission,
                                 "not permitted in the whole project; it may be for the service "
                                 "account or network alone",
                                 std::string("allow ") + permission +
                                     " where launches need it; docs/clouds/google.md says when"));
  }

  // Quotas of all launch configurations, each metric once.
  void check_regions() {
    std::map<std::string, std::map<std::string, std::string>> needed;  // region, metric → type
    for (const LaunchConfig& launch_config : request_.launch_configs) {
      const auto machine = cloud::read_machine(words, launch_config);
      if (!machine) continue;
      const Needs needs = needs_of(*machine);
      auto& metrics = needed[machine->region];
      for (const auto& [metric, amount] : needs.metrics)
        metrics.try_emplace(metric, machine->instance_type);
      if (!needs.family_metric.empty())
        metrics.try_emplace(machine->is_spot() ? "PREEMPTIBLE_CPUS" : needs.family_metric,
                            machine->instance_type);
    }
    for (const std::string& region : settings_.regions) {
      const auto answer = api_.call({.method = "regions.get",
                                     .path = {{"region", region}},
                                     .query = {{"fields", "name,quotas,status"}},
                                     .about = scope_of_region(region)},
                                    context_);
      if (!answer) {
        add_failure(region + ": region", answer.error(),
                    "correct `regions` or `zones` of the provider, or allow compute.regions.get");
        continue;
      }
      add(text_of(*answer, "status") == "DOWN"
              ? cloud::bad(region + ": region", "Google says that it is down",
                           "wait, or leave it out")
              : cloud::good(region + ": region", "it can be used"));
      for_each_of(*answer, "quotas", [&](const json::object& quota) {
        const std::string metric = text_of(quota, "metric");
        if (needed[region].contains(metric)) add(check_of_quota(region, metric, quota));
      });
    }
  }

  static Diagnosis::Check check_of_quota(const std::string& region, const std::string& metric,
                                         const json::object& quota) {
    const auto number = [&](const char* key) {
      const json::value* found = quota.if_contains(key);
      return found && found->is_number() ? found->to_number<double>() : 0;
    };
    const double limit = number("limit"), usage = number("usage");
    const std::string subject = region + ": quota " + metric;
    const std::string text =
        json::write(json::value(usage)) + " of " + json::write(json::value(limit)) + " are used";
    if (usage < limit) return cloud::good(subject, text);
    if (metric == "PREEMPTIBLE_CPUS" && limit == 0)
      return cloud::good(subject, "none: spot machines count with the others");
    return cloud::bad(subject, text,
                      "raise it at https://console.cloud.google.com/iam-admin/quotas");
  }

  void check_type(const std::string& type, const std::set<std::string>& zones) {
    for (const std::string& zone : zones) {
      const std::string subject = zone + ": machine type " + type;
      const auto answer = api_.call({.method = "machineTypes.get",
                                     .path = {{"zone", zone}, {"machineType", type}},
                                     .query = {{"fields", "name,guestCpus,memoryMb"}},
                                     .about = scope_of_zone(zone)},
                                    context_);
      if (answer)
        add(cloud::good(subject,
                        std::to_string(cloud::number_of(*answer, "guestCpus")) + " processors"));
      else if (answer.error().error_class == ErrorClass::auth)
        add(cloud::not_known(subject, answer.error().message,
                             "allow compute.machineTypes.get to have it checked"));
      else
        add_failure(subject, answer.error(),
                    "leave the type out there, by a rule with the condition availabilityZone");
    }
  }

  void check_image(const std::string& source) {
    const std::string subject = "image " + source;
    const auto image = image_in(source);
    if (!image) {
      add(cloud::bad(subject, "it is not the name of an image",
                     "write it like projects/my-project/global/images/family/worker"));
      return;
    }
    Call call{.method = image->is_family ? "images.getFromFamily" : "images.get",
              .path = {{image->is_family ? "family" : "image", image->name}},
              .query = {{"fields", "name,status"}},
              .project = image->project};
    const auto answer = api_.call(call, context_);
    const std::string remedy =
        "correct google.launch.disks, or allow compute.images.useReadOnly in the image's project";
    if (!answer && answer.error().error_class == ErrorClass::auth)
      add(cloud::not_known(subject, answer.error().message,
                           "allow compute.images.get and compute.images.getFromFamily to have it "
                           "checked"));
    else if (!answer)
      add_failure(subject, answer.error(), remedy);
    else if (const std::string status = text_of(*answer, "status"); status != "READY")
      add(cloud::bad(subject, "its status is " + status, remedy));
    else
      add(cloud::good(subject, "is " + text_of(*answer, "name")));
  }

  void check_subnetwork(const std::string& name, const std::string& region) {
    const std::string subject = region + ": subnetwork " + name;
    const std::string in_region = "regions/" + region + "/";
    if (name.find("regions/") != std::string::npos && name.find(in_region) == std::string::npos) {
      add(cloud::bad(subject, "it is in another region than the machines",
                     "set it by a rule with the condition region"));
      return;
    }
    const auto at = name.find("projects/");
    const auto answer = api_.call(
        {.method = "subnetworks.get",
         .path = {{"region", region}, {"subnetwork", last_part(name)}},
         .query = {{"fields", "name,ipCidrRange"}},
         .project = at == std::string::npos ? std::string()
                                            : name.substr(at + 9, name.find('/', at + 9) - at - 9),
         .about = scope_of_region(region)},
        context_);
    if (answer)
      add(cloud::good(subject, text_of(*answer, "ipCidrRange")));
    else if (answer.error().error_class == ErrorClass::auth)
      add(cloud::not_known(subject, answer.error().message,
                           "allow compute.subnetworks.get to have it checked"));
    else
      add_failure(subject, answer.error(), "correct google.launch.networkInterfaces");
  }

  // The documents as they would be sent; Google has no trial of them.
  void check_launches() {
    for (const LaunchConfig& launch_config : request_.launch_configs) {
      const std::string subject = "launch " + launch_config.worker_pool_id.str() + " " +
                                  launch_config.launch_config_id.str() + " (" +
                                  launch_config.instance_type + ")";
      const auto machine = cloud::read_machine(words, launch_config);
      const auto body = machine ? launch_body(*machine,
                                              {.owner = request_.owner,
                                               .launch_config = launch_config,
                                               .idempotency_keys = {}},
                                              settings_)
                                : Result<json::object>(machine.error());
      if (!body)
        add_failure(subject, body.error(), "correct the worker configuration");
      else if (!settings_.uses_zone(machine->zone))
        add(cloud::bad(subject, "zone " + machine->zone + " is not one of the provider's",
                       "wait for the configuration to be read again"));
      else
        add(cloud::good(subject, "in " + machine->zone + " with the service account " +
                                     service_account_of(*body, settings_)));
    }
  }

  const DiagnoseRequest& request_;
  const Settings& settings_;
  Api& api_;
  const Context& context_;
  Diagnosis diagnosis_;
  std::map<std::string, std::set<std::string>> types_;  // their zones
  std::set<std::string> images_;
  std::set<std::pair<std::string, std::string>> subnetworks_;  // and their regions
};

}  // namespace

Diagnosis make_diagnosis(const DiagnoseRequest& request, const Settings& settings, Api& api,
                         const Context& context) {
  return Doctor(request, settings, api, context).run();
}

}  // namespace muster::google

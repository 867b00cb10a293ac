#include "plugins/provider/aws/region_diagnosis.hpp"

#include <algorithm>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/pages.hpp"
#include "plugins/provider/aws/instances.hpp"
#include "plugins/provider/aws/launching.hpp"

namespace muster::aws {
namespace {

// An instance that nobody has: permissions are checked before EC2 looks for it.
const char* const nobody = "i-00000000000000000";
constexpr std::size_t most_dry_runs = 50;

// Permitted, as DryRun says it: EC2 has no other way to say so.
bool is_permitted(const Error& error) {
  return error.code == "DryRunOperation" || error.code == "InvalidInstanceID.NotFound" ||
         error.code == "InvalidID";
}

void collect(std::set<std::string>& into, const json::object& object, const char* key) {
  const json::value* found = object.if_contains(key);
  if (!found || !found->is_array()) return;
  for (const json::value& item : found->get_array())
    if (item.is_string()) into.insert(std::string(item.get_string()));
}

std::string join(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

json::array list_of(const std::set<std::string>& words) {
  json::array list;
  for (const std::string& word : words) list.emplace_back(word);
  return list;
}

}  // namespace

RegionDiagnosis::RegionDiagnosis(const Owner& owner, std::string region,
                                 std::vector<const LaunchConfig*> launch_configs, Api& api,
                                 const Context& context)
    : owner_(owner),
      region_(std::move(region)),
      launch_configs_(std::move(launch_configs)),
      api_(api),
      context_(context) {
  for (const LaunchConfig* launch_config : launch_configs_) {
    const auto machine = read_machine(words, *launch_config);
    if (!machine) continue;
    const json::object& launch = *machine->launch;
    if (const std::string image = text_of(launch, "ImageId"); !image.empty())
      needed_.images.insert(image);
    if (const std::string subnet = text_of(launch, "SubnetId"); !subnet.empty()) {
      needed_.subnets.insert(subnet);
      zones_of_subnets_[subnet].insert(machine->zone);
    }
    collect(needed_.groups, launch, "SecurityGroupIds");
    for_each_of(launch, "NetworkInterfaces", [&](const json::object& interface) {
      if (const std::string subnet = text_of(interface, "SubnetId"); !subnet.empty()) {
        needed_.subnets.insert(subnet);
        zones_of_subnets_[subnet].insert(machine->zone);
      }
      collect(needed_.groups, interface, "Groups");
    });
    needed_.types.insert(machine->instance_type);
    needed_.quotas.insert(quotas_.of(machine->instance_type, machine->is_spot()).code);
  }
  needed_.quotas.erase("");
}

std::vector<Diagnosis::Check> RegionDiagnosis::run() {
  const auto reached = ask("DescribeAvailabilityZones", {});
  if (!reached &&
      (reached.error().code == no_answer_code || reached.error().code == bad_answer_code)) {
    checks_.push_back(failed(words, region_ + ": network", reached.error(),
                             "check the network path, `proxy` and `endpoints`; a machine without "
                             "internet access needs a VPC endpoint for ec2 in this region"));
    return std::move(checks_);
  }
  checks_.push_back(good(region_ + ": network", "ec2 answers"));
  if (!reached)
    checks_.push_back(failed(words, region_ + ": DescribeAvailabilityZones", reached.error(),
                             "allow ec2:DescribeAvailabilityZones, or enable the region for the "
                             "account"));
  check_permissions();
  check_exist("image", "DescribeImages", "ImageIds", "Images", "ImageId", needed_.images,
              "correct aws.launch.ImageId, or share the image with the account");
  check_exist("security group", "DescribeSecurityGroups", "GroupIds", "SecurityGroups", "GroupId",
              needed_.groups, "correct aws.launch.SecurityGroupIds");
  check_subnets();
  check_types();
  check_launches();
  check_quotas();
  return std::move(checks_);
}

Result<json::object> RegionDiagnosis::ask(const char* action, json::object parameters) const {
  return api_.call(
      {.service = "ec2", .region = region_, .action = action, .parameters = std::move(parameters)},
      context_);
}

void RegionDiagnosis::check_permission(const char* action, json::object parameters) {
  parameters["DryRun"] = true;
  const auto answer = ask(action, std::move(parameters));
  const std::string subject = region_ + ": ec2:" + action;
  if (answer || is_permitted(answer.error()))
    checks_.push_back(good(subject, "permitted"));
  else
    checks_.push_back(failed(
        words, subject, answer.error(),
        answer.error().error_class == ErrorClass::auth
            ? std::string("allow ec2:") + action + "; docs/clouds/aws.md has the whole policy"
            : std::string()));
}

void RegionDiagnosis::check_permissions() {
  check_permission("DescribeSpotPriceHistory", {});
  const std::string subject = region_ + ": ec2:DescribeInstances";
  const auto listed = ask("DescribeInstances", {{"Filters", owner_filters(owner_)}});
  if (!listed) {
    checks_.push_back(failed(words, subject, listed.error(), "allow ec2:DescribeInstances"));
    return;
  }
  checks_.push_back(good(subject, "permitted"));
  std::string own;
  for_each_instance(*listed, [&](const json::object& instance, const std::string&) {
    own = text_of(instance, "InstanceId");
  });
  check_termination(own);
}

// A policy may allow it for muster's own machines alone: without one it cannot be tried.
void RegionDiagnosis::check_termination(const std::string& own) {
  if (!own.empty())
    return check_permission("TerminateInstances", {{"InstanceIds", json::array{own}}});
  const auto answer =
      ask("TerminateInstances", {{"InstanceIds", json::array{nobody}}, {"DryRun", true}});
  const std::string subject = region_ + ": ec2:TerminateInstances";
  if (answer || is_permitted(answer.error()))
    checks_.push_back(good(subject, "permitted"));
  else
    checks_.push_back({subject, CheckOutcome::unknown, answer.error().message,
                       "if the policy allows it only for machines with the tag muster-host, try "
                       "again when there is one; else allow ec2:TerminateInstances"});
}

// With exactly what would be launched.
void RegionDiagnosis::check_launches() {
  std::size_t tried = 0;
  std::set<std::string> seen;
  for (const LaunchConfig* launch_config : launch_configs_) {
    const std::string subject = region_ + ": launch " + launch_config->worker_pool_id.str() + " " +
                                launch_config->launch_config_id.str() + " (" +
                                launch_config->instance_type + ")";
    const auto machine = read_machine(words, *launch_config);
    if (!machine) {
      checks_.push_back(
          failed(words, subject, machine.error(), "correct the worker configuration"));
      continue;
    }
    const AllocateRequest request{
        .owner = owner_, .launch_config = *launch_config, .idempotency_keys = {}};
    auto parameters = launch_parameters(*machine, request);
    if (!parameters) {
      checks_.push_back(
          failed(words, subject, parameters.error(), "correct the worker configuration"));
      continue;
    }
    if (!seen.insert(json::write(*parameters)).second) continue;
    if (++tried > most_dry_runs) {
      checks_.push_back(
          {region_ + ": launches",
           CheckOutcome::unknown,
           "only the first " + std::to_string(most_dry_runs) + " launch configurations were tried",
           {}});
      return;
    }
    (*parameters)["MinCount"] = 1;
    (*parameters)["MaxCount"] = 1;
    (*parameters)["TagSpecifications"] =
        tag_specifications(*machine, tag_list(tags_of_launch(request, machine->tags, "doctor:1")));
    (*parameters)["DryRun"] = true;
    const auto answer = ask("RunInstances", std::move(*parameters));
    if (answer || answer.error().code == "DryRunOperation")
      checks_.push_back(good(subject, "EC2 would launch it"));
    else
      checks_.push_back(
          failed(words, subject, quotas_.explain(answer.error(), *machine),
                 answer.error().error_class == ErrorClass::auth
                     ? "allow ec2:RunInstances, ec2:CreateTags at launch and, with an "
                       "instance profile, iam:PassRole; docs/clouds/aws.md has the "
                       "whole policy"
                     : "correct the worker configuration"));
  }
}

void RegionDiagnosis::check_exist(const char* what, const char* action, const char* parameter,
                                  const char* list, const char* id_member,
                                  const std::set<std::string>& ids, const char* remedy) {
  for (const std::string& id : ids) {
    const std::string subject = region_ + ": " + what + " " + id;
    const auto answer = ask(action, {{parameter, json::array{id}}});
    if (!answer) {
      checks_.push_back(failed(words, subject, answer.error(), remedy));
      continue;
    }
    bool found = false;
    std::string state;
    for_each_of(*answer, list, [&](const json::object& entry) {
      found |= text_of(entry, id_member) == id;
      state = text_of(entry, "State");
    });
    if (found && (state.empty() || state == "available"))
      checks_.push_back(good(subject, "exists"));
    else
      checks_.push_back({subject, CheckOutcome::failed,
                         found ? "it is " + state + ", not available" : "EC2 does not know it",
                         remedy});
  }
}

void RegionDiagnosis::check_subnets() {
  for (const std::string& id : needed_.subnets) {
    const std::string subject = region_ + ": subnet " + id;
    const auto answer = ask("DescribeSubnets", {{"SubnetIds", json::array{id}}});
    if (!answer) {
      checks_.push_back(
          failed(words, subject, answer.error(), "correct aws.zones or aws.launch.SubnetId"));
      continue;
    }
    std::string zone;
    std::int64_t free = 0;
    for_each_of(*answer, "Subnets", [&](const json::object& subnet) {
      zone = text_of(subnet, "AvailabilityZone");
      free = number_of(subnet, "AvailableIpAddressCount");
    });
    std::set<std::string> others = zones_of_subnets_[id];
    others.erase(zone);
    if (zone.empty())
      checks_.push_back({subject, CheckOutcome::failed, "EC2 does not know it",
                         "correct aws.zones or aws.launch.SubnetId"});
    else if (!others.empty())
      checks_.push_back(
          {subject, CheckOutcome::failed,
           "it is in " + zone + ", and launch configurations of " + join(others) + " use it",
           "say each zone's own subnet in aws.zones"});
    else if (free == 0)
      checks_.push_back(
          {subject, CheckOutcome::failed, "it has no free address", "use a larger subnet"});
    else
      checks_.push_back(
          good(subject, "in " + zone + ", " + std::to_string(free) + " free addresses"));
  }
}

// A type that a zone does not offer is left out by nobody but a rule.
void RegionDiagnosis::check_types() {
  if (needed_.types.empty()) return;
  std::set<std::pair<std::string, std::string>> offered;
  const auto done = cloud::for_each_page(
      {{"LocationType", "availability-zone"},
       {"Filters", json::array{filter("instance-type", list_of(needed_.types))}}},
      [&](const json::object& parameters) {
        return ask("DescribeInstanceTypeOfferings", parameters);
      },
      [&](const json::object& answer) {
        for_each_of(answer, "InstanceTypeOfferings", [&](const json::object& offering) {
          offered.emplace(text_of(offering, "Location"), text_of(offering, "InstanceType"));
        });
        return Result<void>();
      },
      context_);
  const std::string subject = region_ + ": instance types";
  if (!done) {
    checks_.push_back(
        failed(words, subject, done.error(), "allow ec2:DescribeInstanceTypeOfferings"));
    return;
  }
  std::set<std::string> lacking;
  for (const LaunchConfig* launch_config : launch_configs_)
    if (const auto machine = read_machine(words, *launch_config);
        machine && !offered.contains({machine->zone, machine->instance_type}))
      lacking.insert(machine->instance_type + " in " + machine->zone);
  if (lacking.empty())
    checks_.push_back(good(subject, "each zone offers " + join(needed_.types)));
  else
    checks_.push_back({subject, CheckOutcome::failed, "EC2 does not offer " + join(lacking),
                       "leave the type out there, by a rule with the condition "
                       "availabilityZone"});
}

void RegionDiagnosis::check_quotas() {
  if (needed_.quotas.empty()) return;
  std::map<std::string, std::pair<std::string, double>> values;
  const auto done = cloud::for_each_page(
      {{"ServiceCode", "ec2"}, {"MaxResults", 100}},
      [&](const json::object& parameters) {
        return api_.call({.service = "servicequotas",
                          .region = region_,
                          .action = "ListServiceQuotas",
                          .parameters = parameters},
                         context_);
      },
      [&](const json::object& answer) {
        for_each_of(answer, "Quotas", [&](const json::object& quota) {
          const json::value* value = quota.if_contains("Value");
          if (value && value->is_number())
            values[text_of(quota, "QuotaCode")] = {text_of(quota, "QuotaName"),
                                                   value->to_number<double>()};
        });
        return Result<void>();
      },
      context_);
  if (!done) {
    checks_.push_back({region_ + ": quotas", CheckOutcome::unknown, done.error().message,
                       "allow servicequotas:ListServiceQuotas to see quotas before they are "
                       "reached"});
    return;
  }
  for (const std::string& code : needed_.quotas) {
    const std::string subject = region_ + ": quota " + code;
    const auto found = values.find(code);
    if (found == values.end())
      checks_.push_back({subject, CheckOutcome::unknown, "AWS does not list it",
                         "look it up at " + quota_page(region_, code)});
    else if (found->second.second < 1)
      checks_.push_back({subject, CheckOutcome::failed, found->second.first + ": 0 vCPUs",
                         "raise it at " + quota_page(region_, code)});
    else
      checks_.push_back(good(
          subject, found->second.first + ": " +
                       std::to_string(static_cast<std::int64_t>(found->second.second)) + " vCPUs"));
  }
}

}  // namespace muster::aws

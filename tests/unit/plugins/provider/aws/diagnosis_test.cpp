#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "plugins/cloud/documents.hpp"
#include "plugins/cloud/error_table.hpp"
#include "tests/unit/plugins/provider/aws/fixture.hpp"

namespace muster::aws {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

class AwsDiagnosis : public AwsTest {
 protected:
  Diagnosis diagnose(std::vector<LaunchConfig> launch_configs) {
    const auto diagnosis = provider().diagnose({owner, std::move(launch_configs)}, context);
    EXPECT_TRUE(diagnosis) << diagnosis.error().message;
    return diagnosis.value();
  }
  static const Diagnosis::Check* find(const Diagnosis& diagnosis, const std::string& subject) {
    const auto found = std::ranges::find_if(diagnosis.checks, [&](const Diagnosis::Check& check) {
      return check.subject.starts_with(subject);
    });
    return found == diagnosis.checks.end() ? nullptr : &*found;
  }
};

TEST_F(AwsDiagnosis, tries_each_permission_without_any_effect) {
  const Diagnosis diagnosis = diagnose({launch_config()});
  for (const char* subject :
       {"credentials", "us-east-1: network", "us-east-1: ec2:TerminateInstances",
        "us-east-1: ec2:DescribeInstances", "us-east-1: ec2:DescribeSpotPriceHistory",
        "us-east-1: image ami-00000000000000001", "us-east-1: launch worker-manager/build",
        "eu-west-1: network"}) {
    const Diagnosis::Check* check = find(diagnosis, subject);
    ASSERT_TRUE(check) << subject;
    EXPECT_EQ(check->outcome, CheckOutcome::good) << subject << ": " << check->message;
  }
  EXPECT_TRUE(api->instances().empty());
  for (const Call& call : api->calls())
    if (call.action == "RunInstances" || call.action == "TerminateInstances") {
      EXPECT_TRUE(call.parameters.at("DryRun").as_bool());
    }
}

TEST_F(AwsDiagnosis, says_which_permission_is_missing_and_what_to_do) {
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.action != "TerminateInstances") return std::nullopt;
    return ExampleApi::Fault{
        Error::auth("You are not authorized").with_code("UnauthorizedOperation")};
  };
  const Diagnosis without_machines = diagnose({});
  EXPECT_EQ(find(without_machines, "us-east-1: ec2:TerminateInstances")->outcome,
            CheckOutcome::unknown);
  (void)provider().allocate(request(keys(1, 1)), context);
  const Diagnosis diagnosis = diagnose({});
  const Diagnosis::Check* check = find(diagnosis, "us-east-1: ec2:TerminateInstances");
  ASSERT_TRUE(check);
  EXPECT_EQ(check->outcome, CheckOutcome::failed);
  EXPECT_NE(check->remedy.find("ec2:TerminateInstances"), std::string::npos);
  EXPECT_TRUE(find(diagnosis, "launch configurations"));
}

TEST_F(AwsDiagnosis, a_dead_network_path_is_one_check_and_not_twenty) {
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.region != "eu-west-1") return std::nullopt;
    return ExampleApi::Fault{Error::transient("takes no connections").with_code(no_answer_code)};
  };
  const Diagnosis diagnosis = diagnose({launch_config()});
  const auto about = std::ranges::count_if(diagnosis.checks, [](const Diagnosis::Check& check) {
    return check.subject.starts_with("eu-west-1");
  });
  EXPECT_EQ(about, 1);
  EXPECT_EQ(find(diagnosis, "eu-west-1: network")->outcome, CheckOutcome::failed);
}

TEST_F(AwsDiagnosis, a_subnet_of_another_zone_and_a_missing_image_are_found) {
  const LaunchConfig config =
      launch_config(R"({"launch": {"ImageId": "ami-9", "SubnetId": "subnet-1"},
      "instanceTypes": [{"type": "m5.large"}]})");
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.action != "DescribeImages") return std::nullopt;
    return ExampleApi::Fault{Error::config("The image id '[ami-9]' does not exist")};
  };
  const Diagnosis diagnosis = diagnose({config});
  EXPECT_EQ(find(diagnosis, "us-east-1: image ami-9")->outcome, CheckOutcome::failed);
  EXPECT_EQ(find(diagnosis, "us-east-1: subnet subnet-1")->outcome, CheckOutcome::failed);
}

// All rows of what other systems have learned about AWS's errors.
TEST(AwsErrors, the_table_has_each_known_code_with_its_class_and_scope) {
  const auto table = cloud::ErrorTable::read(documents.read("errors").as_object());
  ASSERT_TRUE(table) << table.error().message;
  struct Row {
    const char* code;
    ErrorClass error_class;
    const char* scope;  // what is held: region, zone, instance type, launch configuration
  };
  const Row rows[] = {{"InsufficientInstanceCapacity", ErrorClass::capacity, "rzt"},
                      {"UnfulfillableCapacity", ErrorClass::capacity, "rzt"},
                      {"InsufficientCapacityOnHost", ErrorClass::capacity, "rzt"},
                      {"VcpuLimitExceeded", ErrorClass::quota, "rt"},
                      {"MaxSpotInstanceCountExceeded", ErrorClass::quota, "rt"},
                      {"MaxFleetCountExceeded", ErrorClass::quota, "rt"},
                      {"MaxSpotFleetRequestCountExceeded", ErrorClass::quota, "rt"},
                      {"ResourceLimitExceeded", ErrorClass::quota, "rt"},
                      {"TargetCapacityLimitExceededException", ErrorClass::quota, "rt"},
                      {"RequestLimitExceeded", ErrorClass::throttle, "r"},
                      {"AuthFailure.ServiceLinkedRoleCreationNotPermitted", ErrorClass::auth, "rt"},
                      {"InsufficientFreeAddressesInSubnet", ErrorClass::capacity, "rzl"},
                      {"InvalidAMIID.NotFound", ErrorClass::config, "rl"},
                      {"InvalidAMIID.Malformed", ErrorClass::config, "rl"},
                      {"InvalidGroup.NotFound", ErrorClass::config, "rl"},
                      {"InvalidSubnetID.NotFound", ErrorClass::config, "rl"},
                      {"UnauthorizedOperation", ErrorClass::auth, "rl"},
                      {"AuthFailure", ErrorClass::auth, "r"},
                      {"ExpiredToken", ErrorClass::auth, ""},
                      {"OptInRequired", ErrorClass::auth, "r"},
                      {"Unsupported", ErrorClass::config, "rzt"},
                      {"InternalError", ErrorClass::transient, "r"},
                      {"IdempotentParameterMismatch", ErrorClass::transient, "l"}};
  for (const Row& row : rows) {
    const Error error =
        table->classify("ec2 RunInstances in us-east-1", {.code = row.code, .status = 400},
                        {"us-east-1", "us-east-1a", "m5.large", "lc-1"});
    EXPECT_EQ(error.error_class, row.error_class) << row.code;
    EXPECT_EQ(error.code, row.code);
    const std::string held =
        std::string(error.scope.region ? "r" : "") + (error.scope.zone ? "z" : "") +
        (error.scope.instance_type ? "t" : "") + (error.scope.launch_config_id ? "l" : "");
    EXPECT_EQ(held, row.scope) << row.code;
  }
}

// The policy of the documentation is the one that the provider's calls need: no more, no less.
TEST(AwsPolicy, the_documented_one_has_exactly_the_actions_that_are_called) {
  const std::filesystem::path source(MUSTER_SOURCE);
  const Model model;
  std::set<std::string> called;
  for (const auto& entry : std::filesystem::directory_iterator(source / "plugins/provider/aws")) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".cpp" || name == "example_api.cpp") continue;
    const std::string text = content(entry.path());
    const std::string services[] = {"ec2", "sqs", "sts", "servicequotas"};
    for (const auto& service : services)
      for (const auto& [action, shapes] : model.service(service)->actions)
        if (text.find("\"" + action + "\"") != std::string::npos)
          called.insert(service + ":" + action);
  }
  const std::string page = content(source / "docs/clouds/aws.md");
  std::set<std::string> allowed;
  for (std::size_t at = page.find("```json"); at != std::string::npos;) {
    const std::size_t begin = at + 7, end = page.find("```", begin);
    const auto policy = json::parse_object(page.substr(begin, end - begin));
    at = page.find("```json", end + 3);
    if (!policy || !policy->contains("Statement")) continue;
    for (const json::value& statement : policy->at("Statement").as_array())
      for (const json::value& action : statement.at("Action").as_array())
        allowed.insert(std::string(action.as_string()));
  }
  called.erase("sts:GetCallerIdentity");  // needs no permission
  called.erase("sts:AssumeRoleWithWebIdentity");
  allowed.erase("ec2:CreateTags");  // RunInstances needs it for its tags
  allowed.erase("iam:PassRole");
  allowed.erase("iam:CreateServiceLinkedRole");
  EXPECT_EQ(allowed, called);
}

}  // namespace
}  // namespace muster::aws

#include "tests/unit/cli/import/fixture.hpp"

namespace muster::importing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string good =
    R"({"region": "us-east-1", "launchConfig": {"ImageId": "ami-1", "InstanceType": "m5.large"}})";

TEST_F(ImportTest, what_is_no_pool_with_launch_configurations_is_refused_with_a_sentence) {
  const auto refused = [&](const std::string& document) {
    EXPECT_FALSE(convert({"proj/build", object(document)})) << document;
    return report.refused;
  };
  EXPECT_THAT(refused(R"({})"), HasSubstr("providerId"));
  EXPECT_THAT(refused(R"({"providerId": "../x"})"), HasSubstr("providerId"));
  EXPECT_THAT(refused(R"({"providerId": "static", "config": {}})"), HasSubstr("static"));
  EXPECT_THAT(refused(R"({"providerId": "a", "config": {"launchConfigs": {}}})"),
              HasSubstr("config.launchConfigs"));
  EXPECT_THAT(refused(R"({"providerId": "a", "config": {"launchConfigs": [7, {"x": 1}]}})"),
              HasSubstr("aws, google and azure"));
  EXPECT_THAT(refused(R"({"providerId": "a", "config": {"launchConfigs": [{"launchConfig": 7}]}})"),
              HasSubstr("none of its launch configurations"));
  EXPECT_THAT(refused(R"({"providerId": "a", "config": {"launchConfigs": [
                          {"region": "../../etc", "launchConfig": {"InstanceType": "m5.large"}}]}})"),
              HasSubstr("none of its launch configurations"));
}

TEST_F(ImportTest, hostile_launch_configurations_are_lost_with_a_sentence) {
  std::string deep = "1";
  for (int i = 0; i < 40; ++i) deep = R"({"a": )" + deep + "}";
  const std::pair<std::string, const char*> hostile[] = {
      {R"("A": "\u001b[2J")", "control characters"},
      {R"("A\u0007": 1)", "plain text"},
      {R"("": 1)", "plain text"},
      {R"("A": 18446744073709551615)", "too large"},
      {R"("A": )" + deep, "nested too deep"},
      {R"("A": ")" + std::string(600'000, 'x') + "\"", "bytes"},
  };
  for (const auto& [member, word] : hostile) {
    converted(
        good +
        R"(, {"region": "us-west-2", "launchConfig": {"ImageId": "ami-1", "InstanceType": "m5.large", )" +
        member + "}}");
    EXPECT_EQ(report.carried, 1u) << member.substr(0, 60);
    EXPECT_THAT(losses(), HasSubstr(word));
  }
}

TEST_F(ImportTest, secrets_and_nulls_are_left_out_and_told_without_their_text) {
  const Converted made = converted(
      R"({"region": "us-east-1", "launchConfig": {"ImageId": "ami-1", "InstanceType": "m5.large", "KeyName": null},
          "workerConfig": {"accessToken": "k3Jd92kdLLsw02kdPq81", "nested": [{"password": "hunter2"}], "port": 80}})");
  EXPECT_THAT(made.text, Not(HasSubstr("k3Jd92kdLLsw02kdPq81")));
  EXPECT_THAT(made.text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(made.text, HasSubstr("port = 80"));
  EXPECT_THAT(losses(), HasSubstr("workerConfig.accessToken|"));
  EXPECT_THAT(losses(), HasSubstr("workerConfig.nested[0].password|"));
  EXPECT_THAT(losses(), HasSubstr("launchConfig.KeyName|TOML has no null"));
  EXPECT_THAT(losses(), Not(HasSubstr("hunter2")));
}

TEST_F(ImportTest, settings_of_the_pool_are_carried) {
  options.providers = {{"cloud", "ec2"}};
  const Converted made = converted(
      good,
      R"("scalingRatio": 0.5, "other": 1, "lifecycle": {"registrationTimeout": 900, "odd": 1},)");
  const json::object settings = evaluated(made, {});
  EXPECT_EQ(settings, object(R"({"providers": ["ec2"], "strategy": "estimator", "minCapacity": 0,
    "maxCapacity": 10, "scalingRatio": 0.5, "owner": "a@example.com", "description": "builds",
    "emailOnError": false, "lifecycle": {"registrationTimeout": 900}})"));
  EXPECT_THAT(losses(), HasSubstr("|config.other|"));
  EXPECT_THAT(losses(), HasSubstr("|config.lifecycle.odd|"));
}

TEST_F(ImportTest, a_description_cannot_leave_its_line) {
  TaskclusterPool pool = pool_with(good);
  pool.document["description"] = "one\n\"]\nworkerTypes = [\"evil\"]\n# two";
  const auto made = convert(pool);
  ASSERT_TRUE(made);
  EXPECT_EQ(evaluated(*made, {}).at("description"), pool.document["description"]);
}

TEST_F(ImportTest, what_a_plugin_refuses_can_be_left_out) {
  Converted made = converted(
      R"({"region": "us-east-1", "launchConfig": {"ImageId": "ami-1", "InstanceType": "m5.large", "Foo": 1,
          "List": [{"good": 1, "bad": 2}]}})");
  EXPECT_TRUE(leave_out(made, "aws.launch.Foo"));
  EXPECT_TRUE(leave_out(made, "rules[1].values.aws.launch.List[0].bad"));
  EXPECT_FALSE(leave_out(made, "aws.launch.Nothing"));
  EXPECT_FALSE(leave_out(made, "aws.launch.List[7].bad"));
  ASSERT_TRUE(write_text(made, report)) << report.refused;
  const json::object document = evaluated(made, {{"region", "us-east-1"}});
  EXPECT_EQ(document.at("aws").at("launch"),
            json::value(object(R"({"ImageId": "ami-1", "List": [{"good": 1}]})")));
}

TEST_F(ImportTest, worker_types_keep_their_names_unless_two_pools_share_one) {
  const auto pool = [](const char* id) { return TaskclusterPool{id, {}}; };
  EXPECT_EQ(worker_types_of({pool("a/build"), pool("B_2/test"), pool("b/test"),
                             pool("0123456789012345678901234567890123456/test")}),
            (std::vector<std::string>{"build", "b-2-test", "b-test",
                                      "p0123456789012345678901234567890123456"}));
}

}  // namespace
}  // namespace muster::importing

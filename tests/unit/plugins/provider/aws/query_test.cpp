#include "plugins/provider/aws/query.hpp"

#include <gtest/gtest.h>

namespace muster::aws {
namespace {

struct Query : ::testing::Test {
  Result<std::string> written(const std::string& service, const std::string& action,
                              const std::string& parameters) {
    return write_body(*model.service(service), action, json::parse_object(parameters).value());
  }
  std::string mistake(const std::string& action, const std::string& parameters) {
    const auto body = written("ec2", action, parameters);
    return body ? "nothing" : body.error().message;
  }
  Result<json::object> read(const std::string& service, const std::string& action,
                            std::string_view body) {
    return read_body(*model.service(service), action, body);
  }
  std::string trouble(const std::string& action, std::string_view body) {
    const auto answer = read("ec2", action, body);
    if (answer) return json::write(json::value(*answer));
    return std::string(to_string(answer.error().error_class)) + ": " + answer.error().message;
  }

  const Model model;
};

TEST_F(Query, what_the_model_does_not_know_is_refused_with_its_path) {
  const std::string base = R"("MinCount": 1, "MaxCount": 1)";
  EXPECT_EQ(mistake("RunInstances", R"({"MinCount": 1})"), "MaxCount: is missing");
  EXPECT_EQ(mistake("RunInstances", "{" + base + R"(, "ImageID": "ami-1"})"),
            "ImageID: AWS has no such parameter; did you mean ImageId?");
  EXPECT_EQ(mistake("RunInstances",
                    "{" + base + R"(, "BlockDeviceMappings": [{"Ebs": {"VolumeSize": "8"}}]})"),
            "BlockDeviceMappings[0].Ebs.VolumeSize: is a string and must be an integer");
  EXPECT_EQ(mistake("RunInstances", "{" + base + R"(, "SecurityGroupIds": "sg-1"})"),
            "SecurityGroupIds: is a string and must be a list");
  EXPECT_EQ(mistake("RunInstances", "{" + base + R"(, "EbsOptimized": 1})"),
            "EbsOptimized: is an integer and must be a boolean");
  EXPECT_EQ(mistake("RunInstances", "{" + base + R"(, "Placement": null})"),
            "Placement: is null and must be a table");
  EXPECT_EQ(mistake("RunInstances", R"({"MinCount": 1, "MaxCount": 1.5})"),
            "MaxCount: is a number and must be an integer");
  EXPECT_EQ(mistake("LaunchRockets", "{}"), "the model of ec2 has no LaunchRockets");
}

TEST_F(Query, ec2_forms_have_its_names_and_numbers) {
  EXPECT_EQ(*written("ec2", "RunInstances", R"({
      "MinCount": 1, "MaxCount": 3, "ImageId": "ami-1", "SecurityGroupIds": ["sg-1", "sg-2"],
      "EbsOptimized": true, "UserData": "a+b/c=", "IamInstanceProfile": {"Name": "x y"},
      "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 8}}],
      "TagSpecifications": [{"ResourceType": "instance", "Tags": [{"Key": "ä", "Value": ""}]}]})"),
            "Action=RunInstances&Version=2016-11-15&MinCount=1&MaxCount=3&ImageId=ami-1"
            "&SecurityGroupId.1=sg-1&SecurityGroupId.2=sg-2&EbsOptimized=true&UserData=a%2Bb%2Fc%3D"
            "&IamInstanceProfile.Name=x%20y&BlockDeviceMapping.1.DeviceName=%2Fdev%2Fsda1"
            "&BlockDeviceMapping.1.Ebs.VolumeSize=8&TagSpecification.1.ResourceType=instance"
            "&TagSpecification.1.Tag.1.Key=%C3%A4&TagSpecification.1.Tag.1.Value=");
}

TEST_F(Query, other_protocols_have_theirs) {
  EXPECT_EQ(*written("sts", "AssumeRole", R"({"RoleArn": "arn:x", "RoleSessionName": "m",
                     "TransitiveTagKeys": ["a", "b"]})"),
            "Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Ax&RoleSessionName=m"
            "&TransitiveTagKeys.member.1=a&TransitiveTagKeys.member.2=b");
  EXPECT_EQ(*written("sqs", "ReceiveMessage", R"({"QueueUrl": "u", "MaxNumberOfMessages": 10})"),
            R"({"QueueUrl":"u","MaxNumberOfMessages":10})");
  EXPECT_EQ(written("sqs", "ReceiveMessage", R"({"QueueURl": "u"})").error().message,
            "QueueURl: AWS has no such parameter; did you mean QueueUrl?");
}

TEST_F(Query, answers_have_awss_spelling_and_types) {
  const auto answer = read("ec2", "DescribeInstances", R"(<?xml version="1.0" encoding="UTF-8"?>
<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
  <requestId>r-1</requestId><news>later</news>
  <reservationSet><item><reservationId>res-1</reservationId><instancesSet><item>
    <instanceId>i-1</instanceId><amiLaunchIndex>2</amiLaunchIndex><ebsOptimized>true</ebsOptimized>
    <instanceState><code>16</code><name>running</name></instanceState>
    <launchTime>2026-01-01T00:00:00.000Z</launchTime>
    <tagSet><item><key>a &amp; b</key><value/></item></tagSet><groupSet/>
  </item></instancesSet></item></reservationSet><nextToken>t</nextToken>
</DescribeInstancesResponse>)");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->at("NextToken"), "t");
  const json::object& instance = answer->at("Reservations").at(0).at("Instances").at(0).as_object();
  EXPECT_EQ(instance.at("InstanceId"), "i-1");
  EXPECT_EQ(instance.at("AmiLaunchIndex"), 2);
  EXPECT_EQ(instance.at("EbsOptimized"), true);
  EXPECT_EQ(instance.at("State").at("Name"), "running");
  EXPECT_EQ(instance.at("LaunchTime"), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(json::write(instance.at("Tags")), R"([{"Key":"a & b","Value":""}])");
  EXPECT_TRUE(instance.at("SecurityGroups").as_array().empty());
  EXPECT_TRUE(instance.at("BlockDeviceMappings").as_array().empty());  // absent is empty
  EXPECT_FALSE(instance.contains("ImageId"));
  EXPECT_FALSE(answer->contains("news"));
}

TEST_F(Query, an_answer_without_content_and_one_with_a_wrapper_are_read) {
  EXPECT_EQ(trouble("CreateTags", "<CreateTagsResponse><return>true</return></CreateTagsResponse>"),
            "{}");
  const auto who = read("sts", "GetCallerIdentity",
                        "<GetCallerIdentityResponse><GetCallerIdentityResult><Account>1</Account>"
                        "</GetCallerIdentityResult></GetCallerIdentityResponse>");
  ASSERT_TRUE(who) << who.error().message;
  EXPECT_EQ(who->at("Account"), "1");
  EXPECT_EQ(json::write(*read("sqs", "ReceiveMessage", "{}")), R"({"Messages":[]})");
}

TEST_F(Query, what_is_no_answer_of_aws_is_a_passing_trouble_with_a_clear_sentence) {
  EXPECT_EQ(trouble("DescribeRegions", ""), "transient: sent nothing instead of XML");
  EXPECT_EQ(trouble("DescribeRegions", "<DescribeRegionsResponse><regionInfo><item>"),
            "transient: sent XML that ends in the middle or is broken after 42 of 43 bytes");
  EXPECT_EQ(trouble("DescribeRegions",
                    "<!DOCTYPE html>\n<html><head><title>Log\n in</title><body>x<br></html>"),
            "transient: sent a web page (title: Log in) instead of XML");
  EXPECT_EQ(trouble("DescribeRegions", "<html><body>x</body></html>"),
            "transient: sent a web page instead of XML");
  EXPECT_EQ(trouble("DescribeRegions", "hello"),
            "transient: sent something else (hello) instead of XML");
  EXPECT_EQ(trouble("DescribeRegions", "<RunInstancesResponse/>"),
            "transient: sent <RunInstancesResponse> instead of <DescribeRegionsResponse>");
  EXPECT_EQ(trouble("RunInstances",
                    "<RunInstancesResponse><instancesSet><item><amiLaunchIndex>x</amiLaunchIndex>"
                    "</item></instancesSet></RunInstancesResponse>"),
            "transient: sent XML whose <amiLaunchIndex> is \"x\"");
  EXPECT_EQ(read("sqs", "ReceiveMessage", "<html>").error().message,
            "sent a web page instead of JSON");
  // An entity that grows, as attackers send it, is not expanded.
  EXPECT_NE(trouble("DescribeRegions",
                    "<!DOCTYPE a [<!ENTITY b \"cccc\">]><DescribeRegionsResponse><regionInfo><item>"
                    "<regionName>&b;</regionName></item></regionInfo></DescribeRegionsResponse>")
                .find("&b;"),
            std::string::npos);
}

TEST_F(Query, errors_are_read_in_all_forms) {
  const Service& ec2 = *model.service("ec2");
  const auto of_ec2 = read_error(ec2, 400, R"(<?xml version="1.0"?><Response><Errors><Error>
      <Code>VcpuLimitExceeded</Code><Message>You have
      requested more</Message></Error></Errors><RequestID>r-1</RequestID></Response>)");
  EXPECT_EQ(of_ec2.code, "VcpuLimitExceeded");
  EXPECT_EQ(of_ec2.message, "You have requested more");
  EXPECT_EQ(of_ec2.request_id, "r-1");
  const auto of_sts =
      read_error(*model.service("sts"), 403,
                 "<ErrorResponse><Error><Type>Sender</Type><Code>ExpiredToken</Code>"
                 "</Error><RequestId>r-2</RequestId></ErrorResponse>");
  EXPECT_EQ(of_sts.code + of_sts.request_id, "ExpiredTokenr-2");
  const auto of_sqs = read_error(*model.service("sqs"), 400,
                                 R"({"__type": "com.amazonaws.sqs#QueueDoesNotExist",
                                     "message": "no queue"})");
  EXPECT_EQ(of_sqs.code + " " + of_sqs.message, "QueueDoesNotExist no queue");
  EXPECT_EQ(read_error(ec2, 502, "<html>Bad gateway</html>").code, "");
  EXPECT_EQ(read_error(ec2, 502, "").code, "");
}

TEST_F(Query, forms_and_xml_have_no_shape_that_cannot_be_written_or_read) {
  for (const char* name : {"ec2", "sts"})
    for (const auto& [action, shapes] : model.service(name)->actions)
      for (const Shape* shape : {shapes.input, shapes.output}) {
        if (!shape) continue;
        for (const Member& member : shape->members)
          EXPECT_NE(member.shape->type, Shape::Type::map) << action << " " << member.name;
      }
}

TEST_F(Query, the_schema_refuses_what_aws_would_refuse) {
  const json::object schema = schema_of(*model.service("ec2")->action("RunInstances")->input);
  const json::object& properties = schema.at("properties").as_object();
  EXPECT_EQ(json::write(schema.at("required")), R"(["MaxCount","MinCount"])");
  EXPECT_EQ(schema.at("additionalProperties"), false);
  EXPECT_EQ(json::write(properties.at("InstanceInitiatedShutdownBehavior").at("enum")),
            R"(["stop","terminate"])");
  EXPECT_FALSE(properties.at("InstanceType").as_object().contains("enum"));  // grows all the time
  EXPECT_EQ(properties.at("SecurityGroupIds").at("items").at("type"), "string");
}

}  // namespace
}  // namespace muster::aws

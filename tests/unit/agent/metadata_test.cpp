#include "agent/metadata.hpp"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scripted_server.hpp"

namespace muster::agent {
namespace {

using muster::testing::ScriptedServer;
using ::testing::HasSubstr;

Result<CloudIdentity> ask(IdentityKind kind, const ScriptedServer& server,
                          const Place& known = {}) {
  EventLoop loop;
  HttpClient http(loop, "");
  std::optional<Result<CloudIdentity>> result;
  ask_cloud(kind, http, server.url(), known, [&](Result<CloudIdentity> found) {
    result = std::move(found);
    loop.stop();
  });
  loop.run();
  return *result;
}

std::string target_of(const std::string& request) {
  const auto begin = request.find(' ') + 1;
  return request.substr(begin, request.find(' ', begin) - begin);
}

using Pages = std::map<std::string, std::string>;

// Answers only who has the header.
ScriptedServer::Answer pages(Pages content, const std::string& header) {
  return [=](const std::string& request) {
    const auto found = content.find(target_of(request));
    if (request.find(header) == std::string::npos)
      return ScriptedServer::with_status("403 Forbidden", "no header");
    return found == content.end() ? ScriptedServer::with_status("404 Not Found", "")
                                  : ScriptedServer::ok(found->second);
  };
}

const std::string names =
    R"({"rootUrl": "https://m.example/", "workerPoolId": "a/b", "providerId": "p", "workerGroup": "g"})";

TEST(AwsIdentity, shows_the_signed_document_to_the_byte) {
  const std::string document = "{\n  \"instanceId\" : \"i-1\"\n}";
  const auto service = pages({{"/latest/dynamic/instance-identity/document", document},
                              {"/latest/dynamic/instance-identity/signature", "abc\ndef"},
                              {"/latest/dynamic/instance-identity/rsa2048", "ghi\njkl"},
                              {"/latest/user-data", names}},
                             "X-aws-ec2-metadata-token: secret-token\r\n");
  const ScriptedServer server([&](const std::string& request) {
    if (request.starts_with("PUT /latest/api/token ")) return ScriptedServer::ok("secret-token\n");
    return service(request);
  });
  const auto identity = ask(IdentityKind::aws, server);
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->proof.at("document").as_string(), document.c_str());
  EXPECT_EQ(identity->proof.at("signature").as_string(), "abc\ndef");
  EXPECT_EQ(identity->proof.at("rsa2048").as_string(), "ghi\njkl");
  EXPECT_EQ(identity->place.worker_id, "i-1");
  EXPECT_EQ(identity->place.root_url, "https://m.example");
  EXPECT_EQ(identity->place.worker_pool_id, "a/b");
}

TEST(AwsIdentity, fails_without_a_token_and_on_what_is_not_json) {
  const ScriptedServer no_token(
      [](const std::string&) { return ScriptedServer::with_status("403 Forbidden", ""); });
  EXPECT_THAT(ask(IdentityKind::aws, no_token).error().message, HasSubstr("no token"));
  const ScriptedServer no_json([](const std::string&) { return ScriptedServer::ok("x"); });
  EXPECT_THAT(ask(IdentityKind::aws, no_json).error().message, HasSubstr("not JSON"));
}

// A metadata service of AWS with these pages.
ScriptedServer::Answer aws_service(std::map<std::string, std::string> content) {
  return [service = pages(std::move(content), "X-aws-ec2-metadata-token: t\r\n")](
             const std::string& request) {
    return request.starts_with("PUT ") ? ScriptedServer::ok("t") : service(request);
  };
}

TEST(AwsIdentity, needs_a_signature_of_either_kind) {
  const std::string at = "/latest/dynamic/instance-identity/";
  const ScriptedServer neither(
      aws_service({{at + "document", R"({"instanceId": "i-1"})"}, {"/latest/user-data", names}}));
  EXPECT_THAT(ask(IdentityKind::aws, neither).error().message, HasSubstr("no signature"));
  const ScriptedServer one(aws_service({{at + "document", R"({"instanceId": "i-1"})"},
                                        {at + "rsa2048", "abc"},
                                        {"/latest/user-data", names}}));
  const auto identity = ask(IdentityKind::aws, one);
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_FALSE(identity->proof.contains("signature"));
}

TEST(AwsIdentity, needs_user_data_only_for_names_that_the_configuration_does_not_have) {
  const std::string at = "/latest/dynamic/instance-identity/";
  const Place all{"https://m.example", "a/b", "p", "g", ""};
  const std::map<std::string, std::string> none{{at + "document", R"({"instanceId": "i-1"})"},
                                                {at + "rsa2048", "abc"}};
  const ScriptedServer without(aws_service(none));
  EXPECT_THAT(ask(IdentityKind::aws, without).error().message, HasSubstr("user data is not JSON"));
  EXPECT_TRUE(ask(IdentityKind::aws, without, all));
  auto script = none;
  script["/latest/user-data"] = "#!/bin/sh\n";
  const ScriptedServer with_script(aws_service(script));
  EXPECT_TRUE(ask(IdentityKind::aws, with_script, all));
  EXPECT_FALSE(ask(IdentityKind::aws, with_script, {.root_url = "https://m.example"}));
}

TEST(GoogleIdentity, asks_for_a_token_for_this_host) {
  const ScriptedServer server(pages({{"/computeMetadata/v1/instance/attributes/taskcluster", names},
                                     {"/computeMetadata/v1/instance/id", "123\n"},
                                     {"/computeMetadata/v1/instance/service-accounts/default/"
                                      "identity?audience=https%3A%2F%2Fm.example&format=full",
                                      "x.y.z"}},
                                    "Metadata-Flavor: Google\r\n"));
  const auto identity = ask(IdentityKind::google, server);
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->proof.at("token").as_string(), "x.y.z");
  EXPECT_EQ(identity->place.worker_id, "123");
  // The configuration's address counts more than the attribute's.
  EXPECT_THAT(ask(IdentityKind::google, server, {.root_url = "https://other"}).error().message,
              HasSubstr("404"));
}

const std::string compute = R"({"name": "vm-1", "tagsList": [
    {"name": "root-url", "value": "https://m.example"}, {"name": "worker-pool-id", "value": "a/b"}, 7,
    {"name": "provider-id", "value": "p"}, {"name": "worker-group", "value": "g"}]})";

TEST(AzureIdentity, shows_the_attested_document_and_reads_tags) {
  const ScriptedServer server(pages({{"/metadata/instance/compute?api-version=2021-02-01", compute},
                                     {"/metadata/attested/document?api-version=2021-02-01",
                                      R"({"encoding": "pkcs7", "signature": "MII"})"}},
                                    "Metadata: true\r\n"));
  const auto identity = ask(IdentityKind::azure, server);
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->proof.at("document").as_string(), "MII");
  EXPECT_EQ(identity->place.worker_id, "vm-1");
  EXPECT_EQ(identity->place.worker_group, "g");
}

TEST(AzureIdentity, says_which_name_nobody_told) {
  const ScriptedServer server(
      pages({{"/metadata/instance/compute?api-version=2021-02-01", R"({"name": "vm-1"})"},
             {"/metadata/attested/document?api-version=2021-02-01",
              R"({"encoding": "pkcs7", "signature": "MII"})"}},
            "Metadata: true\r\n"));
  EXPECT_THAT(ask(IdentityKind::azure, server).error().message, HasSubstr("workerGroup"));
  const Place all{"https://m.example", "a/b", "p", "g", ""};
  EXPECT_TRUE(ask(IdentityKind::azure, server, all));
}

}  // namespace
}  // namespace muster::agent

#include "plugins/provider/aws/signing.hpp"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "lib/base/letter_case.hpp"
#include "plugins/provider/aws/credentials.hpp"

namespace muster::aws {
namespace {

json::array vectors() {
  std::ifstream file(MUSTER_SOURCE "/tests/unit/plugins/provider/aws/sigv4_vectors.json");
  std::stringstream text;
  text << file.rdbuf();
  return json::parse_object(text.str()).value().at("vectors").as_array();
}

std::string text(const json::object& row, const char* key) {
  const json::value* const found = row.if_contains(key);
  return found ? std::string(found->as_string()) : std::string();
}

Signature sign_vector(const json::object& row) {
  RequestToSign request{
      text(row, "method"), text(row, "path"), text(row, "query"), {}, text(row, "body")};
  for (const json::value& header : row.at("headers").as_array())
    request.headers.push_back(
        {std::string(header.at(0).as_string()), std::string(header.at(1).as_string())});
  return sign(request,
              {"AKIDEXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
               Secret(text(row, "token"))},
              {.region = "us-east-1",
               .service = "service",
               .normalize_path = row.at("normalize").as_bool(),
               .add_body_hash = row.at("bodyHash").as_bool()},
              *parse_time("2015-08-30T12:36:00Z"));
}

TEST(Signing, all_vectors_of_aws_have_the_same_texts_and_signature) {
  const json::array rows = vectors();
  EXPECT_EQ(rows.size(), 38U);
  for (const json::value& value : rows) {
    const json::object& row = value.as_object();
    const Signature signature = sign_vector(row);
    EXPECT_EQ(signature.canonical_request, text(row, "canonicalRequest")) << text(row, "name");
    EXPECT_EQ(signature.string_to_sign, text(row, "stringToSign")) << text(row, "name");
    EXPECT_EQ(signature.signature, text(row, "signature")) << text(row, "name");
  }
}

const Credentials keys{"AKIDEXAMPLE", Secret("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
                       Secret("a/session+token==")};

std::string header(const std::vector<http_client::Header>& headers, const std::string& name) {
  for (const auto& candidate : headers)
    if (to_lower(candidate.name) == to_lower(name)) return candidate.value;
  return {};
}

// Whichever implementation signs: AWS checks the text that our own signer makes.
TEST(Signing, a_request_of_ours_is_signed_with_host_type_date_and_token) {
  const http_client::Request request{
      .url = "http://127.0.0.1:4566/eu-west-1/",
      .method = "POST",
      .headers = {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
      .body = "Action=DescribeRegions&Version=2016-11-15&Filter.1.Value.1=a%20b%2Fc"};
  const Time time = *parse_time("2026-01-01T00:00:00Z");
  const auto headers = sign_request(request, keys, {"eu-west-1", "ec2"}, time);
  ASSERT_TRUE(headers) << headers.error().message;
  const std::string authorization = header(*headers, "Authorization");
  EXPECT_EQ(header(*headers, "X-Amz-Security-Token"), "a/session+token==");
  EXPECT_EQ(header(*headers, "X-Amz-Date"), "20260101T000000Z");
  RequestToSign signed_by_hand{
      .method = "POST", .path = "/eu-west-1/", .query = "", .headers = {}, .body = *request.body};
  for (const auto& each : *headers)
    if (authorization.find(to_lower(each.name)) != std::string::npos)
      signed_by_hand.headers.push_back(each);
  if (header(signed_by_hand.headers, "Host").empty())
    signed_by_hand.headers.push_back({"Host", "127.0.0.1:4566"});
  EXPECT_EQ(header(sign(signed_by_hand, keys, {"eu-west-1", "ec2"}, time).headers, "Authorization"),
            authorization);
  for (const char* name : {"content-type", "host", "x-amz-date", "x-amz-security-token"})
    EXPECT_NE(authorization.find(name), std::string::npos) << name;
}

TEST(Signing, another_byte_time_region_or_key_is_another_signature) {
  const RequestToSign request{"POST", "/", "", {{"Host", "h"}}, "a=1"};
  const Time time = *parse_time("2026-01-01T00:00:00Z");
  const std::string signature = sign(request, keys, {"us-east-1", "ec2"}, time).signature;
  RequestToSign changed = request;
  changed.body = "a=2";
  EXPECT_NE(sign(changed, keys, {"us-east-1", "ec2"}, time).signature, signature);
  EXPECT_NE(sign(request, keys, {"us-east-2", "ec2"}, time).signature, signature);
  EXPECT_NE(sign(request, keys, {"us-east-1", "sts"}, time).signature, signature);
  EXPECT_NE(sign(request, keys, {"us-east-1", "ec2"}, time + std::chrono::seconds(1)).signature,
            signature);
  EXPECT_NE(sign(request, {"AKIDEXAMPLE", Secret("other")}, {"us-east-1", "ec2"}, time).signature,
            signature);
}

TEST(Signing, a_url_that_is_none_is_refused) {
  EXPECT_EQ(
      sign_request({.url = "ftp://x/"}, keys, {"us-east-1", "ec2"}, Time{}).error().error_class,
      ErrorClass::invalid);
}

}  // namespace
}  // namespace muster::aws

// The same requests, the same clock: what Taskcluster's auth service said is what we say.
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "host/auth/authority.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/fake_clock.hpp"

namespace muster::auth {
namespace {

std::vector<std::string> texts(const json::value& list) {
  std::vector<std::string> all;
  for (const json::value& item : list.as_array()) all.emplace_back(item.as_string());
  return all;
}

http::Request request_of(const json::object& from) {
  http::Request request;
  const std::string ask(from.at("ask").as_string());
  request.method = ask.substr(0, ask.find(' '));
  const std::string target = ask.substr(ask.find(' ') + 1);
  request.path = target.substr(0, target.find('?'));
  request.has_query = true;
  request.query = target.substr(target.find('?') + 1);
  request.secure = from.at("port").as_int64() == 443;
  request.peer = "192.0.2.7:4711";
  request.headers.push_back({"Host", std::string(from.at("at").as_string())});
  if (const auto* header = from.if_contains("with"))
    request.headers.push_back({"Authorization", std::string(header->as_string())});
  if (const auto* type = from.if_contains("type")) {
    request.headers.push_back({"Content-Type", std::string(type->as_string())});
    request.body = from.at("body").as_string();
  }
  return request;
}

TEST(JudgedTest, every_request_is_judged_as_by_taskcluster) {
  const auto text = read_file(MUSTER_JUDGED, 1 << 20);
  ASSERT_TRUE(text);
  const json::object document = json::parse_object(*text).value();
  const FakeClock clock(Time(std::chrono::milliseconds(document.at("now").as_int64())));
  Authority authority(clock);
  Client tester{"tester", ClientKind::hawk, {}, texts(document.at("mayDo"))};
  tester.keys.push_back({Secret(std::string(document.at("key").as_string()))});
  tester.expires = parse_time("2055-07-24T00:00:00.000Z");
  authority.put(tester);
  std::size_t judged = 0;
  for (int round = 0; round < 2; ++round)  // the second one finds certificates in the cache
    for (const json::value& item : document.at("requests").as_array()) {
      const json::object& expected = item.as_object();
      SCOPED_TRACE(expected.at("what").as_string().c_str());
      const auto caller = authority.authenticate(request_of(expected));
      ++judged;
      if (const auto* refused = expected.if_contains("refused")) {
        ASSERT_FALSE(caller);
        EXPECT_EQ(caller.error().error_class, ErrorClass::auth);
        EXPECT_EQ(caller.error().message, std::string(refused->as_string()));
        continue;
      }
      ASSERT_TRUE(caller) << caller.error().message;
      const auto* id = expected.if_contains("clientId");
      EXPECT_EQ((*caller)->client_id, id ? std::string(id->as_string()) : "");
      EXPECT_EQ((*caller)->scopes.list(), texts(expected.at("scopes")));
      const std::string expires = format_time((*caller)->expires);
      EXPECT_EQ(id ? std::string(expected.at("expires").as_string()) : expires, expires);
    }
  EXPECT_EQ(judged, 30u);
}

}  // namespace
}  // namespace muster::auth

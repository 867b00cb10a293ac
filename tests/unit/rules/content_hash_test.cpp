#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include <muster/rules/content_hash.hpp>

namespace muster::rules {
namespace {

json::object object(std::string_view text) {
  return json::parse_object(text).value();
}

std::string id_of(std::string_view document, std::string_view pool = "worker-manager/build",
                  std::string_view provider = "ec2",
                  std::string_view placement = R"({"region":"us-east-1"})") {
  return launch_config_id(pool, provider, object(placement), object(document));
}

// The same text hashed by another program:
// printf '%s'
// '{"document":{"aws":{"ImageId":"ami-1"}},"placement":{"region":"us-east-1"},"pool":"worker-manager/build","provider":"ec2"}'
// | sha256sum
TEST(ContentHash, is_the_beginning_of_sha256_over_canonical_json) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(id_of(R"({"aws":{"ImageId":"ami-1"}})"), "lc-3bc7d2b77c0105199960");
}

TEST(ContentHash, every_part_that_a_worker_is_started_from_counts) {
  const std::string base = id_of(R"({"aws":{"a":1}})");
  EXPECT_NE(id_of(R"({"aws":{"a":2}})"), base);
  EXPECT_NE(id_of(R"({"aws":{"a":1}})", "worker-manager/other"), base);
  EXPECT_NE(id_of(R"({"aws":{"a":1}})", "worker-manager/build", "ec3"), base);
  EXPECT_NE(id_of(R"({"aws":{"a":1}})", "worker-manager/build", "ec2", R"({"region":"eu"})"), base);
}

TEST(ContentHash, what_muster_and_the_worker_read_does_not_count) {
  const std::string base = id_of(R"({"aws":{"a":1}})");
  EXPECT_EQ(id_of(R"({"workerManager":{"maxCapacity":3},"aws":{"a":1},"workerConfig":{"x":1}})"),
            base);
  EXPECT_NE(id_of(R"({"aws":{"a":1,"workerConfig":{}}})"), base);
}

json::value shuffled(const json::value& value, std::mt19937& random) {
  if (const auto* array = value.if_array()) {
    json::array result;
    for (const auto& item : *array) result.push_back(shuffled(item, random));
    return result;
  }
  const auto* members = value.if_object();
  if (!members) return value;
  std::vector<std::pair<std::string, json::value>> sorted;
  for (const auto& [key, member] : *members) sorted.emplace_back(key, shuffled(member, random));
  std::shuffle(sorted.begin(), sorted.end(), random);
  json::object result;
  for (auto& [key, member] : sorted) result.emplace(key, std::move(member));
  return result;
}

json::value random_value(std::mt19937& random, int depth) {
  switch (random() % (depth > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random()) - (1LL << 31);
    case 3:
      return static_cast<double>(random()) / 7.0;
    case 4:
      return json::string(std::string("é\n\"") + static_cast<char>('a' + random() % 26));
    case 5: {
      json::array array;
      for (auto n = random() % 4; n > 0; --n) array.push_back(random_value(random, depth - 1));
      return array;
    }
    default: {
      json::object result;
      for (auto n = random() % 5; n > 0; --n)
        result[std::string(1 + random() % 3, static_cast<char>('a' + random() % 26))] =
            random_value(random, depth - 1);
      return result;
    }
  }
}

TEST(ContentHash, is_stable_under_the_order_of_keys) {
  std::mt19937 random(3);
  for (int i = 0; i < 1'000; ++i) {
    json::object document = {
        {"aws", random_value(random, 4)}, {"b", random_value(random, 3)}, {"c", 1}};
    const json::object placement = {{"region", "r"}, {"availabilityZone", "z"}};
    const std::string id = launch_config_id("p", "q", placement, document);
    ASSERT_EQ(launch_config_id("p", "q", shuffled(placement, random),
                               shuffled(document, random).as_object()),
              id);
    document["c"] = 2;
    ASSERT_NE(launch_config_id("p", "q", placement, document), id);
  }
}

}  // namespace
}  // namespace muster::rules

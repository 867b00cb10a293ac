#include <gtest/gtest.h>

#include <muster/bidding_strategy.hpp>
#include <muster/codec.hpp>
#include <muster/provider.hpp>

namespace muster {
namespace {

using namespace std::chrono_literals;

template <class T>
std::string mistake_in(std::string_view text) {
  const auto decoded = decode<T>(text);
  return decoded ? "accepted" : decoded.error().message;
}

TEST(Codec, says_where_a_document_is_wrong) {
  EXPECT_EQ(mistake_in<Bids>("[]"), "expected an object, got an array");
  EXPECT_EQ(mistake_in<Bids>("{}"), "bids: is missing");
  EXPECT_EQ(
      mistake_in<Bids>(R"({"bids":[{"launchConfigId":"a","capacityPerInstance":1,"instances":1,
                                "pricePerCapacityHour":"cheap"}]})"),
      "bids[0].pricePerCapacityHour: expected a number, got a string");
  EXPECT_EQ(mistake_in<Bids>(R"({"bids":[{"launchConfigId":"a","capacityPerInstance":1.5}]})"),
            "bids[0].capacityPerInstance: expected a whole number, got the number 1.5");
  EXPECT_EQ(mistake_in<Size>(R"({"capacity":1e300,"reason":""})"),
            "capacity: expected a whole number, got the number 1e+300");
  EXPECT_EQ(mistake_in<Size>(R"({"capacity":18446744073709551615,"reason":""})"),
            "capacity: expected a whole number, got the number 18446744073709551615");
  EXPECT_EQ(mistake_in<Placements>(R"({"placements":[{"facts":{"region":1}}]})"),
            "placements[0].facts.region: expected a string, got the number 1");
  EXPECT_EQ(mistake_in<Interruption>(R"({"at":"tomorrow"})"),
            "at: \"tomorrow\" is not a time like 2026-01-02T03:04:05Z");
  EXPECT_EQ(mistake_in<Launch>(R"({"idempotencyKey":"k","error":{"class":"odd","message":""}})"),
            "error: \"odd\" is not a class of errors");
  EXPECT_EQ(
      mistake_in<SelectRequest>(R"({"workerPoolId":"a/b","capacity":1,"settings":{"maxCapacity":1},
                                         "offers":[],"seed":-1})"),
      "seed: expected a whole number from 0, got the number -1");
}

TEST(Codec, an_unknown_word_names_the_known_ones) {
  EXPECT_EQ(mistake_in<Instance>(
                R"({"workerGroup":"g","workerId":"w","workerPoolId":"p/q","launchConfigId":"l",
                                    "idempotencyKey":"k","state":"dead","created":"2026-01-02T03:04:05Z"})"),
            "state: \"dead\" is none of pending, running, stopping, stopped");
}

TEST(Codec, fields_of_newer_senders_are_ignored) {
  const auto size = decode<Size>(R"({"capacity":5.0,"reason":"why","colour":"green"})");
  ASSERT_TRUE(size);
  EXPECT_EQ(size->capacity, 5);
}

TEST(Codec, what_was_written_reads_back) {
  Instance instance{.worker_group = WorkerGroup("eu-1"),
                    .worker_id = WorkerId("i-1"),
                    .worker_pool_id = WorkerPoolId("worker-manager/build"),
                    .launch_config_id = LaunchConfigId("lc-1"),
                    .idempotency_key = IdempotencyKey("key"),
                    .state = InstanceState::stopping,
                    .capacity = 4,
                    .epoch = 9,
                    .created = *parse_time("2026-02-28T23:59:59.25+01:30"),
                    .interruption = Interruption{Time(1500ms), "spot"},
                    .provider_data = {{"v", 1}},
                    .tags = {{"a", "b"}}};
  EXPECT_EQ(
      encode(instance),
      R"({"workerGroup":"eu-1","workerId":"i-1","workerPoolId":"worker-manager/build","launchConfigId":"lc-1",)"
      R"("idempotencyKey":"key","state":"stopping","capacity":4,"epoch":9,"created":"2026-02-28T22:29:59.250Z",)"
      R"("interruption":{"at":"1970-01-01T00:00:01.500Z","reason":"spot"},"providerData":{"v":1},"tags":{"a":"b"}})");
  const auto read = decode<Instance>(encode(instance));
  ASSERT_TRUE(read);
  EXPECT_EQ(encode(*read), encode(instance));
}

TEST(Codec, an_absent_optional_is_not_written_and_null_is_absent) {
  EXPECT_EQ(encode(Launch{IdempotencyKey("k")}), R"({"idempotencyKey":"k"})");
  const auto launch = decode<Launch>(R"({"idempotencyKey":"k","error":null})");
  ASSERT_TRUE(launch);
  EXPECT_FALSE(launch->error);
}

TEST(Codec, refuses_times_that_do_not_exist) {
  for (const char* bad : {"", "2026-02-30T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:00",
                          "2026-1-01T00:00:00Z", "2026-01-01T00:00:00.Z",
                          "2026-01-01T00:00:00+1:00", "2026-01-01T00:00:00Z "})
    EXPECT_FALSE(parse_time(bad)) << bad;
}

TEST(Failure, keeps_class_scope_hold_and_code) {
  const Error error = Error::capacity("no m5.large in zone a")
                          .in_zone("a")
                          .of_instance_type("m5.large")
                          .hold_for(3min)
                          .with_code("InsufficientInstanceCapacity");
  EXPECT_EQ(decode_failure(MUSTER_CAPACITY, encode_failure(error)), error);
}

TEST(Failure, plain_text_is_the_message_and_the_status_decides_the_class) {
  EXPECT_EQ(decode_failure(MUSTER_AUTH, "key expired"), Error::auth("key expired"));
  EXPECT_EQ(decode_failure(MUSTER_AUTH, "{broken"), Error::auth("{broken"));
  EXPECT_EQ(decode_failure(MUSTER_QUOTA, R"({"class":"auth","message":"m"})"), Error::quota("m"));
  EXPECT_EQ(decode_failure(99, "odd"), Error::internal("unknown status 99: odd"));
}

}  // namespace
}  // namespace muster

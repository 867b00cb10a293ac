#include <future>
#include <thread>

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "plugins/cloud/error_table.hpp"
#include "plugins/cloud/pages.hpp"
#include "plugins/cloud/redaction.hpp"
#include "plugins/cloud/refreshed_value.hpp"

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;
using testing::FakeContext;

// -------------------------------------------------------------------------------------------------
// What ends and is fetched anew

struct Refreshed : ::testing::Test {
  using Cache = RefreshedValue<std::string>;

  Cache make_cache() {
    return Cache([this](const Context& call) -> Result<Cache::Fetched> {
      ++fetches;
      if (failing) return Error::transient("no network");
      return Cache::Fetched{"token " + std::to_string(fetches), call.now() + life};
    });
  }
  std::string get(Cache& cache) {
    const auto value = cache.get(context);
    return value ? **value : value.error().message;
  }

  FakeContext context;
  std::chrono::milliseconds life = 1h;
  std::atomic<int> fetches = 0;
  bool failing = false;
};

TEST_F(Refreshed, a_value_is_fetched_once_and_again_before_its_end) {
  Cache cache = make_cache();
  EXPECT_EQ(get(cache), "token 1");
  context.advance(54min);
  EXPECT_EQ(get(cache), "token 1");
  context.advance(1min);
  EXPECT_EQ(get(cache), "token 2");
}

TEST_F(Refreshed, the_old_value_serves_while_a_refresh_fails_and_it_is_valid) {
  Cache cache = make_cache();
  get(cache);
  failing = true;
  context.advance(56min);
  EXPECT_EQ(get(cache), "token 1");
  EXPECT_EQ(get(cache), "token 1");
  EXPECT_EQ(fetches, 2);  // not for each call
  context.advance(11s);
  get(cache);
  EXPECT_EQ(fetches, 3);
  ASSERT_EQ(context.log_lines().size(), 1u) << "one warning, not one for each try";
  EXPECT_EQ(context.log_lines()[0].text,
            "the token could not be renewed and is used until its end: no network");
  context.advance(5min);
  EXPECT_EQ(get(cache), "no network");
  failing = false;
  EXPECT_EQ(get(cache), "token 5");
}

TEST_F(Refreshed, a_short_life_is_used_to_its_middle) {
  life = 2min;
  Cache cache = make_cache();
  get(cache);
  context.advance(59s);
  EXPECT_EQ(get(cache), "token 1");
  context.advance(1s);
  EXPECT_EQ(get(cache), "token 2");
}

TEST_F(Refreshed, what_has_ended_already_is_an_error) {
  life = -1s;
  Cache cache = make_cache();
  EXPECT_EQ(get(cache), "what was fetched has already ended");
}

TEST_F(Refreshed, a_refused_value_is_not_given_out_again) {
  Cache cache = make_cache();
  const auto first = cache.get(context);
  cache.discard(*first);
  EXPECT_EQ(get(cache), "token 2");
  cache.discard(*first);  // late: another call has a new one already
  EXPECT_EQ(get(cache), "token 2");
  EXPECT_EQ(**first, "token 1");
}

TEST_F(Refreshed, many_callers_make_one_fetch) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future();
  Cache cache([&](const Context&) -> Result<Cache::Fetched> {
    ++fetches;
    released.wait();
    return Cache::Fetched{"token", std::nullopt};
  });
  std::vector<std::future<std::string>> callers;
  for (int i = 0; i < 8; ++i)
    callers.push_back(std::async(std::launch::async, [&] { return get(cache); }));
  while (fetches == 0) std::this_thread::yield();
  release.set_value();
  for (auto& caller : callers) EXPECT_EQ(caller.get(), "token");
  EXPECT_EQ(fetches, 1);
}

TEST_F(Refreshed, those_who_wait_for_a_fetch_that_fails_share_its_failure) {
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future();
  std::atomic<int> waiting = 0;
  Cache cache([&](const Context&) -> Result<Cache::Fetched> {
    ++fetches;
    released.wait();
    return Error::transient("no network");
  });
  // Looked at by get() before it waits.
  struct CountingContext final : Context {
    explicit CountingContext(std::atomic<int>& count) : looks(count) {}
    bool cancelled() const noexcept override { return ++looks, false; }
    std::chrono::milliseconds time_left() const noexcept override { return 30s; }
    Time now() const noexcept override { return {}; }
    void log(LogLevel, std::string_view) const noexcept override {}
    std::atomic<int>& looks;
  } const counting(waiting);
  auto first = std::async(std::launch::async, [&] { return get(cache); });
  while (fetches == 0) std::this_thread::yield();
  auto second = std::async(std::launch::async, [&] { return cache.get(counting).error().message; });
  while (waiting == 0) std::this_thread::yield();
  release.set_value();
  EXPECT_EQ(first.get(), "no network");
  EXPECT_EQ(second.get(), "no network");
  EXPECT_EQ(fetches, 1);
}

TEST_F(Refreshed, a_caller_that_waits_can_be_cancelled) {
  std::promise<void> release;
  Cache cache([&](const Context&) -> Result<Cache::Fetched> {
    ++fetches;
    release.get_future().wait();
    return Cache::Fetched{"token", std::nullopt};
  });
  auto first = std::async(std::launch::async, [&] { return get(cache); });
  while (fetches == 0) std::this_thread::yield();
  FakeContext other;
  other.cancel();
  EXPECT_EQ(cache.get(other).error().error_class, ErrorClass::cancelled);
  release.set_value();
  EXPECT_EQ(first.get(), "token");
}

// -------------------------------------------------------------------------------------------------
// Errors as data

Result<ErrorTable> table_of(const std::string& rows) {
  return ErrorTable::read(json::parse_object("{\"rows\": [" + rows + "]}").value());
}

TEST(ErrorTable, rows_that_are_wrong_are_named) {
  EXPECT_EQ(table_of(R"({"codes": [], "class": "auth"})").error().message,
            "rows[0].codes: is empty");
  EXPECT_EQ(table_of(R"({"codes": ["A"], "class": "bad luck"})").error().message,
            "rows[0].class: \"bad luck\" is no class of errors");
  EXPECT_EQ(table_of(R"({"codes": ["A"], "class": "auth", "scope": ["moon"]})").error().message,
            "rows[0].scope: \"moon\" is no part of a scope");
  EXPECT_EQ(table_of(R"({"codes": ["A"], "class": "auth"}, {"codes": ["A"], "class": "quota"})")
                .error()
                .message,
            "rows[1].codes: \"A\" is there twice");
}

const ErrorScope everywhere{"us-east-1", "us-east-1a", "m5.large", "lc-1"};

TEST(ErrorTable, a_row_gives_class_scope_hold_and_advice) {
  const auto table = table_of(R"({"codes": ["NoRoom"], "class": "capacity", "scope": ["zone"],
                                  "holdSeconds": 180, "advice": "Take another zone."},
                                 {"codes": ["Invalid.*"], "class": "config"},
                                 {"codes": ["Invalid.Key.*"], "class": "auth"})");
  ASSERT_TRUE(table) << table.error().message;
  const Error error =
      table->classify("ec2 RunInstances", {"NoRoom", "full", 500, "r-1"}, everywhere);
  EXPECT_EQ(error,
            Error::capacity("ec2 RunInstances: NoRoom: full; Take another zone. (request r-1)")
                .in_zone("us-east-1a")
                .hold_for(180s)
                .with_code("NoRoom"));
  EXPECT_EQ(table->classify("x", {"Invalid.Thing"}, {}).error_class, ErrorClass::config);
  EXPECT_EQ(table->classify("x", {"Invalid.Key.Old"}, {}).error_class, ErrorClass::auth);
}

TEST(ErrorTable, an_unknown_code_holds_the_narrowest_scope_and_is_named) {
  const auto table = table_of("");
  const Error error = table->classify("ec2 X", {"NewCode", "hm", 400}, everywhere);
  EXPECT_EQ(error.scope, everywhere);
  EXPECT_EQ(error.hold, 180s);
  EXPECT_EQ(error.error_class, ErrorClass::config);
  EXPECT_EQ(error.message, "ec2 X: NewCode: hm; muster does not know the code NewCode");
  EXPECT_EQ(table->classify("x", {"N", "", 403}, {}).error_class, ErrorClass::auth);
  EXPECT_EQ(table->classify("x", {"N", "", 429}, {}).error_class, ErrorClass::throttle);
  EXPECT_EQ(table->classify("x", {"N", "", 503}, {}).error_class, ErrorClass::transient);
}

// -------------------------------------------------------------------------------------------------
// Secrets

TEST(Redaction, known_secrets_leave_a_text_also_when_they_are_encoded) {
  Redactor redactor;
  redactor.add("short");
  redactor.add("se/cret+key");
  redactor.add("se/cret+key+longer");
  EXPECT_EQ(redactor.redact("a se/cret+key b se%2Fcret%2Bkey+ short se/cret+key+longer"),
            "a [redacted] b [redacted]+ short [redacted]");
}

TEST(Redaction, the_newest_secrets_are_known) {
  Redactor redactor;
  for (int i = 0; i < 1000; ++i) redactor.add("secret-number-" + std::to_string(1000 + i));
  EXPECT_EQ(redactor.redact("secret-number-1999"), "[redacted]");
}

TEST(Redaction, words_of_a_server_are_printable_and_short) {
  EXPECT_EQ(printable(" a\r\n\tb\x01\x7f"
                      "c "),
            "a b c");
  EXPECT_EQ(printable("abcdef", 3), "abc...");
  EXPECT_EQ(printable("ab\xc3\xa4"
                      "c",
                      3),
            "ab...");
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\xef\xbf\xbd"
            "b");
}

// -------------------------------------------------------------------------------------------------
// Pages

struct Pages : ::testing::Test {
  Result<void> collect(std::vector<std::string> tokens) {
    return for_each_page(
        {{"MaxResults", 2}},
        [&](const json::object& parameters) -> Result<json::object> {
          asked.push_back(json::write(json::value(parameters)));
          if (asked.size() > tokens.size()) return json::object();
          return json::object{{"NextToken", tokens[asked.size() - 1]}};
        },
        [&](const json::object&) -> Result<void> {
          ++taken;
          return {};
        },
        context, {.most_pages = 5});
  }
  FakeContext context;
  std::vector<std::string> asked;
  int taken = 0;
};

TEST_F(Pages, all_pages_are_asked_for_with_their_token) {
  EXPECT_TRUE(collect({"a", "b"}));
  EXPECT_EQ(asked,
            (std::vector<std::string>{R"({"MaxResults":2})", R"({"MaxResults":2,"NextToken":"a"})",
                                      R"({"MaxResults":2,"NextToken":"b"})"}));
  EXPECT_EQ(taken, 3);
}

TEST_F(Pages, an_empty_token_ends_the_list) {
  EXPECT_TRUE(collect({""}));
  EXPECT_EQ(taken, 1);
}

TEST_F(Pages, half_a_list_is_no_list) {
  EXPECT_EQ(collect({"a", "a"}).error().error_class, ErrorClass::transient);
  EXPECT_EQ(collect({"a", "b", "c", "d", "e", "f", "g", "h", "i"}).error().message,
            "a list has more than 5 pages; it is not used");
  context.cancel();
  asked.clear();
  EXPECT_EQ(collect({"a"}).error().error_class, ErrorClass::cancelled);
}

}  // namespace
}  // namespace muster::cloud

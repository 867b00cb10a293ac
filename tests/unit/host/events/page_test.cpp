#include "host/events/page.hpp"

#include "tests/unit/host/events/events_fixture.hpp"

namespace muster::events {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(EventQueryTest, what_nobody_understands_is_refused_by_name) {
  for (const auto& [query, word] :
       std::vector<std::pair<std::string, std::string>>{{"after=x", "after"},
                                                        {"after=-1", "after"},
                                                        {"after=", "after"},
                                                        {"after=99999999999999999999", "after"},
                                                        {"limit=0", "limit"},
                                                        {"limit=1001", "limit"},
                                                        {"kind=", "kind"},
                                                        {"kind=worker*running", "kind"},
                                                        {"kind=%22", "kind"},
                                                        {"workerPoolId=", "workerPoolId"},
                                                        {"pool=a", "pool"},
                                                        {"after=1&last=2", "exclude"},
                                                        {"workerPoolId=%2", "%-escape"}}) {
    const auto parsed = parse_event_query(query, {});
    ASSERT_FALSE(parsed) << query;
    EXPECT_THAT(parsed.error().message, HasSubstr(word));
  }
  EXPECT_FALSE(parse_event_query("", "seven"));
}

TEST(EventQueryTest, all_parameters_are_read) {
  const auto query = parse_event_query(
      "after=7&limit=20&kind=worker-*&kind=hold-began&workerPoolId=proj%2Fbuild&providerId=ec2-us&"
      "launchConfigId=lc-1&workerId=i-1",
      {});
  ASSERT_TRUE(query);
  EXPECT_EQ(query->after, 7);
  EXPECT_EQ(query->limit, 20);
  EXPECT_EQ(query->filter,
            (Filter{{"worker-*", "hold-began"}, "proj/build", "ec2-us", "lc-1", "i-1"}));
}

TEST(EventQueryTest, the_header_is_stronger_than_the_address) {
  EXPECT_EQ(parse_event_query("after=7", "12")->after, 12);
  const auto query = parse_event_query("last=7", "12");
  EXPECT_EQ(query->after, 12);
  EXPECT_FALSE(query->last);
  EXPECT_EQ(parse_event_query("after=7", "")->after, 7);
}

TEST(FilterTest, every_field_and_one_kind_must_fit) {
  const Event event = an_event(1, "worker-running", "proj/build");
  EXPECT_TRUE(Filter{}.passes(event));
  EXPECT_TRUE((Filter{.kinds = {"hold-began", "worker-*"}}.passes(event)));
  EXPECT_FALSE((Filter{.kinds = {"worker"}}.passes(event)));
  EXPECT_FALSE((Filter{.kinds = {"worker-*"}, .worker_pool_id = "proj/test"}.passes(event)));
  EXPECT_TRUE((Filter{.worker_pool_id = "proj/build", .worker_id = "i-1"}.passes(event)));
  EXPECT_FALSE((Filter{.provider_id = "gce"}.passes(event)));
  EXPECT_FALSE((Filter{.launch_config_id = "lc-2"}.passes(event)));
}

class PageTest : public EventsTest {
 protected:
  json::object page(const std::string& query) {
    const auto parsed = parse_event_query(query, {});
    EXPECT_TRUE(parsed);
    const auto made = event_page(*log, *parsed, parsed->start(log->newest(), 0));
    EXPECT_TRUE(made);
    if (made->gone) return {{"gone", *made->gone}};
    return *json::parse_object(made->body);
  }
  static std::vector<std::int64_t> numbers(const json::object& page) {
    std::vector<std::int64_t> all;
    for (const json::value& event : page.at("events").as_array())
      all.push_back(event.at("number").to_number<std::int64_t>());
    return all;
  }
};

TEST_F(PageTest, pages_follow_each_other_without_gap_through_store_and_memory) {
  happen(1, 900);
  make_log(300);
  std::vector<std::int64_t> all;
  std::int64_t after = 0;
  for (bool more = true; more;) {
    const json::object one = page("limit=70&after=" + std::to_string(after));
    for (const std::int64_t number : numbers(one)) all.push_back(number);
    after = one.at("next").to_number<std::int64_t>();
    more = one.at("more").as_bool();
  }
  EXPECT_EQ(all, range(1, 900));
}

TEST_F(PageTest, a_page_of_large_events_is_bounded_and_the_next_one_goes_on) {
  for (std::int64_t number = 1; number <= 12; ++number) {
    Event large = an_event(number);
    large.text = std::string(1 << 20, 'x');
    happen({large});
  }
  make_log();
  EXPECT_EQ(numbers(page("after=0&limit=1000")), range(1, 4));
  EXPECT_EQ(numbers(page("after=4&limit=1000")), range(5, 8));
  EXPECT_TRUE(page("after=4&limit=1000").at("more").as_bool());
}

TEST_F(PageTest, what_is_gone_is_said_and_where_to_go_on) {
  happen(1, 600);
  erase_up_to(100);
  make_log(256);
  EXPECT_EQ(page("after=20").at("gone"), json::value(100));
  EXPECT_EQ(numbers(page("after=100&limit=2")), range(101, 102));
  EXPECT_EQ(numbers(page("after=0&limit=2")), range(101, 102));  // from the oldest that there is
  EXPECT_EQ(numbers(page("last=1000&limit=2")), range(101, 102));
}

TEST_F(PageTest, a_page_ends_before_a_gap) {
  make_log();
  happen({an_event(1)});
  happen({an_event(5)});
  const json::object first = page("after=0");
  EXPECT_EQ(numbers(first), range(1, 1));
  EXPECT_EQ(first.at("next"), json::value(1));
  EXPECT_EQ(first.at("more"), json::value(true));
  EXPECT_EQ(page("after=1").at("gone"), json::value(4));
}

TEST_F(PageTest, a_filter_that_passes_little_ends_a_page_and_goes_on) {
  make_log();
  for (int i = 0; i < 210; ++i) {
    std::vector<Event> some;
    for (int j = 1; j <= 100; ++j) some.push_back(an_event(i * 100 + j));
    happen(std::move(some));
  }
  happen({an_event(21'001, "hold-began")});
  const json::object first = page("after=0&kind=hold-*");
  EXPECT_TRUE(numbers(first).empty());
  EXPECT_EQ(first.at("more"), json::value(true));
  const json::object second =
      page("kind=hold-*&after=" + std::to_string(first.at("next").to_number<std::int64_t>()));
  EXPECT_THAT(numbers(second), ElementsAre(21'001));
  EXPECT_EQ(second.at("more"), json::value(false));
}

TEST_F(PageTest, the_last_ones_are_the_newest) {
  make_log();
  happen(1, 50);
  EXPECT_EQ(numbers(page("last=3")), range(48, 50));
  EXPECT_TRUE(numbers(page("last=0")).empty());
}

}  // namespace
}  // namespace muster::events

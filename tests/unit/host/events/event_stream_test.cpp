#include "host/events/event_stream.hpp"

#include <thread>

#include "lib/http/worker_threads.hpp"
#include "tests/unit/host/events/events_fixture.hpp"

namespace muster::events {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class EventStreamTest : public EventsTest {
 protected:
  std::unique_ptr<EventStream> listen(const std::string& query = "",
                                      std::optional<std::string_view> header = {}) {
    const auto parsed = parse_event_query(query, header);
    EXPECT_TRUE(parsed);
    return std::make_unique<EventStream>(StreamParts{log.get(), &readers, &clock, &listeners},
                                         parsed->filter,
                                         parsed->start(log->newest(), log->newest()));
  }
  std::string pull(EventStream& stream) {
    std::string out;
    EXPECT_EQ(stream.pull(out), http::Stream::More::yes);
    return out;
  }
  // Until it has said that; the store is read on another thread.
  std::string pull_until(EventStream& stream, const std::string& text) {
    std::string out;
    for (int i = 0; i < 30'000 && out.find(text) == std::string::npos; ++i) {
      clock.advance(50ms);
      stream.pull(out);
      std::this_thread::sleep_for(1ms);
    }
    EXPECT_THAT(out, HasSubstr(text));
    return out;
  }
  static std::vector<std::int64_t> ids(const std::string& text) {
    std::vector<std::int64_t> all;
    for (auto at = text.find("id: "); at != std::string::npos; at = text.find("\nid: ", at + 1))
      all.push_back(std::stoll(text.substr(text.find(' ', at) + 1)));
    return all;
  }

  std::atomic<std::int64_t> listeners = 0;
  http::WorkerThreads readers{1, 100, {}};
};

TEST_F(EventStreamTest, a_new_listener_hears_what_is_new) {
  make_log();
  happen(1, 3);
  const auto stream = listen();
  EXPECT_EQ(pull(*stream), "");
  happen(4, 5);
  EXPECT_EQ(ids(pull(*stream)), range(4, 5));
  EXPECT_EQ(pull(*stream), "");
}

TEST_F(EventStreamTest, one_who_comes_back_hears_what_was_missed) {
  make_log();
  happen(1, 9);
  EXPECT_EQ(ids(pull(*listen("", "6"))), range(7, 9));
  EXPECT_EQ(ids(pull(*listen("after=7"))), range(8, 9));
  EXPECT_EQ(ids(pull(*listen("last=2"))), range(8, 9));
}

TEST_F(EventStreamTest, old_events_come_from_the_store_and_the_rest_follows) {
  happen(1, 900);
  make_log(300);
  const auto stream = listen("after=0");
  EXPECT_EQ(pull(*stream), "");  // being read
  std::string all = pull_until(*stream, "id: 900\n");
  happen(901, 910);
  all += pull_until(*stream, "id: 910\n");
  EXPECT_EQ(ids(all), range(1, 910));
  EXPECT_THAT(all, ::testing::Not(HasSubstr("reset")));
}

TEST_F(EventStreamTest, one_who_was_away_too_long_is_told_so) {
  happen(1, 600);
  erase_up_to(100);
  make_log(256);
  const auto stream = listen("", "20");
  const std::string all = pull_until(*stream, "id: 600\n");
  EXPECT_THAT(
      all, StartsWith("id: 100\nevent: reset\ndata: {\"after\":100,\"newest\":600}\n\nid: 101\n"));
}

TEST_F(EventStreamTest, one_who_asks_for_the_oldest_is_not_told_of_what_was_before) {
  happen(1, 600);
  erase_up_to(100);
  make_log(256);
  const auto stream = listen("after=0");
  EXPECT_EQ(ids(pull_until(*stream, "id: 600\n")), range(101, 600));
}

TEST_F(EventStreamTest, one_from_another_life_of_the_host_begins_anew) {
  make_log();
  happen(1, 3);
  const std::string all = pull(*listen("", "5000"));
  EXPECT_THAT(all, StartsWith("id: 0\nevent: reset\ndata: {\"after\":0,\"newest\":3}\n\nid: 1\n"));
  EXPECT_EQ(ids(all), range(0, 3));
}

TEST_F(EventStreamTest, a_filter_passes_what_fits_and_keeps_its_place) {
  make_log();
  const auto stream = listen("kind=hold-*");
  happen({an_event(1), an_event(2, "hold-began"), an_event(3)});
  EXPECT_EQ(ids(pull(*stream)), range(2, 2));
  clock.advance(15s);
  EXPECT_EQ(pull(*stream), ": keep-alive\nid: 3\n\n");
  clock.advance(14s);
  EXPECT_EQ(pull(*stream), "");
  clock.advance(1s);
  EXPECT_EQ(pull(*stream), ": keep-alive\nid: 3\n\n");
}

TEST_F(EventStreamTest, events_that_follow_closely_come_together) {
  make_log();
  const auto stream = listen();
  happen(1, 1);
  EXPECT_EQ(ids(pull(*stream)), range(1, 1));
  happen(2, 3);
  EXPECT_EQ(pull(*stream), "");
  clock.advance(50ms);
  EXPECT_EQ(ids(pull(*stream)), range(2, 3));
}

TEST_F(EventStreamTest, a_backlog_comes_in_pieces_without_waiting) {
  make_log();
  happen(1, 2'000);
  const auto stream = listen("after=0");
  std::vector<std::int64_t> all;
  for (int i = 0; i < 100 && all.size() < 2'000; ++i) {
    const std::string piece = pull(*stream);
    EXPECT_LT(piece.size(), 128u << 10);
    const std::vector<std::int64_t> some = ids(piece);
    all.insert(all.end(), some.begin(), some.end());
  }
  EXPECT_EQ(all, range(1, 2'000));
}

TEST_F(EventStreamTest, a_store_that_fails_is_asked_again) {
  class Failing final : public store::Store {
   public:
    explicit Failing(const store::Store& real) : real_(real) {}
    Result<void> commit(const store::Batch&) override { return {}; }
    Result<void> scan(const store::Scan& scan, const store::RowSink& sink) const override {
      if (fails) return Error::internal("damaged");
      return real_.scan(scan, sink);
    }
    Result<void> backup(const std::string&) const override { return {}; }
    std::atomic<bool> fails = false;

   private:
    const store::Store& real_;
  } failing(store);
  happen(1, 900);
  log = std::make_unique<EventLog>(failing, 300);
  ASSERT_TRUE(log->load());
  failing.fails = true;
  const auto stream = listen("after=0");
  pull_until(*stream, "keep-alive");
  failing.fails = false;
  EXPECT_THAT(pull_until(*stream, "id: 900\n"), HasSubstr("id: 1\n"));
}

TEST_F(EventStreamTest, listeners_are_counted) {
  make_log();
  auto one = listen();
  const auto other = listen();
  EXPECT_EQ(listeners, 2);
  one.reset();
  EXPECT_EQ(listeners, 1);
}

}  // namespace
}  // namespace muster::events

#include "host/events/amqp_publisher.hpp"

#include <random>
#include <set>

#include "tests/unit/host/events/events_fixture.hpp"

namespace muster::events {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A broker without a network: keeps what it was sent, in order, and does what a test says.
struct Broker {
  std::vector<std::string> declared;
  std::vector<AmqpMessage> taken;
  std::vector<Confirm> to_confirm;  // what the publisher has not been told yet
  std::string blocked;
  bool up = true, confirms_at_once = true;
  std::function<bool(const AmqpMessage&)> refuses = [](const auto&) { return false; };
  std::function<bool()> breaks = [] { return false; };  // asked before and after each message
  int opened = 0;

  std::vector<std::int64_t> numbers(const std::string& pool = "") const {
    std::vector<std::int64_t> all;
    for (const AmqpMessage& message : taken)
      if (pool.empty() || message.body.find("\"" + pool + "\"") != std::string::npos)
        all.push_back(std::stoll(message.id));
    return all;
  }
};

class FakeLink final : public AmqpLink {
 public:
  explicit FakeLink(Broker& broker) : broker_(broker) {}

  Result<void> open(const std::vector<std::string>& exchanges) override {
    broker_.to_confirm.clear();
    if (!broker_.up) return Error::transient("cannot connect");
    broker_.declared = exchanges;
    ++broker_.opened;
    sent_ = 0;
    open_ = true;
    return {};
  }
  void close() override { open_ = false; }
  Result<void> publish(const AmqpMessage& message) override {
    EXPECT_TRUE(open_);
    EXPECT_TRUE(broker_.blocked.empty());
    if (!broker_.up || broker_.breaks()) return Error::transient("broken");
    ++sent_;
    const bool refused = broker_.refuses(message);
    if (!refused) broker_.taken.push_back(message);
    broker_.to_confirm.push_back({sent_, false, !refused});
    if (broker_.breaks()) return Error::transient("broken");
    return {};
  }
  Result<std::vector<Confirm>> receive() override {
    EXPECT_TRUE(open_);
    if (!broker_.up) return Error::transient("broken");
    if (!broker_.confirms_at_once) return std::vector<Confirm>();
    return std::exchange(broker_.to_confirm, {});
  }
  std::string blocked() const override { return broker_.blocked; }
  int descriptor() const override { return -1; }
  void interrupt() override {}

 private:
  Broker& broker_;
  std::uint64_t sent_ = 0;
  bool open_ = false;
};

class AmqpPublisherTest : public EventsTest {
 protected:
  void start() {
    waiting.clear();
    const auto positions = deliveries.positions();
    const auto found = positions->find("amqp");
    publisher =
        std::make_unique<AmqpPublisher>(AmqpPublisher::Parts{settings,
                                                             log.get(),
                                                             &deliveries,
                                                             &clock,
                                                             std::make_unique<FakeLink>(broker),
                                                             [] { return 1.0; },
                                                             [] {},
                                                             {}},
                                        found == positions->end() ? 0 : found->second);
  }
  SteadyTime run(int steps = 20) {
    SteadyTime next;
    for (int i = 0; i < steps; ++i) {
      next = publisher->step();
      auto durable = std::exchange(waiting, {});
      for (const auto& tell : durable) tell();
    }
    return next;
  }
  std::int64_t saved() { return (*deliveries.positions())["amqp"]; }

  Broker broker;
  config::AmqpSettings settings{.url = "amqp://broker"};
  std::vector<std::function<void()>> waiting;
  DeliveryStore deliveries{store, clock, [this](store::Batch batch, std::function<void()> durable) {
                             EXPECT_TRUE(store.commit(batch));
                             waiting.push_back(std::move(durable));
                             return true;
                           }};
  std::unique_ptr<AmqpPublisher> publisher;
};

TEST_F(AmqpPublisherTest, a_broker_that_is_not_there_is_tried_later_and_later) {
  make_log();
  happen(1, 3);
  broker.up = false;
  start();
  std::vector<std::int64_t> delays;
  for (int i = 0; i < 8; ++i) {
    const SteadyTime next = publisher->step();
    delays.push_back((next - clock.steady()) / 1ms);
    EXPECT_EQ(publisher->step(), next);  // not before
    clock.advance(std::chrono::milliseconds(delays.back()));
  }
  EXPECT_THAT(delays, ElementsAre(500, 1000, 2000, 4000, 8000, 16'000, 30'000, 30'000));
  EXPECT_EQ(publisher->status().problem, "cannot connect");
  EXPECT_EQ(publisher->status().lag, 3);
  broker.up = true;
  run();
  EXPECT_EQ(broker.numbers(), range(1, 3));
  EXPECT_EQ(saved(), 3);
  EXPECT_EQ(publisher->status().problem, "");
  EXPECT_TRUE(publisher->status().connected);
}

TEST_F(AmqpPublisherTest, of_one_pool_only_one_is_under_way) {
  make_log();
  happen({an_event(1, "worker-running", "a/a"), an_event(2, "worker-running", "a/a"),
          an_event(3, "worker-running", "b/b"), an_event(4, "worker-running", "b/b")});
  broker.confirms_at_once = false;
  start();
  run();
  EXPECT_THAT(broker.numbers(), ElementsAre(1, 3));
  broker.confirms_at_once = true;
  run();
  EXPECT_THAT(broker.numbers("a/a"), ElementsAre(1, 2));
  EXPECT_THAT(broker.numbers("b/b"), ElementsAre(3, 4));
}

TEST_F(AmqpPublisherTest, the_position_is_what_is_confirmed_without_a_gap) {
  make_log();
  happen({an_event(1, "worker-running", "a/a"), an_event(2, "worker-running", "b/b"),
          an_event(3, "worker-running", "c/c")});
  broker.confirms_at_once = false;
  start();
  run();
  broker.to_confirm = {{2, false, true}};
  broker.confirms_at_once = true;
  run();
  EXPECT_EQ(saved(), 0);
  broker.to_confirm = {{3, true, true}};  // and all before
  run();
  EXPECT_EQ(saved(), 3);
}

TEST_F(AmqpPublisherTest, what_is_refused_is_sent_again_before_anything_of_its_pool) {
  make_log();
  int refusals = 2;
  broker.refuses = [&](const AmqpMessage& message) { return message.id == "1" && refusals-- > 0; };
  happen({an_event(1, "worker-running", "a/a"), an_event(2, "worker-running", "a/a"),
          an_event(3, "worker-running", "b/b")});
  start();
  run();
  EXPECT_THAT(broker.numbers(), ElementsAre(3));
  EXPECT_THAT(publisher->status().problem, HasSubstr("basic.nack"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run() - clock.steady(), 500ms);
    clock.advance(500ms);
    run();
  }
  EXPECT_THAT(broker.numbers(), ElementsAre(3, 1, 2));
  EXPECT_EQ(publisher->status().refused, 2);
  EXPECT_EQ(saved(), 3);
}

TEST_F(AmqpPublisherTest, a_broker_that_asks_for_a_pause_gets_it) {
  make_log();
  start();
  run();
  broker.blocked = "low on memory";
  happen(1, 3);
  run();
  EXPECT_TRUE(broker.taken.empty());
  EXPECT_EQ(publisher->status().blocked, "low on memory");
  broker.blocked.clear();
  run();
  EXPECT_EQ(broker.numbers(), range(1, 3));
}

TEST_F(AmqpPublisherTest, events_without_a_message_are_passed_over) {
  make_log();
  settings.window = 4;
  for (int i = 1; i <= 100; ++i)
    happen({an_event(i, i % 10 ? "worker-requested" : "worker-running")});
  start();
  run();
  EXPECT_EQ(broker.taken.size(), 10u);
  EXPECT_EQ(saved(), 100);
  EXPECT_EQ(publisher->status().not_told, 90);
}

TEST_F(AmqpPublisherTest, messages_have_the_prefix_and_the_events_number) {
  make_log();
  settings.exchange_prefix = "exchange/fleet/";
  happen(1, 1);
  start();
  run();
  EXPECT_THAT(broker.declared, ::testing::Contains("exchange/fleet/worker-removed"));
  ASSERT_EQ(broker.taken.size(), 1u);
  EXPECT_EQ(broker.taken[0].exchange, "exchange/fleet/worker-running");
  EXPECT_EQ(broker.taken[0].id, "1");
}

TEST_F(AmqpPublisherTest, the_connection_is_kept_alive_while_nothing_happens) {
  make_log();
  start();
  EXPECT_EQ(run() - clock.steady(), settings.heartbeat / 2);
}

// Whatever breaks, in whatever order: nothing is lost, and within a pool nothing overtakes.
class AmqpMishapsTest : public AmqpPublisherTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  bool one_in(unsigned n) { return random() % n == 0; }

  std::mt19937 random{GetParam()};
};

TEST_P(AmqpMishapsTest, lose_nothing_and_reorder_nothing) {
  constexpr std::int64_t last = 300;
  const bool host_dies = GetParam() % 2 == 0;
  broker.refuses = [&](const auto&) { return one_in(30); };
  broker.breaks = [&] { return one_in(60); };
  settings.window = 1 + random() % 40;
  make_log(256);
  std::set<std::int64_t> told, expected;
  start();
  for (std::int64_t i = 0, next = 1; i < 20'000 && (next <= last || saved() < last); ++i) {
    if (next <= last && one_in(2)) {
      const std::string pool = "p/" + std::string(1, static_cast<char>('a' + random() % 4));
      const bool has_message = !one_in(5);
      if (has_message) expected.insert(next);
      happen({an_event(next++, has_message ? "worker-running" : "worker-requested", pool)});
    }
    broker.up = broker.up ? !one_in(100) : one_in(3);
    broker.confirms_at_once = !one_in(4);
    publisher->step();
    if (one_in(2))
      for (const auto& tell : std::exchange(waiting, {})) tell();
    if (host_dies && one_in(200)) start();
    clock.advance(std::chrono::milliseconds(random() % 700));
  }
  ASSERT_EQ(saved(), last);
  for (const char* pool : {"p/a", "p/b", "p/c", "p/d"}) {
    // What comes twice comes directly behind itself. A host that dies repeats what it does not
    // remember, but that in its order, too.
    std::vector<std::int64_t> numbers;
    for (const std::int64_t number : broker.numbers(pool))
      if (told.insert(number).second || !host_dies) numbers.push_back(number);
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  }
  EXPECT_EQ(told, expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AmqpMishapsTest, ::testing::Range(1U, 41U));

}  // namespace
}  // namespace muster::events

// Task runs by way of a real broker: a publisher that speaks as Taskcluster's Queue does, with
// repetition, wrong order, and a broker that dies; what is counted is exact.
#include <algorithm>
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <cstdlib>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "host/store/committer.hpp"
#include "host/store/sqlite_store.hpp"
#include "host/worker_state/service.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/rabbitmq.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::worker_state {
namespace {

using namespace std::chrono_literals;

const std::string prefix = "exchange/taskcluster-queue/v1/";
const WorkerPoolId pool("proj/build");

// Declares the Queue's exchanges and publishes, with confirms in bulk.
class Publisher {
 public:
  explicit Publisher(int port) : connection_(amqp_new_connection()) {
    require(amqp_socket_open(amqp_tcp_socket_new(connection_), "127.0.0.1", port) == 0, "connect");
    require(amqp_login(connection_, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest")
                    .reply_type == AMQP_RESPONSE_NORMAL,
            "login");
    amqp_channel_open(connection_, 1);
    for (const std::string& name : queue_exchanges(prefix))
      amqp_exchange_declare(connection_, 1, amqp_cstring_bytes(name.c_str()),
                            amqp_cstring_bytes("topic"), 0, 1, 0, 0, amqp_empty_table);
    amqp_confirm_select(connection_, 1);
    require(amqp_get_rpc_reply(connection_).reply_type == AMQP_RESPONSE_NORMAL, "declare");
  }
  ~Publisher() { amqp_destroy_connection(connection_); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  void publish(const std::string& exchange, const std::string& key, const std::string& body) {
    amqp_basic_properties_t properties{};
    properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
    properties.delivery_mode = 2;
    require(amqp_basic_publish(connection_, 1, amqp_cstring_bytes((prefix + exchange).c_str()),
                               amqp_cstring_bytes(key.c_str()), 0, 0, &properties,
                               {body.size(), const_cast<char*>(body.data())}) == 0,
            "publish");
    outstanding_.insert(outstanding_.end(), ++sent_);
  }
  // Until the broker has all of it.
  void confirm() {
    while (!outstanding_.empty()) {
      amqp_maybe_release_buffers(connection_);
      amqp_frame_t frame;
      const timeval patience{30, 0};
      require(amqp_simple_wait_frame_noblock(connection_, &frame, &patience) == 0, "confirm");
      if (frame.frame_type != AMQP_FRAME_METHOD || frame.payload.method.id != AMQP_BASIC_ACK_METHOD)
        continue;
      const auto* ack = static_cast<const amqp_basic_ack_t*>(frame.payload.method.decoded);
      if (ack->multiple)
        outstanding_.erase(outstanding_.begin(), outstanding_.upper_bound(ack->delivery_tag));
      else
        outstanding_.erase(ack->delivery_tag);
    }
  }

 private:
  static void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error("the broker refuses: " + what);
  }
  amqp_connection_state_t connection_;
  std::uint64_t sent_ = 0;
  std::set<std::uint64_t> outstanding_;
};

struct Message {
  std::string exchange, key, body;
};

std::string task_of(int number) {
  const std::string digits = std::to_string(number);
  return std::string(22 - digits.size(), 'A') + digits;
}

// One of the Queue's messages about run 0 of the task.
Message message_of(int number, Time now, Outcome outcome) {
  const std::string task = task_of(number), worker = "i-" + std::to_string(number % 50),
                    state(name_of(outcome));
  json::object run{{"runId", 0},
                   {"state", state},
                   {"reasonCreated", "scheduled"},
                   {"workerGroup", "us-1"},
                   {"workerId", worker},
                   {"scheduled", format_time(now - 1h)},
                   {"started", format_time(now - 1h + std::chrono::milliseconds(number))}};
  if (outcome != Outcome::running) run["resolved"] = format_time(now - 5min);
  if (outcome == Outcome::exception) run["reasonResolved"] = "worker-shutdown";
  json::object body{{"version", 1},
                    {"runId", 0},
                    {"workerGroup", "us-1"},
                    {"workerId", worker},
                    {"status", json::object{{"taskId", task},
                                            {"provisionerId", "proj"},
                                            {"workerType", "build"},
                                            {"taskQueueId", "proj/build"},
                                            {"state", state},
                                            {"runs", json::array{run}}}}};
  return {"task-" + state, "primary." + task + ".0.us-1." + worker + ".proj.build.-." + task + "._",
          json::write(json::value(body))};
}

class TaskRunsTest : public ::testing::Test {
 protected:
  void open_store() {
    auto opened = store::SqliteStore::open(folder / "muster.db");
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    committer = std::make_unique<store::Committer>(*store, *clock, Log());
  }
  void start() {
    open_store();
    auto configured = std::make_shared<config::HostConfiguration>();
    configured->worker_state.most_of_worker = 100'000;
    configured->worker_state.most_of_pool = 1'000'000;
    configured->worker_state.queue =
        config::RunQueueSettings{.url = broker.url(), .name = "queue/guest/task-runs"};
    auto made = Service::make({.configuration = configured,
                               .store = store.get(),
                               .clock = clock,
                               .submit =
                                   [this](store::Batch batch, std::function<void()> durable) {
                                     return committer->submit(std::move(batch), std::move(durable));
                                   },
                               .origins_of =
                                   [](const std::vector<WorkerKey>& workers) {
                                     return std::vector<std::optional<WorkerOrigin>>(
                                         workers.size(), WorkerOrigin{"lc-1", "build.toml"});
                                   },
                               .resolved =
                                   [this](const std::vector<ResolvedRun>& ended) {
                                     resolved += static_cast<std::int64_t>(ended.size());
                                   },
                               .missed = [this] { ++missed; }});
    ASSERT_TRUE(made) << made.error().message;
    service = std::move(*made);
    service->set_pools({pool});
    service->start();
  }
  void stop() {
    service->stop();
    committer->stop(20s);
    service.reset();
    committer.reset();
    store.reset();
  }
  void TearDown() override {
    if (service) stop();
  }
  ConsumerStatus status() const { return *service->numbers().consumer; }

  testing::TemporaryFolder folder;
  testing::RabbitMq broker{folder.path()};
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  std::unique_ptr<store::SqliteStore> store;
  std::unique_ptr<store::Committer> committer;
  std::unique_ptr<Service> service;
  std::atomic<std::int64_t> resolved = 0, missed = 0;
};

TEST_F(TaskRunsTest, counts_are_exact_whatever_the_broker_and_the_order_do) {
  const int tasks = std::getenv("MUSTER_THOROUGH") ? 40'000 : 1'200;
  broker.start();
  start();
  ASSERT_TRUE(testing::eventually([&] { return !status().problem.empty(); }))
      << "the exchanges are the Queue's to declare";
  EXPECT_NE(status().problem.find("task-running"), std::string::npos) << status().problem;
  auto publisher = std::make_unique<Publisher>(broker.port());
  ASSERT_TRUE(testing::eventually([&] { return status().connected; })) << status().problem;
  EXPECT_GE(missed, 1) << "the queue is new";

  const Time now = clock->now();
  std::vector<Message> messages;
  Counts wanted;
  for (int task = 0; task < tasks; ++task) {
    const auto outcome = static_cast<Outcome>(task % 4);
    ++wanted.of(outcome);
    messages.push_back(message_of(task, now, Outcome::running));
    if (outcome != Outcome::running) messages.push_back(message_of(task, now, outcome));
  }
  std::mt19937 random(3);
  for (int i = 0; i < tasks; ++i) messages.push_back(messages[random() % messages.size()]);
  std::ranges::shuffle(messages, random);
  const auto begin = clock->steady();
  const std::size_t half = messages.size() / 2;
  for (std::size_t i = 0; i < half; ++i)
    publisher->publish(messages[i].exchange, messages[i].key, messages[i].body);
  publisher->confirm();
  broker.kill();
  publisher.reset();
  ASSERT_TRUE(testing::eventually([&] { return !status().connected; }));
  broker.start();
  publisher = std::make_unique<Publisher>(broker.port());
  ASSERT_TRUE(testing::eventually([&] { return status().connected; })) << status().problem;
  publisher->publish("task-running", "primary.x.0.g.w.proj.build.-.x._", "no JSON");
  publisher->publish("task-running", "primary.x.0.g.w.proj.other.-.x._", "not for us");
  for (std::size_t i = half; i < messages.size(); ++i)
    publisher->publish(messages[i].exchange, messages[i].key, messages[i].body);
  publisher->confirm();
  const auto counts = [&] { return service->counts(Scope::pool, pool, ""); };
  ASSERT_TRUE(testing::eventually([&] {
    return counts() == wanted && service->set_aside_messages().size() >= 1;
  })) << json::write(service->status_json());
  const auto ended = wanted.completed + wanted.failed + wanted.exception;
  ASSERT_TRUE(testing::eventually([&] { return resolved == ended; })) << resolved;
  const auto took = clock->steady() - begin;
  RecordProperty("milliseconds", static_cast<int>(took / 1ms));
  EXPECT_EQ(service->counts(Scope::launchConfig, pool, "lc-1"), wanted);
  ASSERT_TRUE(testing::eventually([&] {
    const auto seen = status();
    return seen.acknowledged > 0 && seen.received >= static_cast<std::int64_t>(messages.size()) / 2;
  }));
  for (const SetAsideMessageRow& message : service->set_aside_messages())
    EXPECT_EQ(message.body, "no JSON");
  EXPECT_GE(status().connections, 2);

  // All of it is in the store.
  stop();
  start();
  EXPECT_EQ(counts(), wanted);
  EXPECT_EQ(service->numbers().kept, static_cast<std::size_t>(tasks));
  EXPECT_GE(service->set_aside_messages().size(), 1u);
}

}  // namespace
}  // namespace muster::worker_state

// Events by way of a real broker: what arrives, and what a power cut of the broker does to it.
#include "tests/support/rabbitmq.hpp"

#include <algorithm>
#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_tcp_socket.h>
#include <map>
#include <set>

#include "host/events/service.hpp"
#include "host/events/taskcluster_messages.hpp"
#include "host/store/committer.hpp"
#include "host/store/memory_store.hpp"
#include "host/store/row.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::events {
namespace {

using namespace std::chrono_literals;

const std::string prefix = "exchange/taskcluster-worker-manager/v1/";

struct Received {
  std::string exchange, routing_key, body, id, content_type;
  int delivery_mode = 0;
};

// Listens to all exchanges with one durable queue. Gone with its connection, which a broker that is
// killed takes along: then another one goes on with the same queue.
class Consumer {
 public:
  explicit Consumer(int port) : connection_(amqp_new_connection()) {
    amqp_socket_t* socket = amqp_tcp_socket_new(connection_);
    require(amqp_socket_open(socket, "127.0.0.1", port) == AMQP_STATUS_OK, "connect");
    require(amqp_login(connection_, "/", 0, 131072, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest")
                    .reply_type == AMQP_RESPONSE_NORMAL,
            "login");
    amqp_channel_open(connection_, 1);
    check("channel");
    // Passive: it is the publisher that declares the exchanges, with their type.
    amqp_queue_declare(connection_, 1, queue_, 0, 1, 0, 0, amqp_empty_table);
    check("queue");
  }
  ~Consumer() { amqp_destroy_connection(connection_); }
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  void bind() {
    for (const std::string& name : exchanges()) {
      const std::string exchange = prefix + name;
      amqp_queue_bind(connection_, 1, queue_, amqp_cstring_bytes(exchange.c_str()),
                      amqp_cstring_bytes("#"), amqp_empty_table);
      check("bind " + exchange);
    }
  }
  void consume() {
    amqp_basic_consume(connection_, 1, queue_, amqp_empty_bytes, 0, 0, 0, amqp_empty_table);
    check("consume");
  }

  // False: nothing came for so long, or the connection is gone.
  bool next(Received& received, std::chrono::seconds patience) {
    amqp_maybe_release_buffers(connection_);
    amqp_envelope_t envelope;
    const timeval time{patience.count(), 0};
    if (amqp_consume_message(connection_, &envelope, &time, 0).reply_type != AMQP_RESPONSE_NORMAL)
      return false;
    const amqp_message_t& message = envelope.message;
    received = {text(envelope.exchange),
                text(envelope.routing_key),
                text(message.body),
                text(message.properties.message_id),
                text(message.properties.content_type),
                message.properties.delivery_mode};
    amqp_basic_ack(connection_, 1, envelope.delivery_tag, 0);
    amqp_destroy_envelope(&envelope);
    return true;
  }

 private:
  static std::string text(amqp_bytes_t bytes) {
    return {static_cast<const char*>(bytes.bytes), bytes.len};
  }
  static void require(bool good, const std::string& what) {
    if (!good) throw std::runtime_error("the broker refuses: " + what);
  }
  void check(const std::string& what) {
    require(amqp_get_rpc_reply(connection_).reply_type == AMQP_RESPONSE_NORMAL, what);
  }

  const amqp_bytes_t queue_ = amqp_cstring_bytes("a-test");
  amqp_connection_state_t connection_;
};

class RabbitMqTest : public ::testing::Test {
 protected:
  void start(const std::string& url) {
    auto configured = std::make_shared<config::HostConfiguration>();
    configured->amqp = {.url = url};
    auto made = Service::make({configured, &store, clock, {}});
    ASSERT_TRUE(made);
    service = std::move(*made);
    ASSERT_TRUE(service->start([this](store::Batch batch, std::function<void()> durable) {
      return committer.submit(std::move(batch), std::move(durable));
    }));
  }
  void TearDown() override {
    if (service) service->stop();
    committer.stop(10s);
  }
  void emit(Event event) {
    event.number = ++newest;
    event.at = clock->now();
    committer.submit({store::put(event)}, [this, event] { service->on_durable({event}); });
  }
  static Event worker_event(const std::string& kind, const std::string& pool,
                            const std::string& id) {
    Event event{.kind = kind, .text = "it happened"};
    event.worker_pool_id = WorkerPoolId(pool);
    event.provider_id = ProviderId("ec2-us");
    event.launch_config_id = LaunchConfigId("lc-1");
    event.worker_group = WorkerGroup("us-1");
    event.worker_id = WorkerId(id);
    event.details = {{"capacity", 2}, {"reason", "idle"}};
    return event;
  }
  AmqpStatus status() const { return *service->numbers().amqp; }

  testing::TemporaryFolder folder;
  testing::RabbitMq broker{folder.path()};
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
  store::MemoryStore store;
  store::Committer committer{store, *clock, Log()};
  std::unique_ptr<Service> service;
  std::int64_t newest = 0;
};

TEST_F(RabbitMqTest, gets_taskclusters_messages_and_survives_its_own_death) {
  broker.start();
  start("amqp://nobody@127.0.0.1:" + std::to_string(broker.port()) + "/");
  ASSERT_TRUE(testing::eventually([&] { return !status().problem.empty(); }));
  EXPECT_NE(status().problem.find("check the user \"nobody\", its password"), std::string::npos)
      << status().problem;
  service->stop();

  start(broker.url());
  ASSERT_TRUE(testing::eventually([&] { return status().connected; })) << status().problem;
  auto consumer = std::make_unique<Consumer>(broker.port());
  consumer->bind();
  consumer->consume();

  emit(worker_event("worker-launched", "proj/build", "i-1"));
  emit(worker_event("worker-requested", "proj/build", ""));  // is not told
  emit(worker_event("worker-stopping", "proj/build", "i-1"));
  std::map<std::string, Received> by_exchange;
  for (int i = 0; i < 3; ++i) {
    Received one;
    ASSERT_TRUE(consumer->next(one, 20s));
    by_exchange[one.exchange] = one;
  }
  for (const char* name : {"worker-requested", "worker-removed", "worker-stopping"}) {
    const Received& one = by_exchange[prefix + name];
    EXPECT_EQ(one.routing_key, "primary.ec2-us.proj.build.us-1.i-1.lc-1._") << name;
    EXPECT_EQ(one.content_type, "application/json");
    EXPECT_EQ(one.delivery_mode, 2);
    const auto body = json::parse_object(one.body);
    ASSERT_TRUE(body) << one.body;
    EXPECT_EQ(body->at("capacity"), json::value(2));
    EXPECT_EQ(body->at("workerPoolId"), json::value("proj/build"));
  }
  EXPECT_EQ(by_exchange[prefix + "worker-requested"].id, "1");
  EXPECT_EQ(by_exchange[prefix + "worker-removed"].id, "3");

  // A thousand events of ten pools; in the middle the broker dies and comes back.
  constexpr std::int64_t first = 4, last = 1003;
  std::map<std::string, std::vector<std::int64_t>> by_pool;
  std::set<std::int64_t> all;
  const auto take = [&](std::chrono::seconds patience) {
    Received one;
    if (!consumer->next(one, patience)) return false;
    const auto body = json::parse_object(one.body);
    // What the queue gives out again because it lost an acknowledgement is not the publisher's.
    if (all.insert(std::stoll(one.id)).second)
      by_pool[std::string(body->at("workerPoolId").as_string())].push_back(std::stoll(one.id));
    return true;
  };
  const auto some_happen = [&](std::int64_t until) {
    while (newest < until)
      emit(worker_event("worker-running", "proj/pool" + std::to_string(newest % 10),
                        "i-" + std::to_string(newest)));
  };
  some_happen(400);
  while (all.size() < 150) ASSERT_TRUE(take(20s));
  broker.kill();
  some_happen(last);
  ASSERT_TRUE(testing::eventually([&] { return !status().connected; }));
  broker.start();
  consumer = std::make_unique<Consumer>(broker.port());
  consumer->consume();
  while (all.size() < static_cast<std::size_t>(last - first + 1))
    ASSERT_TRUE(take(40s)) << all.size();
  EXPECT_EQ(*all.begin(), first);
  EXPECT_EQ(*all.rbegin(), last);
  EXPECT_EQ(by_pool.size(), 10u);
  for (const auto& [pool, numbers] : by_pool) {
    EXPECT_EQ(numbers.size(), 100u) << pool;
    EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end())) << pool;
  }
  ASSERT_TRUE(testing::eventually([&] { return status().lag == 0; }));
  EXPECT_GE(status().connections, 2);
}

}  // namespace
}  // namespace muster::events

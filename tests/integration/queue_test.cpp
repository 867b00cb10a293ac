// Many real clients of a real host: none shares its worker, the dead give theirs back, and a host
// that is killed changes nothing of that.
#include <atomic>
#include <csignal>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/queue_host.hpp"
#include "tests/support/raw_client.hpp"

namespace muster::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

const std::string& api = queue_api;

// Who holds which worker, as the clients see it.
class Holders {
 public:
  void take(const std::string& worker) {
    const std::lock_guard lock(mutex_);
    if (!held_.insert(worker).second) ++shared_;
    ++grants_;
  }
  void give_back(const std::string& worker) {
    const std::lock_guard lock(mutex_);
    held_.erase(worker);
  }
  int shared() const { return shared_; }
  int grants() const { return grants_; }

 private:
  std::mutex mutex_;
  std::set<std::string> held_;
  std::atomic<int> shared_ = 0, grants_ = 0;
};

// Begins to wait for an answer and is gone before it comes. A host that is not there is gone, too.
void cut_poll(const cli::HostAddress& address, const std::string& path) try {
  const std::size_t colon = address.url.rfind(':');
  RawClient client(static_cast<std::uint16_t>(std::stoul(address.url.substr(colon + 1))));
  client.send("GET " + path + "?wait=55 HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " +
              address.token + "\r\n\r\n");
} catch (const std::exception&) {
}

enum class Fate { lives, dies, is_cut_and_goes_on_by_id, is_cut_and_goes_on_by_token };

// One client: asks, waits, holds, gives back; and again. One that dies holds its last worker and is
// never heard of again.
class LivingClient {
 public:
  LivingClient(std::function<cli::HostAddress()> address, int name, Fate fate, Holders& holders)
      : address_(std::move(address)),
        name_(name),
        fate_(fate),
        holders_(holders),
        requests_(api + "teams/team-" + std::to_string(name % 7) + "/requests") {}

  void live() {
    for (int round = 0; round < rounds; ++round) {
      const bool last = fate_ == Fate::dies && round + 1 == rounds;
      body_ = {{"token", std::to_string(name_) + "-" + std::to_string(round)},
               {"heartbeatSeconds", last ? 5 : 60}};
      take_worker();
      if (HasFatalFailure() || last) return;
      // After a lost answer it is not there any more.
      (void)insist([&](cli::HostClient& to) { return to.remove(path_); });
    }
  }

  static constexpr int rounds = 3;

 private:
  static bool HasFatalFailure() { return ::testing::Test::HasFatalFailure(); }

  // The host may have been killed and started again.
  Result<json::value> insist(const std::function<Result<json::value>(cli::HostClient&)>& call) {
    for (;;) {
      if (!host_) host_ = std::make_unique<cli::HostClient>(address_());
      auto answer = call(*host_);
      if (answer || answer.error().error_class == ErrorClass::not_found ||
          answer.error().error_class == ErrorClass::invalid)
        return answer;
      std::this_thread::sleep_for(1ms);
      host_.reset();
    }
  }

  Result<json::value> ask() {
    return insist([&](cli::HostClient& to) { return to.post(requests_, body_); });
  }

  void take_worker() {
    auto request = ask();
    ASSERT_TRUE(request) << request.error().message;
    const std::string id(request->at("requestId").as_string());
    path_ = requests_ + "/" + id;
    for (bool first = true; request->at("state") == "waiting"; first = false) {
      if (first && fate_ >= Fate::is_cut_and_goes_on_by_id) cut_poll(address_(), path_);
      request = first && fate_ == Fate::is_cut_and_goes_on_by_token
                    ? ask()
                    : insist([&](cli::HostClient& to) { return to.get(path_ + "?wait=2"); });
      ASSERT_TRUE(request) << request.error().message;
      ASSERT_EQ(request->at("requestId"), json::value(id)) << "it is one request";
    }
    ASSERT_EQ(request->at("state"), "held");
    const std::string worker(request->at("worker").at("workerId").as_string());
    holders_.take(worker);
    const auto confirmed =
        insist([&](cli::HostClient& to) { return to.post(path_ + "/heartbeat"); });
    ASSERT_TRUE(confirmed) << confirmed.error().message;
    EXPECT_EQ(confirmed->at("worker").at("workerId"), json::value(worker));
    holders_.give_back(worker);
  }

  std::function<cli::HostAddress()> address_;
  int name_;
  Fate fate_;
  Holders& holders_;
  std::string requests_, path_;
  json::object body_;
  std::unique_ptr<cli::HostClient> host_;
};

TEST(QueueOfHost,
     gives_two_hundred_clients_that_are_cut_and_die_no_worker_twice_while_it_is_killed) {
  constexpr int clients = 200, pool_size = 20;
  QueueHost host(pool_size);
  Holders holders;
  std::mutex restarting;
  const auto address = [&] {
    const std::lock_guard lock(restarting);
    return host.host().address();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < clients; ++i) {
    const Fate fate = i % 10 == 0   ? Fate::dies
                      : i % 10 == 1 ? Fate::is_cut_and_goes_on_by_id
                      : i % 10 == 2 ? Fate::is_cut_and_goes_on_by_token
                                    : Fate::lives;
    threads.emplace_back([&, i, fate] { LivingClient(address, i, fate, holders).live(); });
  }
  for (const int grants : {100, 300}) {
    EXPECT_TRUE(eventually([&] {
      EXPECT_LE(host.used(), pool_size);
      return holders.grants() >= grants;
    }));
    const std::lock_guard lock(restarting);
    host.host().kill();
    host.host().start();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(holders.shared(), 0);
  EXPECT_EQ(holders.grants(), clients * LivingClient::rounds);
  EXPECT_TRUE(eventually([&] {
    const json::object load = host.load();
    for (const json::value& team : load.at("teams").as_array())
      if (team.at("held").as_int64() != 0 || team.at("leases").as_int64() != 0) return false;
    return host.used() == 0 && load.at("waiting").as_int64() == 0;
  })) << "the dead give their workers back";
}

// -------------------------------------------------------------------------------------------------
// Waiting for an answer

class LongPoll : public ::testing::Test {
 protected:
  json::value ask() const {
    return *host_.client().post(requests_, {{"token", "t"}, {"heartbeatSeconds", 60}});
  }
  std::string path_of(const json::value& request) const {
    return requests_ + "/" + std::string(request.at("requestId").as_string());
  }
  std::future<Result<json::value>> poll(const std::string& path) const {
    return std::async(std::launch::async,
                      [this, path] { return host_.client().get(path + "?wait=55"); });
  }

  QueueHost host_{1};
  const std::string holder_ = host_.hold_one();
  const std::string requests_ = api + "teams/a/requests";
};

TEST_F(LongPoll, that_is_cut_goes_on_by_id_and_by_token) {
  const json::value request = ask();
  ASSERT_EQ(request.at("state"), "waiting");
  cut_poll(host_.host().address(), path_of(request));
  EXPECT_EQ(ask().at("requestId"), request.at("requestId"));
  auto resumed = poll(path_of(request));
  ASSERT_TRUE(host_.client().remove(holder_));
  const auto held = resumed.get();
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_EQ(held->at("state"), "held");
  EXPECT_EQ(ask().at("worker"), held->at("worker"));
  EXPECT_EQ(host_.used(), 1);
}

TEST_F(LongPoll, of_the_same_request_by_two_tells_both_of_the_same_worker) {
  const json::value request = ask();
  auto first = poll(path_of(request)), second = poll(path_of(request));
  ASSERT_TRUE(host_.client().remove(holder_));
  const auto one = first.get(), other = second.get();
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->at("state"), "held");
  EXPECT_EQ(one->at("worker"), other->at("worker"));
  EXPECT_EQ(host_.used(), 1);
}

TEST_F(LongPoll, of_a_request_that_is_cancelled_meanwhile_is_told_so) {
  const json::value request = ask();
  auto waits = poll(path_of(request));
  ASSERT_TRUE(host_.client().remove(path_of(request)));
  const auto told = waits.get();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().error_class, ErrorClass::not_found);
}

TEST_F(LongPoll, ends_when_the_host_does_and_goes_on_with_the_next_one) {
  host_.host().keep_port();
  const json::value request = ask();
  auto cut = poll(path_of(request));
  host_.host().kill();
  EXPECT_FALSE(cut.get());
  host_.host().start();
  auto again = poll(path_of(request));
  EXPECT_TRUE(eventually([&] { return host_.client().remove(holder_).has_value(); }));
  const auto held = again.get();
  ASSERT_TRUE(held) << held.error().message;
  EXPECT_EQ(held->at("state"), "held");
}

TEST(QueueSettings, hold_as_soon_as_the_host_has_read_them_again) {
  QueueHost host(1);
  const std::string requests = api + "teams/a/requests";
  const json::object for_nobody{{"tags", {"gpu"}}};
  ASSERT_TRUE(host.client().post(requests, for_nobody));
  host.host().configure(host.configuration("[queue]\nmostWaiting = 1\n"));
  host.host().process().signal(SIGHUP);
  host.host().process().wait_for("the configuration was read again");
  const auto refused = host.client().post(requests, for_nobody);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the queue is full"));
}

}  // namespace
}  // namespace muster::testing

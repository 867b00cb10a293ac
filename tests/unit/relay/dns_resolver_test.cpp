// The resolver against servers that behave and servers that do not, over real sockets.
#include "relay/dns_resolver.hpp"

#include <arpa/inet.h>
#include <future>
#include <mutex>
#include <poll.h>
#include <set>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

#include "lib/base/file_descriptor.hpp"
#include "relay/dns_server.hpp"
#include "tests/unit/relay/dns_wire.hpp"

namespace muster::relay {
namespace {

using namespace std::chrono_literals;

// A DNS server on a port of its own that answers every question in one way.
class Nameserver {
 public:
  enum class Way { answers, fails, refuses, is_silent, talks_nonsense, has_nothing };

  explicit Nameserver(Way way) : way_(way) {
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof own;
    ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&own), size);
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&own), &size);
    address = "127.0.0.1:" + std::to_string(ntohs(own.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~Nameserver() {
    const std::uint64_t one = 1;
    EXPECT_EQ(::write(stop_.get(), &one, sizeof one), ssize_t(sizeof one));
    thread_.join();
  }

  std::string address;
  std::atomic<int> asked = 0;
  std::set<unsigned> ports() const {
    const std::lock_guard guard(mutex_);
    return ports_;
  }

 private:
  void serve() {
    for (;;) {
      pollfd waiting[] = {{socket_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
      ::poll(waiting, 2, -1);
      if (waiting[1].revents) return;
      unsigned char bytes[1500];
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t got = ::recvfrom(socket_.get(), bytes, sizeof bytes, 0,
                                     reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 12) continue;
      ++asked;
      {
        const std::lock_guard guard(mutex_);
        ports_.insert(ntohs(from.sin_port));
      }
      if (way_ == Way::is_silent) continue;
      const auto answer = answer_to({bytes, bytes + got});
      ::sendto(socket_.get(), answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from),
               size);
    }
  }
  // The question is repeated, as a resolver demands it.
  std::vector<unsigned char> answer_to(std::vector<unsigned char> question) const {
    std::size_t end = 12;
    while (question[end] != 0) end += question[end] + 1u;
    question.resize(end + 5);
    question[2] = 0x81;
    question[3] = way_ == Way::fails ? 0x82 : way_ == Way::refuses ? 0x85 : 0x80;
    question[7] = way_ == Way::answers || way_ == Way::talks_nonsense ? 1 : 0;
    question[9] = question[11] = 0;
    if (way_ == Way::answers) {
      const Wire record =
          Wire::nothing().pointer(12).u16(12).u16(1).u32(60).holds(Wire::nothing().name("m1.dc"));
      question.insert(question.end(), record.bytes().begin(), record.bytes().end());
    }
    if (way_ == Way::talks_nonsense) question.insert(question.end(), {0xc0, 0x0c, 0x00});
    return question;
  }

  const Way way_;
  mutable std::mutex mutex_;
  std::set<unsigned> ports_;
  FileDescriptor socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  FileDescriptor stop_{::eventfd(0, EFD_CLOEXEC)};
  std::thread thread_;
};

using Way = Nameserver::Way;
const Question question{"7.0.1.10.in-addr.arpa", RecordType::ptr};

DnsAnswer ask(DnsResolver& resolver, std::chrono::milliseconds patience = 20s) {
  std::promise<DnsAnswer> answer;
  resolver.ask(question, std::chrono::steady_clock::now() + patience,
               [&](DnsAnswer given) { answer.set_value(std::move(given)); });
  return answer.get_future().get();
}

std::unique_ptr<DnsResolver> resolver_of(const std::vector<std::string>& servers,
                                         std::chrono::milliseconds timeout = 50ms) {
  return DnsResolver::start({.servers = servers, .timeout = timeout, .tries = 2}, Log()).value();
}

TEST(DnsResolver, an_address_that_is_none_is_refused) {
  EXPECT_FALSE(DnsResolver::start({.servers = {"nonsense"}}, Log()));
}

TEST(DnsResolver, says_what_servers_say_if_none_of_them_helps) {
  const std::pair<Way, DnsResult> cases[] = {{Way::fails, DnsResult::server_failure},
                                             {Way::refuses, DnsResult::refused},
                                             {Way::is_silent, DnsResult::timed_out},
                                             {Way::talks_nonsense, DnsResult::malformed}};
  for (const auto& [way, result] : cases) {
    Nameserver bad(way), silent(Way::is_silent);
    const auto resolver = resolver_of({bad.address, silent.address});
    EXPECT_STREQ(to_string(ask(*resolver).result), to_string(result));
    EXPECT_EQ(bad.asked, 2);
    EXPECT_EQ(silent.asked, 2);
  }
}

TEST(DnsResolver, a_port_where_nobody_listens_is_unreachable) {
  const auto resolver = resolver_of({"127.0.0.1:1"}, 5s);
  EXPECT_EQ(ask(*resolver).result, DnsResult::unreachable);
}

TEST(DnsResolver, asks_the_next_server_if_one_does_not_help_and_stays_with_it) {
  for (const Way way : {Way::fails, Way::refuses, Way::is_silent, Way::talks_nonsense}) {
    Nameserver bad(way), good(Way::answers);
    const auto resolver = resolver_of({bad.address, good.address});
    for (int i = 0; i < 3; ++i) {
      const DnsAnswer answer = ask(*resolver);
      EXPECT_EQ(answer.result, DnsResult::answered);
      ASSERT_EQ(answer.records.size(), 1u);
      EXPECT_EQ(answer.records[0].target, "m1.dc");
    }
    EXPECT_EQ(bad.asked, 1);
    EXPECT_EQ(good.asked, 3);
    EXPECT_EQ(resolver->counted(true, DnsResult::answered), 3u);
  }
}

TEST(DnsResolver, believes_the_first_server_that_there_is_nothing) {
  Nameserver empty(Way::has_nothing), good(Way::answers);
  const auto resolver = resolver_of({empty.address, good.address});
  EXPECT_EQ(ask(*resolver).result, DnsResult::no_such_record);
  EXPECT_EQ(good.asked, 0);
}

// Nobody who does not see the question can guess where its answer has to go.
TEST(DnsResolver, asks_each_question_from_a_port_of_its_own_at_random) {
  Nameserver good(Way::answers);
  const auto resolver = resolver_of({good.address}, 20s);
  constexpr int questions = 400;
  for (int i = 0; i < questions; ++i) ASSERT_EQ(ask(*resolver).result, DnsResult::answered);
  EXPECT_EQ(good.asked, questions);
  const auto ports = good.ports();
  EXPECT_GT(ports.size(), questions * 9u / 10) << "by chance a few meet";
  EXPECT_LT(*ports.begin(), 10'000u) << "of all ports, not only of those that a kernel gives out";
  EXPECT_GT(*ports.rbegin(), 55'000u);
}

TEST(DnsResolver, asks_many_questions_at_once_each_from_a_port_of_its_own) {
  Nameserver good(Way::answers);
  const auto resolver = resolver_of({good.address}, 20s);
  constexpr int questions = 200;
  std::atomic<int> answered = 0;
  std::promise<void> all;
  for (int i = 0; i < questions; ++i)
    resolver->ask(question, std::chrono::steady_clock::now() + 60s, [&](DnsAnswer given) {
      EXPECT_EQ(given.result, DnsResult::answered);
      if (++answered == questions) all.set_value();
    });
  all.get_future().wait();
  EXPECT_GT(good.ports().size(), questions * 9u / 10);
}

TEST(DnsResolver, keeps_the_deadline_of_whoever_asks) {
  Nameserver silent(Way::is_silent);
  const auto resolver = resolver_of({silent.address}, 60s);
  EXPECT_EQ(ask(*resolver, 10ms).result, DnsResult::timed_out);
}

TEST(DnsResolver, answers_everybody_when_it_stops) {
  Nameserver silent(Way::is_silent);
  const auto resolver = resolver_of({silent.address}, 60s);
  std::promise<DnsAnswer> waiting;
  resolver->ask(question, std::chrono::steady_clock::now() + 60s,
                [&](DnsAnswer given) { waiting.set_value(std::move(given)); });
  resolver->stop();
  EXPECT_EQ(waiting.get_future().get().result, DnsResult::unreachable);
  EXPECT_EQ(ask(*resolver).result, DnsResult::unreachable);
}

TEST(DnsServer, can_be_asked_once_whether_it_answers) {
  Nameserver silent(Way::is_silent), good(Way::answers);
  EXPECT_EQ(ask_once(good.address, question, 20s).result, DnsResult::answered);
  EXPECT_EQ(ask_once(silent.address, question, 20ms).result, DnsResult::timed_out);
  EXPECT_EQ(ask_once("nonsense", question, 20ms).result, DnsResult::unreachable);
}

}  // namespace
}  // namespace muster::relay

#include "relay/dns_resolver.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <sys/eventfd.h>
#include <thread>

#include "lib/base/file_descriptor.hpp"
#include "relay/dns_server.hpp"

namespace muster::relay {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds longest_wait = std::chrono::minutes(1);

bool is_certain(DnsResult result) {
  return result == DnsResult::answered || result == DnsResult::no_such_name ||
         result == DnsResult::no_such_record;
}

}  // namespace

struct DnsResolver::Impl {
  struct Pending {
    Question question;
    SteadyTime deadline;
    Done done;
    std::size_t server = 0;
    std::size_t tries_left = 0;
    DnsResult worst = DnsResult::timed_out;
  };

  DnsSettings settings;
  Log log;
  std::vector<std::unique_ptr<DnsServer>> servers;
  std::size_t preferred = 0;
  FileDescriptor wake_up{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::mutex mutex;
  std::vector<Pending> given;  // to the thread
  bool stopping = false;
  std::map<std::uint64_t, Pending> pending;  // of the thread
  std::uint64_t last_number = 0;
  std::array<std::array<std::atomic<std::uint64_t>, dns_results>, 2> counts{};
  std::thread thread;

  void wake() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_up.get(), &one, sizeof one);
  }

  void count(const Question& question, DnsResult result) {
    ++counts[question.type == RecordType::ptr ? 1 : 0][static_cast<std::size_t>(result)];
  }

  void begin(Pending one) {
    one.server = preferred;
    one.tries_left = servers.size() * settings.tries;
    const std::uint64_t number = ++last_number;
    pending.emplace(number, std::move(one));
    try_next(number);
  }

  void try_next(std::uint64_t number) {
    Pending& one = pending.at(number);
    --one.tries_left;
    const std::size_t server = one.server;
    servers[server]->ask(one.question, [this, number, server](DnsAnswer answer) {
      on_answer(number, server, std::move(answer));
    });
  }

  void on_answer(std::uint64_t number, std::size_t server, DnsAnswer answer) {
    const auto found = pending.find(number);
    if (found == pending.end()) return;  // nobody waits any longer
    Pending& one = found->second;
    count(one.question, answer.result);
    if (is_certain(answer.result)) {
      preferred = server;
      return finish(number, std::move(answer));
    }
    log.debug("a DNS server did not help", {{"server", servers[server]->address()},
                                            {"question", one.question.name},
                                            {"result", to_string(answer.result)}});
    // What a server said tells more than that another said nothing.
    if (answer.result != DnsResult::timed_out && answer.result != DnsResult::unreachable)
      one.worst = answer.result;
    else if (one.worst == DnsResult::timed_out || one.worst == DnsResult::unreachable)
      one.worst = answer.result;
    if (one.tries_left == 0 || one.deadline <= std::chrono::steady_clock::now())
      return finish(number, {one.worst});
    one.server = (server + 1) % servers.size();
    retries.push_back(number);  // not from inside of c-ares
  }
  std::vector<std::uint64_t> retries;

  void finish(std::uint64_t number, DnsAnswer answer) {
    const Done done = std::move(pending.at(number).done);
    pending.erase(number);
    done(std::move(answer));
  }

  void expire() {
    const auto now = std::chrono::steady_clock::now();
    std::vector<std::uint64_t> late;
    for (const auto& [number, one] : pending)
      if (one.deadline <= now) late.push_back(number);
    for (const std::uint64_t number : late) {
      const Pending& one = pending.at(number);
      count(one.question, DnsResult::timed_out);
      finish(number, {one.worst});
    }
  }

  // True: the resolver is to stop.
  bool take_given() {
    std::vector<Pending> fresh;
    bool stop = false;
    {
      const std::lock_guard guard(mutex);
      fresh.swap(given);
      stop = stopping;
    }
    for (Pending& one : fresh) {
      if (stop)
        one.done({DnsResult::unreachable});
      else
        begin(std::move(one));
    }
    return stop;
  }

  void wait() {
    std::vector<pollfd> sockets{{wake_up.get(), POLLIN, 0}};
    milliseconds most = longest_wait;
    for (const auto& server : servers) {
      server->append_sockets(sockets);
      most = server->wait_at_most(most);
    }
    const auto now = std::chrono::steady_clock::now();
    for (const auto& [number, one] : pending)
      most = std::min(most, std::chrono::ceil<milliseconds>(
                                std::max(one.deadline - now, SteadyTime::duration::zero())));
    if (retries.empty()) ::poll(sockets.data(), sockets.size(), static_cast<int>(most.count()));
    std::uint64_t ignored = 0;
    [[maybe_unused]] const auto read = ::read(wake_up.get(), &ignored, sizeof ignored);
    for (const auto& server : servers) server->process(sockets);
  }

  void run() {
    while (!take_given()) {
      for (const std::uint64_t number : std::exchange(retries, {}))
        if (pending.contains(number)) try_next(number);
      wait();
      expire();
    }
    auto left = std::exchange(pending, {});
    servers.clear();  // their answers find nobody
    for (auto& [number, one] : left) one.done({DnsResult::unreachable});
    take_given();
  }
};

DnsResolver::DnsResolver(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<DnsResolver>> DnsResolver::start(const DnsSettings& settings, Log log) {
  auto impl = std::make_unique<Impl>();
  impl->settings = settings;
  impl->log = std::move(log);
  if (impl->settings.servers.empty()) impl->settings.servers = system_servers();
  if (impl->settings.servers.empty())
    return Error::config("no DNS server is known: name some in dns.servers");
  for (const std::string& address : impl->settings.servers) {
    auto server = DnsServer::open(address, settings.timeout);
    if (!server) return server.error();
    impl->servers.push_back(std::move(*server));
  }
  impl->thread = std::thread([running = impl.get()] { running->run(); });
  return std::unique_ptr<DnsResolver>(new DnsResolver(std::move(impl)));
}

DnsResolver::~DnsResolver() {
  stop();
}

void DnsResolver::stop() {
  {
    const std::lock_guard guard(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void DnsResolver::ask(const Question& question, SteadyTime deadline, Done done) {
  {
    const std::lock_guard guard(impl_->mutex);
    if (!impl_->stopping) {
      impl_->given.push_back({question, deadline, std::move(done)});
      done = nullptr;
    }
  }
  if (done) return done({DnsResult::unreachable});
  impl_->wake();
}

std::uint64_t DnsResolver::counted(bool reverse, DnsResult result) const {
  return impl_->counts[reverse ? 1 : 0][static_cast<std::size_t>(result)];
}

}  // namespace muster::relay

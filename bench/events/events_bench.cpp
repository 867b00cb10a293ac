// Listeners over real connections, with the listeners in the same process, so that the number
// holds for server and clients together: events_bench [listeners] [events per second] [seconds]
#include <algorithm>
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "host/api/api.hpp"
#include "host/events/service.hpp"
#include "host/store/memory_store.hpp"
#include "lib/http/server.hpp"

using namespace muster;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

namespace {

double cpu_seconds(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

events::Event an_event(std::int64_t number) {
  events::Event event{.number = number, .kind = "worker-running", .text = "registered"};
  event.at =
      std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
  event.worker_pool_id = WorkerPoolId("proj/build-" + std::to_string(number % 50));
  event.launch_config_id = LaunchConfigId("lc-0123456789abcdef0123");
  event.provider_id = ProviderId("ec2-us");
  event.worker_group = WorkerGroup("us-east-1");
  event.worker_id = WorkerId("i-0123456789abcdef0");
  event.details = {{"worker", number}, {"capacity", 1}};
  return event;
}

// All listeners, on one thread.
class Listeners {
 public:
  Listeners(int count, int port, std::int64_t last, std::vector<std::atomic<std::int64_t>>& told)
      : last_(last), told_(told), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    for (int i = 0; i < count; ++i) connect(port);
  }

  void run(const std::atomic<bool>& stop) {
    std::vector<char> buffer(1 << 20);
    epoll_event ready[256];
    while (!stop && finished_ < sockets_.size()) {
      const int count = ::epoll_wait(epoll_, ready, 256, 100);
      for (int i = 0; i < count; ++i) read(ready[i].data.u32, buffer);
    }
    cpu = cpu_seconds(RUSAGE_THREAD);
  }

  std::size_t finished() const { return finished_; }
  std::size_t bytes() const { return bytes_; }
  std::vector<double>& latencies() { return latencies_; }
  double cpu = 0;

 private:
  void connect(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const char* request =
        "GET /api/muster/v1/events?after=0 HTTP/1.1\r\nHost: a\r\nAccept: "
        "text/event-stream\r\n\r\n";
    if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::send(socket, request, std::strlen(request), 0) < 0) {
      std::perror("connect");
      std::exit(1);
    }
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.u32 = static_cast<std::uint32_t>(sockets_.size());
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &wanted);
    sockets_.push_back(socket);
  }

  // The last whole "id: 123\n" of what came says how far this listener is.
  void read(std::uint32_t listener, std::vector<char>& buffer) {
    const ssize_t size = ::recv(sockets_[listener], buffer.data(), buffer.size(), 0);
    if (size <= 0) {
      std::fprintf(stderr, "a listener was cut off\n");
      std::exit(1);
    }
    bytes_ += static_cast<std::size_t>(size);
    const std::string_view text(buffer.data(), static_cast<std::size_t>(size));
    const auto at =
        text.substr(0, text.size() - std::min<std::size_t>(text.size(), 16)).rfind("\nid: ");
    if (at == std::string_view::npos) return;
    const std::int64_t number = std::strtoll(text.data() + at + 5, nullptr, 10);
    if (number < 1 || number > last_) return;
    latencies_.push_back(static_cast<double>(Steady::now().time_since_epoch().count() -
                                             told_[static_cast<std::size_t>(number)]) /
                         1e6);
    if (number == last_) ++finished_;
  }

  const std::int64_t last_;
  std::vector<std::atomic<std::int64_t>>& told_;
  int epoll_;
  std::vector<int> sockets_;
  std::size_t finished_ = 0, bytes_ = 0;
  std::vector<double> latencies_;
};

}  // namespace

int main(int argc, char** argv) {
  const int listeners = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int rate = argc > 2 ? std::atoi(argv[2]) : 1000;
  const int seconds = argc > 3 ? std::atoi(argv[3]) : 10;
  const rlimit files{65536, 65536};
  ::setrlimit(RLIMIT_NOFILE, &files);
  const std::int64_t last = std::int64_t{rate} * seconds;

  store::MemoryStore store;
  const auto clock = std::make_shared<SystemClock>();
  auto service =
      events::Service::make({std::make_shared<config::HostConfiguration>(), &store, clock, {}});
  (void)(*service)->start([](const auto&, const auto&) { return true; });
  http::Router router{Log()};
  api::Services services;
  services.events = service->get();
  services.clock = clock;
  api::add_routes(router, services);
  http::ServerSettings settings;
  settings.access_log = false;
  auto server = http::Server::listen(settings, router, *clock, Log());
  (*server)->start();

  std::vector<std::atomic<std::int64_t>> told(static_cast<std::size_t>(last) + 1);
  std::atomic<bool> stop = false;
  Listeners crowd(listeners, (*server)->port(), last, told);
  std::thread listening([&] { crowd.run(stop); });
  const auto all_there = Steady::now() + 20s;
  while ((*service)->numbers().listeners < listeners) {
    if (Steady::now() > all_there) {
      std::fprintf(stderr, "only %d of %d listeners came\n",
                   static_cast<int>((*service)->numbers().listeners), static_cast<int>(listeners));
      std::exit(1);
    }
    std::this_thread::sleep_for(1ms);
  }

  const double cpu = cpu_seconds(RUSAGE_SELF);
  const auto begin = Steady::now();
  for (std::int64_t number = 1; number <= last;) {  // as the committer tells: a few at a time
    std::vector<events::Event> some;
    for (int i = 0; i < std::max(1, rate / 200) && number <= last; ++i) {
      told[static_cast<std::size_t>(number)] = Steady::now().time_since_epoch().count();
      some.push_back(an_event(number++));
    }
    (*service)->on_durable(some);
    std::this_thread::sleep_until(begin + std::chrono::microseconds(number * 1'000'000 / rate));
  }
  const auto patience = Steady::now() + 20s;
  while (crowd.finished() < static_cast<std::size_t>(listeners) && Steady::now() < patience)
    std::this_thread::sleep_for(1ms);
  const double time = std::chrono::duration<double>(Steady::now() - begin).count();
  stop = true;
  listening.join();
  const double used = cpu_seconds(RUSAGE_SELF) - cpu;
  auto& late = crowd.latencies();
  std::sort(late.begin(), late.end());
  const auto at = [&](double part) {
    return late.empty()
               ? 0
               : late[static_cast<std::size_t>(part * static_cast<double>(late.size() - 1))];
  };
  std::printf(
      "%d listeners, %d events/s for %d s: %zu heard the last event, %.1f s, %.0f MB/s, newest "
      "event of each read is "
      "%.0f ms old (median), %.0f ms (99 %%), %.0f ms at most; CPU %.2f cores, of these the "
      "listeners' own %.2f\n",
      listeners, rate, seconds, crowd.finished(), time,
      static_cast<double>(crowd.bytes()) / time / 1e6, at(0.5), at(0.99), at(1), used / time,
      crowd.cpu / time);
  (*server)->stop();
  (*service)->stop();
  return crowd.finished() == static_cast<std::size_t>(listeners) ? 0 : 1;
}

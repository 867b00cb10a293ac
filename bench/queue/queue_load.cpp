// The clients of the queue whom queue_http_bench lets loose on a host: one thread, many
// connections, so that the host has most of the machine. Prints one line for what it measured.
//
//   queue_load <port> <token> open <rate> <seconds>       asks so often, whatever the answers take
//   queue_load <port> <token> closed <clients> <seconds>  each asks again as soon as it has
//   released queue_load <port> <token> line <requests> <teams>     asks until so many wait, then
//   releases one
//                                                         lease after the other; the rest waits on
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdexcept>
#include <string>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using Steady = std::chrono::steady_clock;
using Moment = Steady::time_point;

constexpr std::size_t most_connections = 512;

double milliseconds_since(Moment start) {
  return std::chrono::duration<double, std::milli>(Steady::now() - start).count();
}

struct Times {
  std::vector<double> all = {};  // milliseconds

  std::string text() {
    if (all.empty()) return "none";
    std::ranges::sort(all);
    const auto at = [&](double share) {
      return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
    };
    char line[128];
    (void)std::snprintf(line, sizeof line, "p50 %.2f ms  p99 %.2f ms  p99.9 %.2f ms  most %.2f ms",
                        at(0.5), at(0.99), at(0.999), all.back());
    return line;
  }
};

struct Host {
  int port = 0;
  std::string token = {};

  std::string call(const std::string& method, const std::string& path,
                   const std::string& body = {}) const {
    return method + " /api/muster/v1/" + path +
           " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\nAuthorization: Bearer " +
           token +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }
};

struct Answer {
  int status = 0;
  std::string body = {};

  std::string text(const std::string& key) const {
    const std::string before = "\"" + key + "\":\"";
    const auto at = body.find(before);
    if (at == std::string::npos) return {};
    const auto from = at + before.size();
    return body.substr(from, body.find('"', from) - from);
  }
};

// A connection on which one call is answered after the other.
class Connection {
 public:
  using Then = std::function<void(const Answer&)>;

  Connection(int epoll, int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int one = 1;
    (void)::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("the host does not listen");
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = this;
    (void)::epoll_ctl(epoll, EPOLL_CTL_ADD, socket_, &event);
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void send(const std::string& text, Then then) {
    then_ = std::move(then);
    for (std::size_t sent = 0; sent < text.size();) {
      const auto done = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (done <= 0) throw std::runtime_error("the host has closed a connection");
      sent += static_cast<std::size_t>(done);
    }
  }

  // What has arrived; calls what was given with the call if that is the whole answer.
  void receive() {
    char bytes[16 * 1024];
    const auto got = ::recv(socket_, bytes, sizeof bytes, 0);
    if (got <= 0) throw std::runtime_error("the host has closed a connection");
    received_.append(bytes, static_cast<std::size_t>(got));
    const auto end = received_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const auto length = received_.find("Content-Length: ");
    if (length == std::string::npos || length > end)
      throw std::runtime_error("an answer without its length: " + received_);
    const std::size_t size = end + 4 + std::strtoull(received_.c_str() + length + 16, nullptr, 10);
    if (received_.size() < size) return;
    const Answer answer{std::atoi(received_.c_str() + 9), received_.substr(end + 4)};
    received_.clear();
    const Then then = std::exchange(then_, {});
    then(answer);
  }

 private:
  int socket_;
  std::string received_ = {};
  Then then_ = {};
};

// Calls the host on as many connections as are needed at once.
class Clients {
 public:
  explicit Clients(Host host) : host_(std::move(host)), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  ~Clients() { ::close(epoll_); }
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  Connection* connect() {
    connections_.push_back(std::make_unique<Connection>(epoll_, host_.port));
    return connections_.back().get();
  }

  void call(const std::string& method, const std::string& path, const std::string& body,
            Connection::Then then) {
    Connection* connection = nullptr;
    if (!idle_.empty()) {
      connection = idle_.back();
      idle_.pop_back();
    } else if (connections_.size() < most_connections) {
      connection = connect();
    } else {
      later_.push_back({method, path, body, std::move(then)});
      return;
    }
    ++running_;
    connection->send(host_.call(method, path, body), [=, this](const Answer& answer) {
      --running_;
      idle_.push_back(connection);
      then(answer);
      if (later_.empty() || idle_.empty()) return;
      const Call next = std::move(later_.front());
      later_.pop_front();
      call(next.method, next.path, next.body, next.then);
    });
  }

  // Handles what arrives until then.
  void wait_until(Moment until) {
    epoll_event events[64];
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Steady::now());
    const std::int64_t nanoseconds = std::max<std::int64_t>(left.count(), 0);
    const timespec at_most{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
    const int count = ::epoll_pwait2(epoll_, events, 64, &at_most, nullptr);
    for (int i = 0; i < count; ++i) static_cast<Connection*>(events[i].data.ptr)->receive();
  }

  bool busy() const { return running_ > 0 || !later_.empty(); }
  const Host& host() const { return host_; }

 private:
  struct Call {
    std::string method, path, body;
    Connection::Then then;
  };
  Host host_;
  int epoll_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> idle_;
  std::deque<Call> later_;
  std::size_t running_ = 0;
};

std::string requests_of(std::size_t team) {
  return "teams/team-" + std::to_string(team) + "/requests";
}

// Somebody who asks for a worker and releases it as soon as it is granted.
class Asking {
 public:
  explicit Asking(Clients& clients) : clients_(clients) {}

  void ask(Moment start, const std::function<void()>& released = {}) {
    const std::string requests = requests_of(asked_++ % 100);
    const std::string body = R"({"token":")" + std::to_string(asked_) + R"("})";
    clients_.call("POST", requests, body, [=, this](const Answer& answer) {
      if (answer.text("state") != "held") return void(++not_held_);
      grants_.all.push_back(milliseconds_since(start));
      const auto from = Steady::now();
      clients_.call("DELETE", requests + "/" + answer.text("requestId"), "",
                    [=, this](const Answer& gone) {
                      if (gone.status >= 300) ++not_held_;
                      releases_.all.push_back(milliseconds_since(from));
                      if (released) released();
                    });
    });
  }

  void print(double seconds) {
    std::printf("%.0f grants/s   request to grant %s   release %s   %zu not granted\n",
                static_cast<double>(grants_.all.size()) / seconds, grants_.text().c_str(),
                releases_.text().c_str(), not_held_);
  }

 private:
  Clients& clients_;
  std::size_t asked_ = 0, not_held_ = 0;
  Times grants_, releases_;
};

// What is late because the host is counts as the host's time.
void open_loop(Clients& clients, double rate, double seconds) {
  Asking asking(clients);
  const auto start = Steady::now();
  const auto count = static_cast<std::size_t>(rate * seconds);
  for (std::size_t i = 0; i < count; ++i) {
    const Moment due = start + std::chrono::duration_cast<Steady::duration>(
                                   std::chrono::duration<double>(static_cast<double>(i) / rate));
    while (Steady::now() < due) clients.wait_until(due);
    asking.ask(due);
  }
  while (clients.busy()) clients.wait_until(Steady::now() + std::chrono::seconds(1));
  asking.print(milliseconds_since(start) / 1000);
}

void closed_loop(Clients& clients, std::size_t count, double seconds) {
  Asking asking(clients);
  const auto start = Steady::now();
  const std::function<void()> again = [&] {
    if (milliseconds_since(start) < seconds * 1000) asking.ask(Steady::now(), again);
  };
  for (std::size_t i = 0; i < count; ++i) again();
  while (clients.busy()) clients.wait_until(Steady::now() + std::chrono::seconds(1));
  asking.print(milliseconds_since(start) / 1000);
}

constexpr std::size_t released_of_line = 500;

using Numbers = std::map<std::size_t, std::deque<std::string>>;  // of requests, by team

void fill(Clients& clients, std::size_t count, std::size_t teams, Numbers& held, Numbers& waiting) {
  std::size_t asked = 0;
  const std::function<void()> next = [&] {
    if (asked == count) return;
    const std::size_t team = asked++ % teams;
    clients.call("POST", requests_of(team), R"({"heartbeatSeconds":86400})",
                 [&, team](const Answer& answer) {
                   (answer.text("state") == "held" ? held : waiting)[team].push_back(
                       answer.text("requestId"));
                   next();
                 });
  };
  const auto start = Steady::now();
  for (int i = 0; i < 64; ++i) next();
  while (clients.busy()) clients.wait_until(Steady::now() + std::chrono::seconds(1));
  std::size_t granted = 0;
  for (const auto& [team, numbers] : held) granted += numbers.size();
  std::printf("%.0f requests/s, %zu of them granted at once\n",
              static_cast<double>(count) / milliseconds_since(start) * 1000, granted);
}

// Somebody waits for the first request of each team. Who is granted next tells his time.
void releases(Clients& clients, Numbers& held, Numbers& waiting) {
  Times times;
  Moment released{};
  std::map<std::size_t, Connection*> waiters;
  std::deque<std::pair<std::size_t, std::string>> leases;
  for (const auto& [team, numbers] : held)
    for (const std::string& number : numbers) leases.emplace_back(team, number);
  const std::function<void(std::size_t)> wait = [&](std::size_t team) {
    const std::string& number = waiting[team].front();
    waiters[team]->send(clients.host().call("GET", requests_of(team) + "/" + number + "?wait=55"),
                        [&, team](const Answer& answer) {
                          if (answer.text("state") == "held") {
                            times.all.push_back(milliseconds_since(released));
                            leases.emplace_back(team, waiting[team].front());
                            waiting[team].pop_front();
                          }
                          if (!waiting[team].empty()) wait(team);
                        });
  };
  for (const auto& [team, numbers] : waiting) {
    waiters[team] = clients.connect();
    wait(team);
  }
  for (std::size_t i = 0; i < released_of_line; ++i) {
    const auto [team, number] = leases.front();
    leases.pop_front();
    const std::size_t before = times.all.size();
    // Clients that were answered have asked again by then.
    for (const Moment calm = Steady::now() + std::chrono::milliseconds(5); Steady::now() < calm;)
      clients.wait_until(calm);
    released = Steady::now();
    clients.call("DELETE", requests_of(team) + "/" + number, "", [](const Answer&) {});
    while (times.all.size() == before) clients.wait_until(released + std::chrono::seconds(1));
  }
  std::printf("release to the next one's answer %s\n", times.text().c_str());
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() != 5) throw std::runtime_error("see the head of queue_load.cpp");
  Clients clients({std::stoi(arguments[0]), arguments[1]});
  const std::string& mode = arguments[2];
  const std::size_t count = std::stoull(arguments[3]), other = std::stoull(arguments[4]);
  if (mode == "open") open_loop(clients, static_cast<double>(count), static_cast<double>(other));
  if (mode == "closed") closed_loop(clients, count, static_cast<double>(other));
  if (mode == "line") {
    Numbers held, waiting;
    fill(clients, count, other, held, waiting);
    if (!held.empty()) releases(clients, held, waiting);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run({argv + 1, argv + argc});
} catch (const std::exception& error) {
  std::fprintf(stderr, "queue_load: %s\n", error.what());
  return 1;
}

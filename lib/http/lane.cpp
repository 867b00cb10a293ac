#include "lib/http/lane.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sys/random.h>
#include <time.h>
#include <vector>

#include "lib/http/connection.hpp"

namespace muster::http {

using namespace std::chrono_literals;

// Long enough to gather what a busy stream has to say into one write, too short for people to see.
constexpr auto stream_tick = 20ms;

namespace {

template <class Number>
Number random_number() {
  Number number = 0;
  [[maybe_unused]] const auto got = ::getrandom(&number, sizeof number, 0);
  return number;
}

std::string random_prefix() {
  char text[16];
  std::snprintf(text, sizeof text, "%08x-", random_number<std::uint32_t>());
  return text;
}

}  // namespace

Shared::Shared(const ServerSettings& given, const Router& routes, const Clock& time, Log lines)
    : settings(given),
      router(&routes),
      clock(time),
      log(std::move(lines)),
      id_prefix(random_prefix()),
      peers(given.peers, 2 * std::size_t(given.max_connections) + 1024),
      bodies(std::make_shared<BodyBudget>(given.bodies)) {
  proxies.set(given.trusted_proxies);
}

void TrustedProxies::set(Networks proxies) {
  auto next = std::make_shared<const Networks>(std::move(proxies));
  const std::lock_guard guard(mutex_);
  any_ = !next->empty();
  proxies_ = std::move(next);
}

std::shared_ptr<const Networks> TrustedProxies::get() const {
  if (!any_.load(std::memory_order_relaxed)) return nullptr;
  const std::lock_guard guard(mutex_);
  return proxies_;
}

bool TrustedProxies::contain(const Address& address) const {
  const auto now = get();
  return now && now->contain(address);
}

void Shared::tell_if_drained() {
  if (draining && !accepting && open == 0 && !told_drained.exchange(true)) on_drained();
}

Lane::Lane(std::size_t number, std::shared_ptr<Shared> all)
    : shared(std::move(all)),
      number_(number),
      work_(io.get_executor()),
      sweep_timer_(io),
      stream_timer_(io) {
  random_ = random_number<std::uint64_t>();
  const ServerSettings& s = shared->settings;
  const auto shortest =
      std::min({s.header_timeout, s.body_timeout, s.write_timeout, s.idle_timeout});
  sweep_interval_ =
      std::clamp(shortest / 4, std::chrono::milliseconds(5ms), std::chrono::milliseconds(1000ms));
}

void Lane::start() {
  traffic.routes = std::vector<RouteTraffic>(
      std::max(shared->router.load()->size(), shared->settings.most_routes) + 1);
  thread_ = std::thread([this] {
    sweep();
    io.run();
  });
}

void Lane::join() {
  if (thread_.joinable()) thread_.join();
}

void Lane::adopt(std::unique_ptr<Transport> transport, std::unique_ptr<Seat> seat) {
  if (!work_.owns_work()) {  // stopped while it was on its way here
    --shared->open;
    return;
  }
  const auto connection =
      std::make_shared<Connection>(shared_from_this(), std::move(transport), std::move(seat));
  traffic.accepted.add();
  connections_.insert(connection);
  connection->start();
  if (shared->draining) connection->drain();
}

void Lane::drain() {
  const std::vector<std::shared_ptr<Connection>> now(connections_.begin(), connections_.end());
  for (const auto& connection : now) connection->drain();
}

void Lane::stop() {
  const std::vector<std::shared_ptr<Connection>> now(connections_.begin(), connections_.end());
  for (const auto& connection : now) connection->close();
  sweep_timer_.cancel();
  stream_timer_.cancel();
  work_.reset();
}

void Lane::forget(const std::shared_ptr<Connection>& connection) {
  if (streams_.erase(connection) > 0) --traffic.streams;
  if (connections_.erase(connection) == 0) return;
  --shared->open;
  shared->tell_if_drained();
}

// One timer for all connections: a timer for each would cost more than the requests.
void Lane::sweep() {
  const auto now = shared->clock.steady();
  const std::vector<std::shared_ptr<Connection>> all(connections_.begin(), connections_.end());
  for (const auto& connection : all) connection->check_deadline(now);
  sweep_timer_.expires_after(sweep_interval_);
  sweep_timer_.async_wait([this](boost::system::error_code error) {
    if (!error && work_.owns_work()) sweep();
  });
}

void Lane::add_stream(const std::shared_ptr<Connection>& connection) {
  streams_.insert(connection);
  ++traffic.streams;
  if (!std::exchange(ticking_, true)) tick();
}

void Lane::tick() {
  stream_timer_.expires_after(stream_tick);
  stream_timer_.async_wait([this](boost::system::error_code error) {
    const std::vector<std::shared_ptr<Connection>> all(streams_.begin(), streams_.end());
    for (const auto& connection : all) connection->pull_stream();
    ticking_ = !error && work_.owns_work() && !streams_.empty();
    if (ticking_) tick();
  });
}

const std::string& Lane::date() {
  const auto second = std::chrono::floor<std::chrono::seconds>(shared->clock.now());
  if (second == date_second_) return date_;
  date_second_ = second;
  const time_t time = second.time_since_epoch().count();
  tm parts{};
  ::gmtime_r(&time, &parts);
  char text[64];
  date_.assign(text, ::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts));
  return date_;
}

std::string Lane::next_request_id() {
  char digits[40];
  char* at = std::to_chars(digits, digits + 20, number_).ptr;
  *at++ = '-';
  at = std::to_chars(at, digits + sizeof digits, ++requests_).ptr;
  std::string id;
  id.reserve(shared->id_prefix.size() + sizeof digits);
  return id.append(shared->id_prefix).append(digits, at);
}

// Random enough to tell requests apart; nothing secret rests on it.
std::string Lane::new_trace_id() {
  static constexpr char hex[] = "0123456789abcdef";
  const auto next = [this] {  // splitmix64
    std::uint64_t z = (random_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  std::string id = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  std::uint64_t bits = 0;
  int left = 0;
  for (char& c : id) {
    if (c == '-' || c == '4') continue;
    if (left == 0) bits = next(), left = 16;
    c = hex[c == 'y' ? 8 + (bits & 3) : bits & 15];
    bits >>= 4;
    --left;
  }
  return id;
}

}  // namespace muster::http

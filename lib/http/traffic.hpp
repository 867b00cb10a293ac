// What a lane counts: plain numbers with one writer, added up when somebody asks. Private to this
// folder.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace muster::http {

// Written by one thread, read by any.
class Tally {
 public:
  void add(std::uint64_t more = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

struct RouteTraffic {
  // Upper bounds of the buckets of time.
  static constexpr std::array<std::uint32_t, 13> bounds{
      100,    250,    500,     1'000,   2'500,     5'000,     10'000,
      25'000, 50'000, 100'000, 500'000, 2'000'000, 10'000'000};  // microseconds
  std::array<Tally, 5> by_class;                                 // 1xx to 5xx
  std::array<Tally, bounds.size() + 1> by_time;
  Tally microseconds;

  void count(int status, std::chrono::microseconds took) {
    by_class[static_cast<std::size_t>(status < 100 || status > 599 ? 4 : status / 100 - 1)].add();
    std::size_t bucket = 0;
    while (bucket < bounds.size() && took.count() > bounds[bucket]) ++bucket;
    by_time[bucket].add();
    microseconds.add(static_cast<std::uint64_t>(took.count()));
  }
};

// Why something was not served.
enum class Refusal {
  connections,       // of all peers
  peer_connections,  // of one
  peer_requests,     // a second
  header_size,
  body_size,
  header_time,  // the head did not come in time
  body_time,
  write_time,  // the peer did not take its answer
  malformed,
  handshake,
  plain_text,   // to a port that speaks TLS
  peer_bodies,  // bytes of bodies in memory, of one peer
  all_bodies,
};
constexpr std::size_t refusals = 13;
const char* to_string(Refusal refusal);

struct Traffic {
  std::vector<RouteTraffic> routes;  // as the router numbers them; the last one: of no route
  std::array<Tally, refusals> refused;
  Tally accepted, received_bytes, sent_bytes;
  std::atomic<std::uint64_t> streams = 0;

  void refuse(Refusal refusal) { refused[static_cast<std::size_t>(refusal)].add(); }
};

}  // namespace muster::http

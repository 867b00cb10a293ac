// Capacity, demand and cost of the fleet and of each pool over time, in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <muster/context.hpp>

namespace muster::history {

// Of a pool, or of all of them, at one time. Capacity, but for the price.
struct Figures {
  std::int32_t pending = 0, requested = 0, running = 0, busy = 0, draining = 0, stopping = 0;
  std::int32_t max = 0;      // what the configuration allows
  float price_per_hour = 0;  // of workers that have not stopped
  friend bool operator==(const Figures&, const Figures&) = default;
};

struct Point {
  std::uint32_t second = 0;  // of the Unix era
  Figures figures;
};

// What changed from one sample to the next.
struct Change {
  std::int64_t number = 0;  // 1, 2, 3, ...
  Time at{};
  Figures fleet;
  // Names of pools; those beyond `most_named` are only counted.
  std::vector<std::string> pools;
  std::size_t more_pools = 0;
};

// THREADS: any.
class History {
 public:
  static constexpr std::size_t most_named = 500;
  static constexpr std::chrono::seconds resolution{10};

  // Points of pools take this much together at most; the fleet has `fleet_points` besides.
  explicit History(std::size_t most_bytes = 64 << 20, std::size_t fleet_points = 2000)
      : most_points_(most_bytes / sizeof(Point)), fleet_points_(fleet_points) {}

  // How things are now. A pool that is not among them is forgotten.
  using Sample = std::vector<std::pair<std::string, Figures>>;
  void record(Time at, const Sample& pools);

  // What was recorded before this start, oldest first, before the first record(). An empty name
  // stands for the fleet.
  void restore(Time at, const Sample& changed);
  // Of the last sample, the fleet included.
  Sample latest() const;
  Time last_sample() const;  // its time

  // Oldest first, a point for each change, at most one in `resolution`; older ones are sparser. The
  // last one is how things are at the last sample. An empty name stands for the fleet; a pool that
  // is not known has none.
  std::vector<Point> series(const std::string& pool) const;

  // Those after that number, of the last ones that are kept; `number` of the newest is where to go
  // on.
  std::vector<Change> changes_after(std::int64_t number) const;
  std::int64_t newest_change() const;

  std::size_t points() const;  // of all pools

 private:
  static constexpr std::size_t most_changes = 64;

  struct Series {
    std::vector<Point> points;
    std::int64_t sample = 0;  // in which it was there last
  };
  std::size_t limit_for(std::size_t pools) const;
  // True: it is not as it was.
  bool append(Series& series, Time at, const Figures& figures, std::size_t limit);
  static void thin(std::vector<Point>& points);

  const std::size_t most_points_, fleet_points_;
  mutable std::mutex mutex_;
  std::map<std::string, Series> pools_;
  Series fleet_;
  std::int64_t samples_ = 0;
  std::uint32_t last_sample_ = 0;  // its second
  std::deque<Change> changes_;
  std::int64_t next_change_ = 1;
};

}  // namespace muster::history

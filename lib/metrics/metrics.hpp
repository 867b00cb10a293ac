// What a host counts of itself, in the text that Prometheus reads. Parts of the host either keep
// their own numbers and write them down when asked (a source), or hold a Counter or Gauge:
//
//   metrics.add_source([&](metrics::Page& page) {
//     page.gauge("muster_fleet_workers", "Workers that are not stopped", fleet.size());
//   });
//   auto dropped = metrics.counter("muster_events_dropped_total", "Events that nobody took");
//   dropped->add();
//
// Names are muster_<folder>_<what>_<unit>. Labels must have few values: no ids of workers, and
// nothing that a client or a worker can make up. A name has most_series series at most; what comes
// after them is added up in one whose labels are all `other_label`, and
// muster_metrics_left_out_series says how many those were.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::metrics {

using Labels = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::size_t most_series = 10'000;  // of one name
inline constexpr std::string_view other_label = "(other)";

struct Histogram {
  std::vector<double> bounds;         // ascending; a last bucket for all above is implied
  std::vector<std::uint64_t> counts;  // of each bucket alone, one more than bounds
  double sum = 0;
};

// What one scrape shows. The first help of a name counts. THREADS: one.
class Page {
 public:
  Page();
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  void counter(std::string_view name, std::string_view help, double value, Labels labels = {});
  void gauge(std::string_view name, std::string_view help, double value, Labels labels = {});
  void histogram(std::string_view name, std::string_view help, const Histogram& histogram,
                 Labels labels = {});
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Only grows. THREADS: any.
class Counter {
 public:
  void add(std::uint64_t more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// THREADS: any.
class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

// THREADS: any. Sources run on the thread that asks for the text, one after the other, and must not
// wait for anything nor call back.
class Metrics {
 public:
  // Until remove_source(), which waits while a page is being written.
  std::uint64_t add_source(std::function<void(Page&)> source);
  void remove_source(std::uint64_t source);

  // Shown for as long as somebody else holds it.
  std::shared_ptr<Counter> counter(std::string name, std::string help, Labels labels = {});
  std::shared_ptr<Gauge> gauge(std::string name, std::string help, Labels labels = {});

  std::string text() const;
  static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  template <class Metric>
  struct Entry {
    std::string name, help;
    Labels labels;
    std::shared_ptr<Metric> metric;
  };
  mutable std::mutex mutex_;
  std::uint64_t last_source_ = 0;
  std::vector<std::pair<std::uint64_t, std::function<void(Page&)>>> sources_;
  mutable std::vector<Entry<Counter>> counters_;
  mutable std::vector<Entry<Gauge>> gauges_;
};

// Processor time, memory, open files, start: under the names that every dashboard knows.
void write_process_metrics(Page& page);

}  // namespace muster::metrics

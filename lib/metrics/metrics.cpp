#include "lib/metrics/metrics.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sstream>

#include <muster/utf8.hpp>

namespace muster::metrics {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

namespace {

void add_to(ClientMetric::Histogram& sum, std::vector<ClientMetric::Bucket> buckets,
            std::uint64_t count, double total) {
  if (sum.bucket.empty())
    sum.bucket = std::move(buckets);
  else
    for (std::size_t i = 0; i < std::min(sum.bucket.size(), buckets.size()); ++i)
      sum.bucket[i].cumulative_count += buckets[i].cumulative_count;
  sum.sample_count += count;
  sum.sample_sum += total;
}

}  // namespace

struct Page::Impl {
  struct Rest {
    std::size_t series = 0;
    ClientMetric sum = {};
  };
  std::vector<MetricFamily> families;
  std::map<std::string, std::size_t, std::less<>> places;
  std::map<std::size_t, Rest> rests;  // beside families: what was left out

  // Values are added to it: it may be that of the rest.
  ClientMetric& add(std::string_view name, std::string_view help, MetricType type,
                    Labels&& labels) {
    auto place = places.find(name);
    if (place == places.end()) {
      place = places.emplace(std::string(name), families.size()).first;
      families.push_back({std::string(name), std::string(help), type, {}});
    }
    MetricFamily& family = families[place->second];
    if (family.metric.size() >= most_series) {
      Rest& rest = rests[place->second];
      if (rest.series++ == 0)
        for (auto& [label, value] : labels)
          rest.sum.label.push_back({std::move(label), std::string(other_label)});
      return rest.sum;
    }
    ClientMetric& metric = family.metric.emplace_back();
    for (auto& [label, value] : labels)
      metric.label.push_back({std::move(label), valid_utf8(value)});
    return metric;
  }
};

Page::Page() : impl_(std::make_unique<Impl>()) {}
Page::~Page() = default;

void Page::counter(std::string_view name, std::string_view help, double value, Labels labels) {
  impl_->add(name, help, MetricType::Counter, std::move(labels)).counter.value += value;
}

void Page::gauge(std::string_view name, std::string_view help, double value, Labels labels) {
  impl_->add(name, help, MetricType::Gauge, std::move(labels)).gauge.value += value;
}

void Page::histogram(std::string_view name, std::string_view help, const Histogram& histogram,
                     Labels labels) {
  std::vector<ClientMetric::Bucket> buckets;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    sum += histogram.counts[i];
    buckets.push_back({sum, i < histogram.bounds.size() ? histogram.bounds[i]
                                                        : std::numeric_limits<double>::infinity()});
  }
  add_to(impl_->add(name, help, MetricType::Histogram, std::move(labels)).histogram,
         std::move(buckets), sum, histogram.sum);
}

std::string Page::text() const {
  std::ostringstream out;
  if (impl_->rests.empty()) {
    prometheus::TextSerializer().Serialize(out, impl_->families);
  } else {
    auto families = impl_->families;
    MetricFamily left_out{"muster_metrics_left_out_series",
                          "Series of a metric that are shown as one, because it has too many",
                          MetricType::Gauge,
                          {}};
    for (const auto& [place, rest] : impl_->rests) {
      families[place].metric.push_back(rest.sum);
      ClientMetric& count = left_out.metric.emplace_back();
      count.label.push_back({"metric", families[place].name});
      count.gauge.value = static_cast<double>(rest.series);
    }
    families.push_back(std::move(left_out));
    prometheus::TextSerializer().Serialize(out, families);
  }
  return std::move(out).str();
}

std::uint64_t Metrics::add_source(std::function<void(Page&)> source) {
  const std::lock_guard guard(mutex_);
  sources_.emplace_back(++last_source_, std::move(source));
  return last_source_;
}

void Metrics::remove_source(std::uint64_t source) {
  const std::lock_guard guard(mutex_);
  std::erase_if(sources_, [&](const auto& known) { return known.first == source; });
}

std::shared_ptr<Counter> Metrics::counter(std::string name, std::string help, Labels labels) {
  const std::lock_guard guard(mutex_);
  counters_.push_back(
      {std::move(name), std::move(help), std::move(labels), std::make_shared<Counter>()});
  return counters_.back().metric;
}

std::shared_ptr<Gauge> Metrics::gauge(std::string name, std::string help, Labels labels) {
  const std::lock_guard guard(mutex_);
  gauges_.push_back(
      {std::move(name), std::move(help), std::move(labels), std::make_shared<Gauge>()});
  return gauges_.back().metric;
}

std::string Metrics::text() const {
  Page page;
  const std::lock_guard guard(mutex_);
  const auto is_dropped = [](const auto& entry) { return entry.metric.use_count() == 1; };
  std::erase_if(counters_, is_dropped);
  std::erase_if(gauges_, is_dropped);
  for (const auto& entry : counters_)
    page.counter(entry.name, entry.help, static_cast<double>(entry.metric->value()), entry.labels);
  for (const auto& entry : gauges_)
    page.gauge(entry.name, entry.help, entry.metric->value(), entry.labels);
  for (const auto& [number, source] : sources_) source(page);
  return page.text();
}

}  // namespace muster::metrics

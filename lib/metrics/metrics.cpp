#include "lib/metrics/metrics.hpp"

#include <limits>
#include <map>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sstream>

namespace muster::metrics {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Page::Impl {
  std::vector<MetricFamily> families;
  std::map<std::string, std::size_t, std::less<>> places;

  ClientMetric& add(std::string_view name, std::string_view help, MetricType type,
                    Labels&& labels) {
    auto place = places.find(name);
    if (place == places.end()) {
      place = places.emplace(std::string(name), families.size()).first;
      families.push_back({std::string(name), std::string(help), type, {}});
    }
    ClientMetric& metric = families[place->second].metric.emplace_back();
    for (auto& [label, value] : labels)
      metric.label.push_back({std::move(label), std::move(value)});
    return metric;
  }
};

Page::Page() : impl_(std::make_unique<Impl>()) {}
Page::~Page() = default;

void Page::counter(std::string_view name, std::string_view help, double value, Labels labels) {
  impl_->add(name, help, MetricType::Counter, std::move(labels)).counter.value = value;
}

void Page::gauge(std::string_view name, std::string_view help, double value, Labels labels) {
  impl_->add(name, help, MetricType::Gauge, std::move(labels)).gauge.value = value;
}

void Page::histogram(std::string_view name, std::string_view help, const Histogram& histogram,
                     Labels labels) {
  auto& made = impl_->add(name, help, MetricType::Histogram, std::move(labels)).histogram;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    sum += histogram.counts[i];
    made.bucket.push_back({sum, i < histogram.bounds.size()
                                    ? histogram.bounds[i]
                                    : std::numeric_limits<double>::infinity()});
  }
  made.sample_count = sum;
  made.sample_sum = histogram.sum;
}

std::string Page::text() const {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, impl_->families);
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

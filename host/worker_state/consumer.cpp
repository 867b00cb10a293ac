#include "host/worker_state/consumer.hpp"

#include <algorithm>

namespace muster::worker_state {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds first_delay = 500ms, longest_delay = 30s;

}  // namespace

Consumer::Consumer(Parts parts) : parts_(std::move(parts)) {
  status_.url = parts_.settings.url;
  status_.queue = parts_.settings.name;
}

SteadyTime Consumer::step() {
  const SteadyTime now = parts_.clock->steady();
  if (!connected_) {
    if (now < not_before_) return not_before_;
    if (const auto opened = connect(); !opened) return fail(opened.error().message);
  }
  for (const auto part : {&Consumer::update_bindings, &Consumer::receive, &Consumer::acknowledge})
    if (const auto done = (this->*part)(); !done) return fail(done.error().message);
  return now + parts_.settings.heartbeat / 2;
}

Result<void> Consumer::connect() {
  std::set<std::string> wanted;
  {
    const std::lock_guard guard(mutex_);
    wanted = wanted_;
  }
  const auto opened = parts_.link->open({wanted.begin(), wanted.end()});
  if (!opened) return opened.error();
  connected_ = true;
  bound_ = std::move(wanted);
  progress_ = std::make_shared<Progress>();
  acknowledged_ = 0;
  parts_.log.info("messages about task runs are consumed",
                  {{"url", parts_.settings.url}, {"queue", parts_.settings.name}});
  {
    const std::lock_guard guard(mutex_);
    status_.connected = true;
    ++status_.connections;
    status_.gaps += *opened;
    status_.bindings = bound_.size();
    status_.problem.clear();
    status_.problem_at.reset();
    status_.retry_at.reset();
  }
  if (*opened && parts_.missed) parts_.missed();
  return {};
}

SteadyTime Consumer::fail(const std::string& problem) {
  parts_.link->close();
  connected_ = false;
  const int doubled = std::min(failures_++, 10);
  const milliseconds longest = std::min<milliseconds>(longest_delay, first_delay * (1 << doubled));
  const double share = 0.5 + (parts_.random ? parts_.random() : 1) / 2;
  const milliseconds delay(static_cast<std::int64_t>(static_cast<double>(longest.count()) * share));
  not_before_ = parts_.clock->steady() + delay;
  const std::lock_guard guard(mutex_);
  if (status_.problem != problem)
    parts_.log.warning("messages about task runs cannot be consumed", {{"problem", problem}});
  status_.connected = false;
  status_.problem = problem;
  status_.problem_at = parts_.clock->now();
  status_.retry_at = parts_.clock->now() + delay;
  return not_before_;
}

Result<void> Consumer::update_bindings() {
  std::set<std::string> wanted;
  {
    const std::lock_guard guard(mutex_);
    wanted = wanted_;
  }
  if (wanted == bound_ && unwanted_.empty()) return {};
  for (const std::string& key : wanted)
    if (!bound_.contains(key))
      if (auto bound = parts_.link->bind(key); !bound) return bound;
  std::ranges::copy_if(bound_, std::inserter(unwanted_, unwanted_.end()),
                       [&](const std::string& key) { return !wanted.contains(key); });
  for (const std::string& key : unwanted_)
    if (!wanted.contains(key))
      if (auto unbound = parts_.link->unbind(key); !unbound) return unbound;
  unwanted_.clear();
  bound_ = std::move(wanted);
  const std::lock_guard guard(mutex_);
  status_.bindings = bound_.size();
  return {};
}

Result<void> Consumer::receive() {
  for (;;) {
    auto deliveries = parts_.link->receive();
    if (!deliveries) return deliveries.error();
    if (deliveries->empty()) return {};
    failures_ = 0;
    {
      const std::lock_guard guard(mutex_);
      status_.received += static_cast<std::int64_t>(deliveries->size());
      status_.redelivered += std::ranges::count_if(*deliveries, &Delivery::redelivered);
      status_.last_message = parts_.clock->now();
    }
    const std::uint64_t last = deliveries->back().number;
    // Batches become durable in their order.
    parts_.take(std::move(*deliveries), [progress = progress_, last, wake = parts_.wake] {
      progress->durable = last;
      wake();
    });
  }
}

Result<void> Consumer::acknowledge() {
  const std::uint64_t durable = progress_->durable;
  if (durable == acknowledged_) return {};
  if (auto done = parts_.link->acknowledge(durable); !done) return done;
  const std::lock_guard guard(mutex_);
  status_.acknowledged += static_cast<std::int64_t>(durable - acknowledged_);
  acknowledged_ = durable;
  return {};
}

void Consumer::set_pools(const std::vector<WorkerPoolId>& pools) {
  {
    const std::lock_guard guard(mutex_);
    wanted_.clear();
    for (const WorkerPoolId& pool : pools) wanted_.insert(binding_of(pool));
  }
  parts_.wake();
}

void Consumer::unwanted(const WorkerPoolId& pool) {
  unwanted_.insert(binding_of(pool));
}

ConsumerStatus Consumer::status() const {
  const std::lock_guard guard(mutex_);
  return status_;
}

}  // namespace muster::worker_state

#include "host/registration/identity_checks.hpp"

#include <deque>
#include <unordered_map>

#include "lib/http/worker_threads.hpp"

namespace muster::registration {
namespace {

constexpr std::size_t calls_at_once = 4;  // of one provider
// After a restart a whole fleet registers at once. Strangers and workers are counted apart.
constexpr std::size_t most_known = 1000, most_strangers = 500;

}  // namespace

// What waits for one provider. THREADS: any.
class IdentityChecks::Line {
 public:
  using Work = std::function<void()>;

  explicit Line(const Log& log) : threads_(calls_at_once, most_known + most_strangers, log) {}

  bool run(const Turn& turn, Work work) {
    {
      const std::lock_guard lock(mutex_);
      std::size_t& waiting = turn.known ? known_ : strangers_;
      if (waiting >= (turn.known ? most_known : most_strangers)) return false;
      const auto [entry, added] = waiting_.try_emplace(turn.who);
      if (entry->second.size() >= turn.most) return false;
      if (added) turns_.push_back(turn.who);
      entry->second.push_back({std::move(work), turn.known});
      ++waiting;
    }
    return threads_.run([this] { serve_next(); });
  }

 private:
  struct Entry {
    Work work;
    bool known;
  };

  void serve_next() {
    Work work;
    {
      const std::lock_guard lock(mutex_);
      if (turns_.empty()) return;
      const auto next = waiting_.find(turns_.front());
      turns_.pop_front();
      Entry& entry = next->second.front();
      --(entry.known ? known_ : strangers_);
      work = std::move(entry.work);
      next->second.pop_front();
      if (next->second.empty())
        waiting_.erase(next);
      else
        turns_.push_back(next->first);
    }
    work();
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::deque<Entry>> waiting_;  // by who
  std::deque<std::string> turns_;                               // who is next
  std::size_t known_ = 0, strangers_ = 0;
  http::WorkerThreads threads_;  // last: they use the others
};

IdentityChecks::IdentityChecks(Identify identify, Log log)
    : identify_(std::move(identify)), log_(std::move(log)) {}

IdentityChecks::~IdentityChecks() = default;

void IdentityChecks::stop() {
  std::map<ProviderId, std::unique_ptr<Line>> lines;
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  lines.swap(lines_);
}

bool IdentityChecks::run(const ProviderId& provider, const Turn& turn,
                         std::function<void(const Identify&)> check) {
  // Under the lock, so that no thread of a line ever owns it: the owner joins its threads.
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  auto& line = lines_[provider];  // of configured providers only, so they are few
  if (!line) line = std::make_unique<Line>(log_);
  return line->run(turn, [this, check = std::move(check)] { check(identify_); });
}

}  // namespace muster::registration

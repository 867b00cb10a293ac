// Drives a fleet as a host does: inputs, settle, make durable, only then ask; on a fake clock, with
// clouds and a strategy that tests can bend. It can crash and start again from its store at any
// point. After every step it checks that the sums are right, that limits hold, and that nothing was
// asked that was not durable.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/fleet/fleet.hpp"
#include "host/store/memory_store.hpp"
#include "tests/unit/host/fleet/fake_cloud.hpp"

namespace muster::fleet {

// One launch configuration for a test; the id is the name.
struct LaunchSketch {
  std::string id;
  std::string provider = "cloud";
  std::string zone = "a";
  std::string type = "m5";
  std::int64_t capacity = 1;
  std::optional<std::int64_t> max_capacity = {};
  json::object document = {{"image", "one"}};
  json::object worker_config = {{"version", 1}};
  double initial_weight = 1;
};

struct PoolSketch {
  std::string id;
  std::vector<LaunchSketch> launch_configs;
  std::int64_t max_capacity = 100;
  std::int64_t min_capacity = 0;
  Lifecycle lifecycle = {};
  std::string origin = "builds.toml";
  std::string strategy = {};
};

std::shared_ptr<const PoolSpec> make_spec(const PoolSketch& sketch);

class FleetDriver {
 public:
  explicit FleetDriver(Settings settings = {});

  Fleet& fleet() { return *fleet_; }
  store::MemoryStore& store() { return *store_; }
  FakeCloud& cloud(const std::string& id = "cloud");
  Now now() const { return {wall_, steady_}; }
  Time wall() const { return wall_; }

  // Inputs; each settles until nothing is left to do at this time.
  void configure(const std::vector<PoolSketch>& pools);
  void provider_up(const std::string& id = "cloud", ProviderSettings settings = {},
                   FieldClasses classes = {});
  void provider_down(const std::string& id = "cloud");
  void demand(const std::string& pool, std::int64_t pending);
  void demand(const std::map<std::string, std::int64_t>& pending);
  Result<Registered> register_worker(const std::string& worker_id);
  void register_all();  // every worker that has not
  Result<void> active(const std::string& worker_id, std::int64_t busy);
  WorkerName name(const std::string& worker_id) const;
  void settle();

  // Time passes: the fleet is settled whenever it asked to be.
  void advance(std::chrono::milliseconds by);
  void jump_clock(std::chrono::milliseconds by) { wall_ += by; }
  // Time passes in which the host hears nobody and decides nothing.
  void freeze(std::chrono::milliseconds by);

  // The host dies here and now, and another starts from what was durable. Providers are not up and
  // nothing is configured until somebody says so.
  void crash();
  void crash_into(std::shared_ptr<store::MemoryStore> store);
  // The usual order of a start: what was configured last, then the providers that were up.
  void start_again();

  // Bending.
  std::function<Result<Size>(const SizeRequest&)> size = {};
  std::function<Result<Selection>(const SelectRequest&)> select = {};
  std::function<bool(const Question&)> withhold = {};  // kept in `withheld` instead of answered
  std::vector<Question> withheld = {};
  void answer(const Question& question);  // as the cloud or strategy would
  template <class Result>
  void answer(const Question& question, Result result) {
    fleet_->answered({question.call_id, std::move(result)}, now());
    settle();
  }
  std::vector<Question> take_withheld() { return std::exchange(withheld, {}); }

  // Looking.
  const Pool& pool(const std::string& id) const;
  const Worker* worker(const std::string& worker_id) const;
  const Worker* by_number(std::int64_t number) const;
  const LaunchConfigState* launch_config(const std::string& id) const;
  std::vector<const Worker*> workers(WorkerState state) const;
  std::vector<DecisionRow> journal(const std::string& pool, const std::string& kind = {}) const;
  std::vector<PoolErrorRow> errors() const;
  std::size_t rows(const std::string& table) const;
  int asked_for_size = 0;
  std::vector<SizeRequest> size_requests = {};
  std::vector<SelectRequest> select_requests = {};
  const Sha256 secret = sha256("a secret of all workers");
  std::vector<events::Event> events = {};
  std::map<ProviderId, std::int64_t> provider_limits = {};
  bool providers_announce = true;  // what those that come up say of themselves

 private:
  void step();
  void check();
  void check_durable(const Question& question);
  Answer answer_to(const Question& question);

  int answered_ = 0;
  Settings settings_;
  Time wall_;
  std::chrono::milliseconds steady_{std::chrono::hours(1)};
  std::shared_ptr<store::MemoryStore> store_ = std::make_shared<store::MemoryStore>();
  std::unique_ptr<Fleet> fleet_;
  std::map<std::string, FakeCloud> clouds_;
  std::shared_ptr<const Configuration> configuration_;
  std::map<std::string, ProviderUp> up_;
  std::map<std::string, std::int64_t> demand_;
};

template <class Ask>
bool asks(const Question& question) {
  return std::holds_alternative<Ask>(question.ask);
}

// A pool with one launch configuration of capacity one, a provider that is up, and a clock that is
// past the grace of the start.
FleetDriver simple_fleet(PoolSketch sketch = {.id = "p/w", .launch_configs = {{"lc-1"}}},
                         Settings settings = {});
// The same for days: it looks at itself and asks its provider only once in an hour.
FleetDriver unhurried_fleet();

}  // namespace muster::fleet

// How long workers take to start and how long they are leased, for those who ask when one comes.
#pragma once

#include "host/fleet/workers/stage.hpp"

namespace muster::fleet {

class Measurements : Stage {
 public:
  explicit Measurements(const StageContext& context) : Stage(context) {}

  // It registers now. `since` is when its instance was known.
  void measure_start(const Worker& worker);
  void measure_lease(const Worker& worker, std::chrono::milliseconds lasted);

  // Not more often than once a minute.
  void write_rows(store::Batch& out);
  void write_everything(store::Batch& out) const;
  Result<void> load(const store::Store& store);

 private:
  template <class Add>
  void measure(const Worker& worker, const Add& add);
  TimesRow row_of(const LaunchConfigState& launch_config) const;

  std::vector<Index> dirty_;  // launch configurations
  Time written_{};
};

}  // namespace muster::fleet

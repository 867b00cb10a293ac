// Workers that the host does not launch: machines that their owner or their provider declares.
#pragma once

#include <string>

#include "host/fleet/lifecycle/termination.hpp"
#include "host/fleet/model/registration.hpp"

namespace muster::fleet {

class DeclaredMachines : Stage {
 public:
  DeclaredMachines(const StageContext& context, WorkerTermination& termination)
      : Stage(context), termination_(termination) {}

  // By its owner: see Fleet::declare_worker and Fleet::update_declared_worker.
  Result<void> declare(const DeclaredWorker& declared);
  Result<void> update(const DeclaredWorker& declared);
  // By its provider, when it registers. One that is declared already stays as it is.
  Result<void> admit(Index provider, const WorkerName& name, const Admission& admission);

  // A machine that was not there, or has ended. It is absent until it registers.
  Index add(Worker worker, const WorkerName& name, Index launch_config);
  void describe(Index worker, std::int32_t capacity, std::string provider_data);

 private:
  WorkerTermination& termination_;
};

// At least one, and not more than any machine has.
std::int32_t machine_capacity(std::int64_t capacity);

}  // namespace muster::fleet

// The project's quotas by region: how many machines still fit, before anybody offers them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plugins/cloud/machines/machine.hpp"
#include "plugins/provider/google/api.hpp"

namespace muster::google {

// What one machine counts for: {"N2_CPUS": 8, "INSTANCES": 1, "DISKS_TOTAL_GB": 50}. Of a spot
// machine `preemptible` counts instead of the family's where the project has it.
struct Needs {
  std::map<std::string, double> metrics;
  std::string family_metric;  // "N2_CPUS"; empty: not known
  double processors = 0;
};
Needs needs_of(const cloud::Machine& machine);

// Asks at most once a minute for a region. What was launched since then is debited, because Google
// counts it late. THREADS: one at a time.
class Quotas {
 public:
  explicit Quotas(Api& api) : api_(api) {}

  // How many machines fit; nothing if Google does not say. `quota` names the metric and its limit.
  Result<std::optional<std::int64_t>> room(const cloud::Machine& machine, const Context& context);
  void debit(const cloud::Machine& machine, std::int64_t count, Time now);

 private:
  struct Quota {
    double limit = 0, usage = 0;
  };
  struct Debit {
    std::string metric;
    double amount = 0;
    Time at{};
  };
  struct Region {
    std::map<std::string, Quota> quotas;
    std::vector<Debit> debits;
    Time ask_again{};
  };
  void refresh(const std::string& name, Region& region, const Context& context);
  static std::map<std::string, double> counted(const Needs& needs, const Region& region,
                                               bool is_spot);

  Api& api_;
  std::map<std::string, Region> regions_;
};

}  // namespace muster::google

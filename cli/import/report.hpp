// What an import did with each worker pool of Taskcluster, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include <muster/json.hpp>

namespace muster::importing {

// Something that the worker configuration does not have.
struct Loss {
  std::string launch_config = {};  // "launch configuration 3 (lc-1)"; empty: of the whole pool
  std::string path = {};           // in it, as Taskcluster spells it; empty: all of it
  std::string reason = {};         // why, and what can be done about it
};

struct PoolReport {
  std::string worker_pool_id = {};
  std::string worker_type = {};  // as it is called here
  std::string provider_id = {};  // likewise
  std::string file = {};         // its name alone; empty: there is none
  std::size_t launch_configs = 0, carried = 0;
  std::vector<Loss> losses = {};
  std::vector<std::string> decisions = {};  // what a person has to decide: sentences
  std::string refused = {};                 // why there is no file

  bool is_whole() const { return refused.empty() && losses.empty(); }
  void lose(std::string launch_config, std::string path, std::string reason);
};

struct Report {
  std::vector<PoolReport> pools = {};
  std::vector<std::string> notes = {};  // about the import as a whole

  bool is_whole() const;
  std::size_t file_count() const;
};

json::object to_json(const Report& report);
// One paragraph for each pool that needs attention, and a summary.
std::string to_text(const Report& report, bool written);

}  // namespace muster::importing

// What a worker may use of the machine. A cgroup (v2) holds all of its processes, also those that
// left its session; rlimits hold each of them alone, and cannot hold everything.
#pragma once

#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <utility>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "plugins/provider/local/settings.hpp"

namespace muster::local {

// The cgroup in which groups of workers are made: the configured one, else the one that this
// process is in if systemd says that it is ours (Delegate=yes). Empty: there is none.
std::filesystem::path cgroup_of_workers(const Settings& settings);

struct Limits {
  std::filesystem::path cgroup = {};  // the worker's own; empty: none
  std::vector<std::pair<int, rlim_t>> rlimits = {};
  json::object in_words = {};  // by what each limit is kept: {"memory": "cgroup memory.max"}
};

// Makes the worker's cgroup, if there is one for all, and sets what it can hold. A configured
// cgroup that does not work is an error; one that was found is done without.
Result<Limits> make_limits(const Section& section, const std::filesystem::path& all_workers,
                           const std::string& worker, bool configured);

// Kills what is in the group, all at once. True if the group is gone.
bool end_cgroup(const std::filesystem::path& cgroup);

}  // namespace muster::local

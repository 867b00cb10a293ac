// Where hosts agree who leads: one row that all of them see, behind an interface so that decisions
// are tested without a database.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <muster/error.hpp>

namespace muster::leadership {

struct Lead {
  std::int64_t epoch = 0;
  std::string holder = {};           // empty: nobody ever
  std::string address = {};          // where the holder serves
  std::chrono::milliseconds left{};  // by the database's clock; negative: it is over
  std::int64_t number = 0;           // of the last commit
};

struct HostEntry {
  std::string name = {}, address = {}, version = {};
  std::string problem = {};  // why it cannot lead; empty: it can
  std::chrono::milliseconds seen_ago{};
  std::string place = {};  // differs for two hosts, also for two of one name
  // How old its copy of the state is; nothing: it has none, or leads.
  std::optional<std::chrono::milliseconds> lag = {};
};

// THREADS: one at a time. Every call returns within seconds; `transient`: the table cannot be
// reached now.
class LeaseTable {
 public:
  virtual ~LeaseTable() = default;

  // Also notes that this host is there. `config`: another host of this name is.
  virtual Result<Lead> look(const HostEntry& self) = 0;
  // The new epoch, if nobody held it. Then no commit with an older epoch is possible any more.
  virtual Result<std::optional<std::int64_t>> acquire(const HostEntry& self,
                                                      std::chrono::milliseconds length) = 0;
  // False: somebody else has it.
  virtual Result<bool> renew(std::int64_t epoch, std::chrono::milliseconds length) = 0;
  // Ends it now, if it is still this one.
  virtual Result<void> release(std::int64_t epoch) = 0;
  virtual Result<std::vector<HostEntry>> hosts() = 0;
};

}  // namespace muster::leadership

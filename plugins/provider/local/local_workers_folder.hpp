// The folder of all local workers. Everything that is known of them is in it, so that any process
// that opens it later goes on where the last one stopped:
//
//   lock             held during each operation, by whichever process does it
//   owner.json       the host and provider that it belongs to, and the newest epoch seen
//   <workerId>/      0700; 0711 if workers run as another user, to whom only `work` belongs and
//                    the files that the agent writes for them
//     instance.json    what was launched; written before anything is started
//     agent.json       the agent's configuration; `secret` (0600) is what it registers with
//     lock             the agent's, for its whole life: it lives if and only if somebody holds it
//     worker.pid       the implementation's process group; written by the agent
//     output.log       what the agent printed until it was up; from then on, with what the
//                      implementation prints, it is agent.log. Of both, .1 is what was before
//     stopping.json    it was told to end, and when
//     ended.json       it is over, and why; the folder goes some time later
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <muster/provider.hpp>

#include "plugins/base/files.hpp"
#include "plugins/provider/local/settings.hpp"

namespace muster::local {

// Tells the time by which workers are stopped and forgotten.
using Clock = std::function<Time()>;

// What instance.json says.
struct Record {
  std::int64_t v = 1;
  std::string host_id;
  ProviderId provider_id;
  Instance instance;
  std::string cgroup = {};

  static constexpr auto fields(auto visit) {
    return visit(required("v", &Record::v), required("hostId", &Record::host_id),
                 required("providerId", &Record::provider_id),
                 required("instance", &Record::instance), optional("cgroup", &Record::cgroup));
  }
};

struct Seen {
  std::filesystem::path folder;
  Record record;  // its instance has the state of now
};

struct Look {
  std::vector<Seen> workers;
  std::vector<Error> problems = {};  // folders that cannot be read: what is in them is not gone
  std::int64_t alive = 0;            // stopping ones, too
  std::optional<Time> next = {};     // when somebody must be killed
};

// THREADS: one at a time; other processes may have the same folder open.
class LocalWorkersFolder {
 public:
  LocalWorkersFolder(Settings settings, Clock clock);

  const Settings& settings() const { return settings_; }
  bool there() const;  // whether the folder exists at all

  // Makes the folder if need be. Fails as `config` if others could write in it.
  Result<void> make();

  // Whether workers, who may run as another user, can reach their folders in it: `config`.
  Result<void> check_way() const;

  // Every operation below needs it.
  Result<Descriptor> enter(const Context& context) const;
  Result<std::optional<Descriptor>> try_enter() const;

  // Whether the folder is this owner's: `config` if it is another's, `invalid` if the owner was
  // superseded by a newer start of itself. With `claim`, a folder of nobody becomes its own.
  Result<void> check_owner(const Owner& owner, bool claim);

  // Looks at every worker and does what is due: a worker that outlived the grace is killed, what
  // dead agents left behind, too, and old folders go.
  Look look();

  // One for each key, in order; see Provider::allocate.
  std::vector<Launch> launch(const AllocateRequest& request, const Section& section,
                             const Context& context);

  // SIGTERM to the agent, and a note of it. Does not wait. Again: changes nothing.
  Result<void> stop(const Seen& worker, const std::string& reason);

  Error no_room() const;

  // Everything at once, without grace: the end of a temporary folder.
  void remove_all();

 private:
  struct Starting;
  enum class Phase { never_started, starting, running, over, ended };

  Phase phase_of(const std::filesystem::path& folder) const;
  std::optional<Seen> look_at(const std::filesystem::path& folder, Look& look);
  void kill_if_due(Seen& worker, Look& look);
  void end(const Seen& worker, const std::string& why);
  void forget_old(Look& look);
  void discard(const std::filesystem::path& folder, const std::string& cgroup = {});

  std::optional<Launch> known(const AllocateRequest& request, const IdempotencyKey& key,
                              const std::filesystem::path& folder);
  Result<Starting> prepare(const AllocateRequest& request, const Section& section,
                           const IdempotencyKey& key);
  Result<void> write_files(const AllocateRequest& request, const Section& section,
                           Starting& starting) const;
  Result<void> begin(Starting& starting) const;
  Result<void> finish(Starting& starting, const Context& context) const;
  json::object agent_configuration(const AllocateRequest& request, const Section& section,
                                   const Starting& starting) const;

  Settings settings_;
  Clock clock_;
  bool temporary_;
  std::filesystem::path cgroup_;
};

}  // namespace muster::local

// Keeps the fleet's configuration in step with its source and with what the providers say.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "host/pools/held_files.hpp"
#include "host/pools/source.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/folder_watch.hpp"
#include "lib/base/log.hpp"

namespace muster::pools {

// For the log, the CLI, the API and the dashboard.
struct Status {
  std::string source;
  std::string revision;  // that serves; empty: none yet
  std::optional<Time> loaded_at = {};
  std::size_t files = 0, pools = 0, launch_configs = 0;

  // The newest revision, if it does not serve or not as a whole, and why. Stays until it is fixed.
  std::string refused_revision = {};
  std::optional<Time> refused_at = {};
  rules::Problems problems = {};  // of the newest revision: errors, and warnings even if it serves
  std::vector<HeldFile> held_files = {};  // of which the newest version is not in force
  std::vector<Wait> waits =
      {};  // providers that cannot be asked; pools keep what they have of them

  // The source cannot be read, since then; what was read before serves on.
  std::string source_error = {};
  std::optional<Time> source_failed_at = {};
  // It is gone or empty, or most of it is: that is not taken for a decision until an operator says
  // so.
  bool held_back = false;

  friend bool operator==(const Status&, const Status&) = default;
};
json::object to_json(const Status& status);
json::array to_json(const std::vector<HeldFile>& files);
// Of a check: `ok`, `problems` and `waits`.
json::object to_json(const Outcome& outcome);

struct ServiceSettings {
  std::chrono::milliseconds poll{30'000};  // of the source and of the providers' placements
  std::chrono::milliseconds retry{1'000};  // after trouble; doubles up to `poll`
  std::chrono::milliseconds settle{200};   // files must be the same for so long
  rules::Limits limits = {};
};

struct ServiceParts {
  std::unique_ptr<Source> source;
  // Asked on the service's thread; may block for as long as the providers' deadlines.
  std::function<ProviderContext()> provider_context;
  Expand expand;
  // Called on the service's thread, with each configuration that is accepted, and never with the
  // same twice in a row.
  std::function<void(std::shared_ptr<const fleet::Configuration>)> accept;
  std::shared_ptr<const Clock> clock;
  Log log = {};
  // Called on the service's thread with each new status, after accept().
  std::function<void(const Status&)> status_changed = [](const Status&) {};
  // Where what served last is kept over restarts; empty: nowhere.
  std::filesystem::path kept = {};
  // Whether there are pools of worker configurations already, from before this started.
  std::function<bool()> has_pools = [] { return false; };
};

class Service {
 public:
  // Reads for the first time on its own thread, too: a slow repository delays no start.
  static Result<std::unique_ptr<Service>> start(ServiceParts parts, ServiceSettings settings = {});
  // Waits for a call of a provider or of git that is under way.
  ~Service();

  // Something about the providers, or about their state, has changed. THREADS: any; returns at
  // once.
  void providers_changed() const { watch_.wake(); }
  // Look now. THREADS: any; returns at once.
  void reload() const { watch_.wake(); }

  // An operator has decided: what is there now counts, though it is nothing or lacks most. Fails as
  // `invalid` if nothing is held back. THREADS: any; returns before it has happened.
  Result<void> accept_what_is_left();

  Status status() const;  // THREADS: any
  // The files that serve, or the newest ones if those are refused; null if there are none. THREADS:
  // any.
  std::shared_ptr<const SourceFiles> files(bool refused) const;
  // The files that served before those that serve; null if they did not change since the host
  // started. THREADS: any.
  std::shared_ptr<const SourceFiles> previous_files() const;

 private:
  Service(ServiceParts parts, ServiceSettings settings, FolderWatch watch);
  void run();
  void wait(std::chrono::milliseconds at_most);
  bool take_up();
  bool read_source();
  Result<std::optional<SourceFiles>> read_settled();
  void read_what_was_kept();
  std::size_t served_files() const;
  bool hold_back(const Error& error, bool could_be_meant, bool accepted, SourceFiles left);
  void keep_last_good(SourceFiles last_good);
  void build(const ProviderContext& provider_context);
  void show_refusal(Status& status, const Selection& selection) const;
  void refuse(const Selection& selection);
  void serve(Selection selection, bool same_providers);
  bool is_in_force(const Selection& selection) const;
  void publish(const Status& status,
               const std::shared_ptr<const fleet::Configuration>& accepted = nullptr);
  void log_news(const Status& before, const Status& now) const;
  void source_was_read();
  void source_failed(const Error& error, bool held_back);

  ServiceParts parts_;
  const ServiceSettings settings_;
  FolderWatch watch_;
  Builder builder_;

  // Of the service's thread alone.
  SourceFiles newest_;
  bool have_files_ = false;
  // The last good version of each file, perhaps from before a restart. Files are among them that
  // are held back and of which nothing can serve now.
  std::optional<SourceFiles> kept_;
  std::shared_ptr<const fleet::Configuration> in_force_;  // as it was accepted last
  std::optional<ProviderContext> built_for_;
  std::string built_revision_;
  bool waiting_ = false;
  bool ask_providers_ = true;  // what they offer may have changed

  mutable std::mutex mutex_;
  Status status_;
  std::shared_ptr<const SourceFiles> serving_, refused_, previous_;
  std::atomic<bool> accepted_{false};  // by accept_what_is_left()
  std::atomic<bool> leaving_{false};
  std::thread thread_;
};

}  // namespace muster::pools

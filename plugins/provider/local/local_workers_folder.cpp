// Who is there, who is over, and what is done about it.
#include "plugins/provider/local/local_workers_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <muster/codec.hpp>

#include "plugins/provider/local/limits.hpp"
#include "plugins/provider/local/processes.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Beyond the grace that the agent gives to what it runs: to end itself.
constexpr auto agents_own_time = 5s;
// A key is not used again once its answer has arrived, which takes minutes at most.
constexpr auto key_may_come_again = 10min;
constexpr std::size_t most_stopped = 200;

struct OwnerFile {
  std::string host_id;
  ProviderId provider_id;
  std::int64_t epoch = 0;

  static constexpr auto fields(auto visit) {
    return visit(required("hostId", &OwnerFile::host_id),
                 required("providerId", &OwnerFile::provider_id),
                 required("epoch", &OwnerFile::epoch));
  }
};

// stopping.json and ended.json.
struct Mark {
  Time at{};
  std::string why;

  static constexpr auto fields(auto visit) {
    return visit(required("at", &Mark::at), optional("why", &Mark::why));
  }
};

std::optional<Mark> read_mark(const fs::path& file) {
  const auto text = read_if_there(file);
  if (!text || !*text) return std::nullopt;
  const auto mark = decode<Mark>(**text);
  return mark ? std::optional(*mark) : std::nullopt;
}

Result<void> check_access(const fs::path& folder) {
  struct stat about {};
  if (::lstat(folder.c_str(), &about) != 0) return trouble(folder, "cannot be read", errno);
  if (!S_ISDIR(about.st_mode))
    return Error::config("folder: " + folder.string() + " is not a folder");
  if (about.st_uid != ::geteuid() || (about.st_mode & 022) != 0)
    return Error::config("folder: others can write in " + folder.string() +
                         ", and so choose what workers run; it must be the host's alone (0700)");
  return {};
}

// What was printed last is worth most. Workers append there, and go on at the new end.
void bound_output(const fs::path& file, std::int64_t limit) {
  const Descriptor open(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about {};
  if (!open || ::fstat(open.get(), &about) != 0 || !S_ISREG(about.st_mode) ||
      about.st_size <= limit)
    return;
  std::string tail(static_cast<std::size_t>(limit), '\0');
  const auto count = ::pread(open.get(), tail.data(), tail.size(), about.st_size - limit);
  tail.resize(static_cast<std::size_t>(std::max<ssize_t>(0, count)));
  const auto kept = write_durably(file.string() + ".1", tail);
  if ((!kept && kept.error().error_class != ErrorClass::capacity) ||
      ::ftruncate(open.get(), 0) != 0)
    return;  // the next look tries again
}

}  // namespace

LocalWorkersFolder::LocalWorkersFolder(Settings settings, Clock clock)
    : settings_(std::move(settings)),
      clock_(std::move(clock)),
      temporary_(settings_.folder.empty()),
      cgroup_(cgroup_of_workers(settings_)) {}

bool LocalWorkersFolder::there() const {
  return !settings_.folder.empty() && is_there(settings_.folder);
}

Result<void> LocalWorkersFolder::make() {
  if (temporary_ && settings_.folder.empty()) {
    std::error_code ignored;
    std::string name = (fs::temp_directory_path(ignored) / "muster-local-XXXXXX").string();
    if (!::mkdtemp(name.data())) return trouble(name, "cannot be made", errno);
    settings_.folder = name;
  }
  std::error_code failed;
  fs::create_directories(settings_.folder.parent_path(), failed);
  if (failed) return trouble(settings_.folder, "cannot be made", failed.value());
  if (::mkdir(settings_.folder.c_str(), 0700) != 0 && errno != EEXIST)
    return trouble(settings_.folder, "cannot be made", errno);
  if (const auto safe = check_access(settings_.folder); !safe) return safe;
  if (settings_.user && ::chmod(settings_.folder.c_str(), 0711) != 0)
    return trouble(settings_.folder, "cannot be opened for workers", errno);
  return {};
}

Result<void> LocalWorkersFolder::check_way() const {
  if (!settings_.user || settings_.folder.empty()) return {};
  const fs::path& way = there() ? settings_.folder.parent_path() : settings_.folder;
  const auto obstacle = obstacle_on_the_way(*settings_.user, way.string());
  if (!obstacle) return {};
  return Error::config("folder: " + *obstacle + ", who runs the workers: put " +
                       settings_.folder.string() +
                       " where that user can pass (a dataDirectory like /var/lib/muster), or let "
                       "others pass with chmod o+x");
}

Result<Descriptor> LocalWorkersFolder::enter(const Context& context) const {
  if (const auto safe = check_access(settings_.folder); !safe) return safe.error();
  return lock_file(settings_.folder / "lock", context);
}

Result<std::optional<Descriptor>> LocalWorkersFolder::try_enter() const {
  if (const auto safe = check_access(settings_.folder); !safe) return safe.error();
  return try_lock_file(settings_.folder / "lock");
}

Result<void> LocalWorkersFolder::check_owner(const Owner& owner, bool claim) {
  const fs::path file = settings_.folder / "owner.json";
  const auto text = read_if_there(file);
  if (!text) return text.error();
  OwnerFile now{owner.host_id, owner.provider_id, owner.epoch};
  if (*text) {
    const auto known = decode<OwnerFile>(**text);
    if (!known)
      return Error::config(file.string() + " is damaged: " + known.error().message +
                           "; if no other host uses the folder, remove that file");
    if (known->host_id != owner.host_id || known->provider_id != owner.provider_id)
      return Error::config("folder: " + settings_.folder.string() + " belongs to provider " +
                           known->provider_id.str() + " of host " + known->host_id + ", not to " +
                           owner.provider_id.str() + " of " + owner.host_id +
                           "; give each its own folder, or, if that one is gone for ever, stop "
                           "its workers and remove the folder");
    if (owner.epoch < known->epoch)
      return Error::invalid("epoch " + std::to_string(owner.epoch) + " of host " + owner.host_id +
                            " is superseded by epoch " + std::to_string(known->epoch));
    if (owner.epoch == known->epoch) return {};
  }
  if (!claim) return {};
  return write_durably(file, encode(now));
}

LocalWorkersFolder::Phase LocalWorkersFolder::phase_of(const fs::path& folder) const {
  if (is_there(folder / "ended.json")) return Phase::ended;
  const WorkerProcesses processes(folder);
  switch (look_at_lock(folder / "lock")) {
    case LockState::missing:
      return processes.anybody() ? Phase::starting : Phase::never_started;
    case LockState::free:
      return Phase::over;
    case LockState::held:
      break;
  }
  return processes.agent_is_gone() ? Phase::over : Phase::running;
}

std::optional<Seen> LocalWorkersFolder::look_at(const fs::path& folder, Look& look) {
  const auto text = read_if_there(folder / "instance.json");
  if (text && !*text) {
    discard(folder);  // a launch that was cut off before it began
    return std::nullopt;
  }
  const auto record = text ? decode<Record>(**text) : Result<Record>(text.error());
  if (!record || record->v != 1 || record->instance.worker_id.str() != folder.filename()) {
    look.problems.push_back(Error::config(
        (folder / "instance.json").string() + " cannot be used: " +
        (record ? "it is not of version 1, or not of this worker" : record.error().message) +
        "; look what runs there, then remove the folder"));
    return std::nullopt;
  }
  Seen worker{folder, *record};
  InstanceState& state = worker.record.instance.state;
  switch (phase_of(folder)) {
    case Phase::never_started:
      discard(folder, worker.record.cgroup);
      return std::nullopt;
    case Phase::ended:
      state = InstanceState::stopped;
      return worker;
    case Phase::over:
      end(worker, is_there(folder / "stopping.json") ? "it was told to" : "its agent is gone");
      state = InstanceState::stopped;
      return worker;
    case Phase::starting:
      state = InstanceState::pending;
      break;
    case Phase::running:
      state = InstanceState::running;
      break;
  }
  for (const char* name : {"output.log", "agent.log"})
    bound_output(folder / name, settings_.output_limit);
  kill_if_due(worker, look);
  return worker;
}

void LocalWorkersFolder::kill_if_due(Seen& worker, Look& look) {
  const fs::path file = worker.folder / "stopping.json";
  if (!is_there(file)) return;
  worker.record.instance.state = InstanceState::stopping;
  const Time now = clock_();
  auto mark = read_mark(file);
  if (!mark || mark->at > now) {  // damaged, or the clock was set back: the grace begins anew
    mark = Mark{now, mark ? mark->why : ""};
    (void)write_durably(file, encode(*mark));
  }
  const Time due = mark->at + settings_.stop_grace + agents_own_time;
  if (now < due) {
    look.next = std::min(look.next.value_or(due), due);
    return;
  }
  end(worker, "it did not end within the grace and was killed");
  worker.record.instance.state = InstanceState::stopped;
}

// Nothing of it may run on, and no secret of it may stay.
void LocalWorkersFolder::end(const Seen& worker, const std::string& why) {
  const bool group_gone = end_cgroup(worker.record.cgroup);
  WorkerProcesses(worker.folder).kill_all();
  std::error_code ignored;
  for (const char* name :
       {"secret", "credentials.json", "environment.sh", "registration-key", "work"})
    fs::remove_all(worker.folder / name, ignored);
  // Without the note the next look comes here again, which does no harm.
  if (group_gone) (void)write_durably(worker.folder / "ended.json", encode(Mark{clock_(), why}));
}

void LocalWorkersFolder::discard(const fs::path& folder, const std::string& cgroup) {
  end_cgroup(cgroup);
  WorkerProcesses(folder).kill_all();
  // Under a name that means nothing first, so that half of a folder is never taken for a worker.
  const fs::path gone = folder.parent_path() / (".gone-" + folder.filename().string());
  std::error_code ignored;
  fs::remove_all(gone, ignored);
  if (::rename(folder.c_str(), gone.c_str()) == 0) fs::remove_all(gone, ignored);
}

void LocalWorkersFolder::forget_old(Look& look) {
  std::vector<std::pair<Time, std::size_t>> stopped;
  const Time now = clock_();
  for (std::size_t i = 0; i < look.workers.size(); ++i)
    if (look.workers[i].record.instance.state == InstanceState::stopped)
      if (const auto mark = read_mark(look.workers[i].folder / "ended.json"))
        stopped.emplace_back(mark->at, i);
  std::sort(stopped.begin(), stopped.end());
  std::vector<std::size_t> old;
  for (std::size_t i = 0; i < stopped.size(); ++i) {
    const auto age = now - stopped[i].first;
    const bool too_many = stopped.size() - i > most_stopped && age > key_may_come_again;
    if (age > settings_.keep_stopped || too_many) old.push_back(stopped[i].second);
  }
  std::sort(old.rbegin(), old.rend());
  for (const std::size_t i : old) {
    discard(look.workers[i].folder, look.workers[i].record.cgroup);
    look.workers.erase(look.workers.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

Look LocalWorkersFolder::look() {
  Look look;
  std::error_code failed;
  std::vector<fs::path> folders;
  for (fs::directory_iterator entry(settings_.folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    if (entry->symlink_status(failed).type() != fs::file_type::directory) continue;
    folders.push_back(entry->path());
  }
  if (failed) look.problems.push_back(trouble(settings_.folder, "cannot be read", failed.value()));
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    if (folder.filename().string().starts_with(".")) {
      fs::remove_all(folder, failed);
      continue;
    }
    auto worker = look_at(folder, look);
    if (!worker) continue;
    look.alive += worker->record.instance.state != InstanceState::stopped;
    look.workers.push_back(std::move(*worker));
  }
  forget_old(look);
  return look;
}

Result<void> LocalWorkersFolder::stop(const Seen& worker, const std::string& reason) {
  const InstanceState state = worker.record.instance.state;
  if (state == InstanceState::stopped || state == InstanceState::stopping) return {};
  // First the signal: an agent that has it ends by itself, also if nobody could note it down.
  WorkerProcesses(worker.folder).signal_agent(SIGTERM);
  return write_durably(worker.folder / "stopping.json", encode(Mark{clock_(), reason}));
}

void LocalWorkersFolder::remove_all() {
  if (!there()) return;
  for (const Seen& worker : look().workers) discard(worker.folder, worker.record.cgroup);
  std::error_code ignored;
  fs::remove_all(settings_.folder, ignored);
}

}  // namespace muster::local

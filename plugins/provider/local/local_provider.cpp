#include "plugins/provider/local/local_provider.hpp"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include "plugins/base/digest.hpp"
#include "plugins/provider/local/identity.hpp"

namespace muster::local {
namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 1s;

Time system_time() {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

// What the worker configuration says of the capacity, if it does.
Result<std::optional<std::int64_t>> capacity_in(const json::object& document) {
  const json::value* manager = document.if_contains("workerManager");
  const json::value* capacity = manager && manager->is_object()
                                    ? manager->get_object().if_contains("capacityPerInstance")
                                    : nullptr;
  if (!capacity) return std::optional<std::int64_t>();
  if (!capacity->is_int64() || capacity->get_int64() < 1)
    return Error::invalid("workerManager.capacityPerInstance: expected a whole number from 1");
  return std::optional(capacity->get_int64());
}

}  // namespace

ProviderDescription LocalProvider::describe() {
  return {.description = "Workers that are processes of the host's own machine",
          .config_schema = config_schema(),
          .section = section_name,
          .section_schema = section_schema(),
          // Limits are set when a worker starts: other limits need other workers.
          .field_classes = {{"local.image", "local.capacity", "local.memory", "local.cpus",
                             "local.openFiles", "local.processes"},
                            {},
                            {}},
          .example_config = example_config(),
          .example_section = {
              {"image", "example"}, {"capacity", 1}, {"memory", "512MiB"}, {"openFiles", 1024}}};
}

Result<std::unique_ptr<Provider>> LocalProvider::create(const json::object& config,
                                                        const Context&) {
  auto settings = read_settings(config);
  if (!settings) return settings.error();
  if (settings->agent.empty()) {
    std::error_code ignored;
    const auto found = find_agent(std::filesystem::read_symlink("/proc/self/exe", ignored));
    if (found.empty())
      return Error::config("agent: there is no muster-agent beside the host; say where it is");
    settings->agent = {found.string()};
  }
  return std::make_unique<LocalProvider>(std::move(*settings), system_time);
}

LocalProvider::LocalProvider(Settings settings, Clock clock)
    : workshop_(settings, std::move(clock)), settings_(std::move(settings)) {}

LocalProvider::~LocalProvider() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (settings_.folder.empty()) workshop_.remove_all();
}

void LocalProvider::watch_over() {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void LocalProvider::run() {
  std::unique_lock lock(mutex_);
  while (!leaving_) {
    wake_.wait_for(lock, look_every, [&] { return leaving_; });
    if (leaving_ || !workshop_.there()) continue;
    // Another process that is at it does the same.
    const auto entered = workshop_.try_enter();
    if (entered && *entered) workshop_.look();
  }
}

Result<Placements> LocalProvider::placements(const PlacementsRequest&, const Context&) {
  return Placements{{{{{"region", settings_.region}}}}};
}

Result<Expansion> LocalProvider::expand(const ExpandRequest& request, const Context&) {
  const auto section = read_section(request.document, settings_);
  if (!section) return section.error();
  const auto capacity = capacity_in(request.document);
  if (!capacity) return capacity.error();
  if (const auto good = check_worker_config(request.document, settings_); !good)
    return good.error();
  json::object document;
  for (const char* key : {section_name, "workerManager", "workerConfig"})
    if (const json::value* given = request.document.if_contains(key)) document[key] = *given;
  return Expansion{{{std::move(document), capacity->value_or(section->capacity)}}};
}

// Nobody is there while the folder is not.
Result<Look> LocalProvider::look(const Context& context) {
  if (!workshop_.there()) return Look{};
  const auto entered = workshop_.enter(context);
  if (!entered) return entered.error();
  return workshop_.look();
}

Result<Bids> LocalProvider::bid(const BidRequest& request, const Context& context) {
  if (request.candidates.empty()) return Bids{};
  const std::lock_guard lock(mutex_);
  const auto look_now = look(context);
  if (!look_now) return look_now.error();
  if (::access(settings_.agent.front().c_str(), X_OK) != 0)
    return Bids{{}, {Error::config("the agent " + settings_.agent.front() + " cannot be run")}};
  if (const auto reached = workshop_.check_way(); !reached) return Bids{{}, {reached.error()}};
  if (workshop_.there())
    if (const auto ours = workshop_.check_owner(request.owner, false); !ours)
      return Bids{{}, {ours.error()}};
  std::int64_t room = settings_.max_workers - look_now->alive;
  if (room <= 0) return Bids{{}, {workshop_.no_room()}};
  std::vector<std::int64_t> instances(request.candidates.size(), 0);
  // One for each in turn, so that no candidate takes all the room.
  std::int64_t wanted = request.capacity;
  for (bool more = true; more && room > 0 && wanted > 0;) {
    more = false;
    for (std::size_t i = 0; i < instances.size() && room > 0 && wanted > 0; ++i) {
      const BidRequest::Candidate& candidate = request.candidates[i];
      if (instances[i] >= candidate.max_instances.value_or(settings_.max_workers)) continue;
      ++instances[i];
      --room;
      wanted -= std::max<std::int64_t>(1, candidate.launch_config.capacity_per_instance);
      more = true;
    }
  }
  Bids bids;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const LaunchConfig& candidate = request.candidates[i].launch_config;
    if (instances[i] > 0)
      bids.bids.push_back({.launch_config_id = candidate.launch_config_id,
                           .capacity_per_instance = candidate.capacity_per_instance,
                           .instances = instances[i]});
  }
  if (bids.bids.empty())
    bids.problems.push_back(Error::capacity("no launch configuration has room below its limits"));
  return bids;
}

Result<Allocation> LocalProvider::allocate(const AllocateRequest& request, const Context& context) {
  if (request.idempotency_keys.empty()) return Allocation{};
  const auto section = read_section(request.launch_config.document, settings_);
  if (!section) return Error::config(section.error().message);
  if (const auto good = check_worker_config(request.launch_config.document, settings_); !good)
    return Error::config(good.error().message);  // stored by an older host
  const json::value* url = request.registration.if_contains("rootUrl");
  if (!url || !url->is_string())
    return Error::invalid("registration.rootUrl is missing: workers could not find the host");
  const std::lock_guard lock(mutex_);
  if (const auto made = workshop_.make(); !made) return made.error();
  if (const auto reached = workshop_.check_way(); !reached) return reached.error();
  const auto entered = workshop_.enter(context);
  if (!entered) return entered.error();
  if (const auto ours = workshop_.check_owner(request.owner, true); !ours) return ours.error();
  watch_over();
  return Allocation{workshop_.launch(request, *section, context)};
}

Result<Listing> LocalProvider::list(const ListRequest& request, const Context& context) {
  const std::lock_guard lock(mutex_);
  if (!workshop_.there()) return Listing{};
  const auto entered = workshop_.enter(context);
  if (!entered) return entered.error();
  // Not ours: nothing is shown, and nothing that is missing is taken to be gone.
  if (const auto ours = workshop_.check_owner(request.owner, false); !ours)
    return Listing{{}, {ours.error()}, {}};
  watch_over();
  Look look_now = workshop_.look();
  Listing listing;
  for (Seen& worker : look_now.workers)
    listing.instances.push_back(std::move(worker.record.instance));
  listing.problems = std::move(look_now.problems);
  return listing;
}

Result<Termination> LocalProvider::terminate(const TerminateRequest& request,
                                             const Context& context) {
  const std::lock_guard lock(mutex_);
  if (!workshop_.there() || request.workers.empty()) return Termination{};
  const auto entered = workshop_.enter(context);
  if (!entered) return entered.error();
  if (const auto ours = workshop_.check_owner(request.owner, true); !ours) return ours.error();
  watch_over();
  const Look look_now = workshop_.look();
  Termination termination;
  for (const WorkerRef& wanted : request.workers)
    for (const Seen& worker : look_now.workers) {
      if (worker.record.instance.worker_id != wanted.worker_id) continue;
      if (const auto stopped = workshop_.stop(worker, request.reason); !stopped)
        termination.failures.push_back({wanted.worker_group, wanted.worker_id, stopped.error()});
    }
  return termination;
}

Result<Identity> LocalProvider::identify(const IdentifyRequest& request, const Context&) {
  const json::value* secret = request.proof.if_contains("localSecret");
  if (!secret || !secret->is_string()) return Error::auth("the proof has no text \"localSecret\"");
  const json::value* digest = request.provider_data.if_contains("secretSha256");
  if (!digest || !digest->is_string())
    return Error::auth("nobody launched " + request.worker_id.str() + " here");
  if (!is_digest_of(digest->get_string(), secret->get_string()))
    return Error::auth("the secret is not that of " + request.worker_id.str());
  return Identity{request.worker_group, request.worker_id};
}

}  // namespace muster::local

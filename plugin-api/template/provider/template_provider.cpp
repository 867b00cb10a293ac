// A provider of machines in a lab, kept in memory. It keeps every promise of the contract; make it
// yours where a comment says HERE, and let the test tell you what you broke.
#include <algorithm>
#include <map>

#include <muster/plugin.hpp>

namespace template_provider {
namespace {

using namespace muster;

// The instance's configuration, as operators write it. The schema in describe() says the same.
struct Config {
  std::string region = "lab";
  std::int64_t machines = 4;
  std::string secret = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("region", &Config::region), optional("machines", &Config::machines),
                 optional("secret", &Config::secret));
  }
};

// The provider's own table in worker configurations.
struct Section {
  std::string image;

  static constexpr auto fields(auto visit) { return visit(required("image", &Section::image)); }
};

class TemplateProvider final : public muster::Provider {
 public:
  static ProviderDescription describe() {
    return {
        .description = "Machines of a lab, in memory",
        .config_schema = {{"type", "object"},
                          {"additionalProperties", false},
                          {"properties",
                           {{"region", {{"type", "string"}}},
                            {"machines", {{"type", "integer"}, {"minimum", 0}}},
                            {"secret",
                             {{"type", "string"}, {"description", "Workers register with it"}}}}}},
        .section = "template_provider",
        .section_schema = {{"type", "object"},
                           {"additionalProperties", false},
                           {"required", {"image"}},
                           {"properties", {{"image", {{"type", "string"}}}}}},
        .example_config = {{"region", "lab"}, {"machines", 4}, {"secret", "example"}},
        .example_section = {{"image", "debian-12"}}};
  }

  // Checks the configuration. No remote effect: the host calls it more than once.
  static Result<std::unique_ptr<muster::Provider>> create(const json::object& config,
                                                          const Context&) {
    auto read = from_value<Config>(json::value(config));
    if (!read) return read.error();
    if (read->region.empty()) return Error::invalid("region: is empty");
    if (read->machines < 0) return Error::invalid("machines: is negative");
    return std::make_unique<TemplateProvider>(std::move(*read));
  }

  explicit TemplateProvider(Config config) : config_(std::move(config)) {}

  Result<Placements> placements(const PlacementsRequest&, const Context&) override {
    return Placements{{{{{"region", config_.region}}}}};
  }

  // A pure function: the same request must give the same documents.
  Result<Expansion> expand(const ExpandRequest& request, const Context&) override {
    const json::value* table = request.document.if_contains("template_provider");
    if (!table) return Error::invalid("template_provider: is missing");
    const auto section = from_value<Section>(*table);
    if (!section) return Error::invalid("template_provider: " + section.error().message);
    json::object document{{"template_provider", {{"image", section->image}}}};
    for (const char* key : {"workerManager", "workerConfig"})  // what muster itself reads
      if (const json::value* given = request.document.if_contains(key)) document[key] = *given;
    return Expansion{{{std::move(document)}}};
  }

  Result<Bids> bid(const BidRequest& request, const Context&) override {
    Bids bids;
    for (const auto& candidate : request.candidates) {
      const std::int64_t free = free_machines();
      const std::int64_t each =
          std::max<std::int64_t>(1, candidate.launch_config.capacity_per_instance);
      const std::int64_t needed = request.capacity <= 0 ? 0 : (request.capacity - 1) / each + 1;
      const std::int64_t count = std::min({free, needed, candidate.max_instances.value_or(free)});
      if (count > 0)
        bids.bids.push_back({candidate.launch_config.launch_config_id, each, count, 0.0});
      else if (free == 0)
        bids.problems.push_back(lab_is_full());
    }
    return bids;
  }

  // A key that was used before launches nothing: the host repeats calls whose answer it lost.
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context) override {
    Allocation allocation;
    for (const IdempotencyKey& key : request.idempotency_keys) {
      if (const Machine* known = find(request.owner, key))
        allocation.launches.push_back({key, known->instance, {}});
      else if (context.cancelled())
        allocation.launches.push_back({key, {}, Error::cancelled("there was no time left")});
      else if (free_machines() == 0)
        allocation.launches.push_back({key, {}, lab_is_full()});
      else
        allocation.launches.push_back({key, start(request, key, context), {}});
    }
    return allocation;
  }

  Result<Listing> list(const ListRequest& request, const Context&) override {
    Listing listing;
    for (const auto& [id, machine] : machines_)  // HERE: ask the cloud, in few calls
      if (machine.running() && machine.belongs_to(request.owner))
        listing.instances.push_back(machine.instance);
    return listing;
  }

  // A worker that is gone, or never was, counts as terminated.
  Result<Termination> terminate(const TerminateRequest& request, const Context&) override {
    for (const WorkerRef& worker : request.workers) {
      const auto found = machines_.find(worker.worker_id);
      if (found == machines_.end() || !found->second.belongs_to(request.owner)) continue;
      found->second.instance.state = InstanceState::stopped;  // HERE: stop the machine
    }
    return Termination{};
  }

  Result<Identity> identify(const IdentifyRequest& request, const Context&) override {
    const auto found = machines_.find(request.worker_id);
    if (found == machines_.end() || !found->second.running())
      return Error::auth("there is no machine " + request.worker_id.str());
    const json::value* secret = request.proof.if_contains("secret");  // HERE: check a real proof
    if (config_.secret.empty() || !secret || !secret->is_string() ||
        secret->get_string() != config_.secret)
      return Error::auth("the proof's \"secret\" is not the lab's");
    return Identity{request.worker_group, request.worker_id};
  }

 private:
  struct Machine {
    Owner owner;
    Instance instance;

    bool running() const { return instance.state != InstanceState::stopped; }
    bool belongs_to(const Owner& other) const {
      return owner.host_id == other.host_id && owner.provider_id == other.provider_id;
    }
  };

  const Machine* find(const Owner& owner, const IdempotencyKey& key) const {
    for (const auto& [id, machine] : machines_)
      if (machine.belongs_to(owner) && machine.instance.idempotency_key == key) return &machine;
    return nullptr;
  }

  std::int64_t free_machines() const {
    std::int64_t free = config_.machines;
    for (const auto& [id, machine] : machines_) free -= machine.running() ? 1 : 0;
    return free;
  }

  // An error names the narrowest scope that it holds for, and for how long.
  Error lab_is_full() const {
    return Error::capacity("all " + std::to_string(config_.machines) + " machines are in use")
        .in_region(config_.region)
        .hold_for(std::chrono::seconds(30));
  }

  // HERE: start a machine, with the key as the cloud's own idempotency token, and with owner, pool,
  // launch configuration, key and request.tags as its tags: list() must tell them all.
  Instance start(const AllocateRequest& request, const IdempotencyKey& key,
                 const Context& context) {
    Instance instance;
    instance.worker_group = WorkerGroup(config_.region);
    instance.worker_id = WorkerId("machine-" + std::to_string(++started_));
    instance.worker_pool_id = request.launch_config.worker_pool_id;
    instance.launch_config_id = request.launch_config.launch_config_id;
    instance.idempotency_key = key;
    instance.state = InstanceState::running;
    instance.capacity = request.launch_config.capacity_per_instance;
    instance.epoch = request.owner.epoch;
    instance.created = context.now();
    instance.provider_data = {{"v", 1}};  // kept by the host; the next version must read it
    instance.tags = request.tags;
    context.log(LogLevel::info, "started " + instance.worker_id.str());
    return (machines_[instance.worker_id] = {request.owner, instance}).instance;
  }

  Config config_;
  std::map<WorkerId, Machine> machines_;
  std::int64_t started_ = 0;
};

}  // namespace
}  // namespace template_provider

MUSTER_PLUGIN(template_provider::TemplateProvider);

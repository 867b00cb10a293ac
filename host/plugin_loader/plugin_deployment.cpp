// The part of the catalog that turns a stored plugin into serving instances.
#include <algorithm>

#include "host/plugin_loader/in_process_channel.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"

namespace muster::plugin_loader {
namespace {

StartRequest start_request(const PluginVersion& version, std::vector<json::object> configs,
                           CellLimits limits) {
  const Manifest& manifest = version.stored.manifest;
  return {.library = version.stored.library.string(),
          .kind = manifest.kind,
          .name = manifest.name,
          .version = manifest.version,
          .configs = std::move(configs),
          .limits = std::move(limits)};
}

}  // namespace

void PluginCatalog::set_state(PluginVersion& version, PluginState state, std::string reason) {
  {
    const std::lock_guard lock(state_);
    version.status.state = state;
    version.status.reason = reason;
    version.status.since = clock_->now();
  }
  feed_->changed();
  const Manifest& manifest = version.stored.manifest;
  const Log log = log_.with({{"plugin", manifest.id()}, {"version", manifest.version}});
  if (state == PluginState::rejected) log.error("a plugin is refused", {{"reason", reason}});
  if (state == PluginState::active)
    log.info("a plugin is active", {{"isolation", version.status.isolation}});
}

// Every instance of the new version is made before the first one serves. An instance that serves
// now must also do so with the new version, else that is refused. With `Failing::alone` an instance
// that cannot be started is left out, and the others serve.
Result<void> PluginCatalog::deploy(PluginRecord& plugin,
                                   const std::shared_ptr<PluginVersion>& version, Failing failing) {
  std::vector<json::object> configs;
  const auto configured = [&] {
    std::vector<InstanceSpec> specs;
    for (const InstanceSpec& spec : instances_)
      if (spec.plugin_id == plugin.plugin_id) specs.push_back(spec);
    return specs;
  }();
  const auto must_start = [&](const InstanceSpec& spec) {
    return failing == Failing::all &&
           (!plugin.active || plugin.instances.contains(spec.instance_id));
  };
  for (const InstanceSpec& spec : configured)
    if (must_start(spec) && instance_of_lane(spec.instance_id) == spec.instance_id)
      configs.push_back(spec.config);  // lanes have the same one
  const auto checked = check(*version, configs);
  if (!checked) return checked.error();
  {
    const std::lock_guard lock(state_);
    version->status.abi_minor = checked->abi_minor;
    version->status.built_with = checked->built_with;
    version->described = std::make_shared<const json::object>(checked->description);
    if (const auto* text = checked->description.if_contains("description");
        text && text->is_string())
      version->description = text->get_string();
    if (const auto* example = checked->description.if_contains("exampleConfig");
        example && example->is_object())
      version->example_config = example->get_object();
  }

  const auto specs = specs_for(plugin.plugin_id, *version);
  std::vector<std::shared_ptr<Backend>> backends;
  std::string standby_problem;
  std::map<std::string, Error> failed;
  for (const InstanceSpec& spec : specs) {
    const bool is_configured = !configured.empty();
    auto made =
        is_configured && !must_start(spec) ? check_and_make(spec, *version) : make(spec, *version);
    if (!made && is_configured && must_start(spec))
      return Error{made.error().error_class,
                   "instance " + spec.instance_id + ": " + made.error().message};
    if (!made && is_configured) failed.emplace(spec.instance_id, made.error());
    if (!made && !is_configured)
      standby_problem = "its example configuration does not start: " + made.error().message;
    backends.push_back(made ? std::move(*made) : nullptr);
  }

  if (!failed.empty() && failed.size() == specs.size()) {
    const std::lock_guard lock(state_);
    plugin.failed = failed;
    return failed.begin()->second;
  }
  const auto old = plugin.active;
  {
    const std::lock_guard lock(state_);
    version->status.isolation =
        to_string(isolation_for(specs.empty() ? InstanceSpec{} : specs.front(), *version));
    plugin.active = version;
    plugin.failed = failed;
  }
  for (const auto& [id, error] : failed) log_failed(plugin.plugin_id, id, error);
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (backends[i]) serve(plugin, specs[i], old ? *old : *version, std::move(backends[i]));
  if (old) set_state(*old, PluginState::draining);
  set_state(*version, PluginState::active, standby_problem);

  keep_only(plugin, specs);
  const std::lock_guard lock(state_);
  ActiveVersion& active = active_[plugin.plugin_id];
  const std::string& sha256 = version->stored.manifest.sha256;
  if (active.active == sha256) return {};
  active = {.active = sha256, .previous = active.active, .skipped = ""};
  return store_active_versions(settings_.store, active_);
}

Result<StartReply> PluginCatalog::check(const PluginVersion& version,
                                        std::vector<json::object> configs) {
  CellLimits limits;
  limits.memory_bytes = settings_.check_memory_bytes;
  StartRequest request = start_request(version, std::move(configs), std::move(limits));
  request.only_check = true;
  const HostServices silent{[clock = clock_] { return clock->now(); },
                            [](LogLevel, std::string_view) {}};
  auto opened = open_cell(*spawner_, request, silent, settings_.start_budget);
  if (!opened) return opened.error();
  return std::move(opened->start);
}

Isolation PluginCatalog::isolation_for(const InstanceSpec& spec,
                                       const PluginVersion& version) const {
  if (crash_record_ && crash_record_->has_crashed(version.label())) return Isolation::process;
  if (spec.isolation) return *spec.isolation;
  if (version.stored.manifest.isolation) return *version.stored.manifest.isolation;
  return version.shipped ? Isolation::in_process : Isolation::process;
}

Recipe PluginCatalog::recipe_for(const InstanceSpec& spec, const PluginVersion& version) const {
  const Log log = log_.with({{"plugin", spec.plugin_id}, {"instance", spec.instance_id}});
  const HostServices services{
      [clock = clock_] { return clock->now(); },
      [log, clock = clock_, record = records_->of(instance_of_lane(spec.instance_id))](
          LogLevel level, std::string_view line) {
        log.write(level, line);
        if (log.enabled(level)) record->add_line(clock->now(), level, line);
      }};
  const StartRequest request = start_request(version, {spec.config}, spec.limits);
  const auto make =
      [spawner = spawner_, crash_record = crash_record_, services, request, label = version.label(),
       budget = spec.start_budget](Isolation isolation) -> Result<std::shared_ptr<Backend>> {
    if (isolation == Isolation::process) {
      auto opened = open_cell(*spawner, request, services, budget);
      if (!opened) return opened.error();
      return std::move(opened->backend);
    }
    auto library = Library::open(request.library);
    if (!library) return library.error();
    return open_in_process(std::move(*library), json::write(request.configs.front()), services,
                           budget, crash_record, label);
  };
  return {version.stored.manifest.version, version.stored.manifest.sha256,
          isolation_for(spec, version), spec.deadline, make};
}

Result<std::shared_ptr<Backend>> PluginCatalog::make(const InstanceSpec& spec,
                                                     const PluginVersion& version) {
  const Recipe recipe = recipe_for(spec, version);
  return recipe.make(recipe.isolation);
}

std::vector<InstanceSpec> PluginCatalog::specs_for(const std::string& plugin_id,
                                                   const PluginVersion& version) const {
  std::vector<InstanceSpec> specs;
  for (const InstanceSpec& spec : instances_)
    if (spec.plugin_id == plugin_id) specs.push_back(spec);
  if (specs.empty())
    specs.push_back({.instance_id = version.stored.manifest.name + "-standby",
                     .plugin_id = plugin_id,
                     .config = version.example_config});
  return specs;
}

void PluginCatalog::serve(PluginRecord& plugin, const InstanceSpec& spec, const PluginVersion& old,
                          std::shared_ptr<Backend> backend) {
  auto found = plugin.instances.find(spec.instance_id);
  std::shared_ptr<PluginInstance> instance;
  if (found != plugin.instances.end()) instance = found->second.instance;
  if (!instance)
    instance = std::make_shared<PluginInstance>(
        spec.instance_id, plugin.plugin_id, settings_.supervision, clock_, log_,
        records_->of(instance_of_lane(spec.instance_id)), retirement_,
        [feed = std::weak_ptr(feed_)] { note_change(feed); });
  const auto replaced = instance->serve(recipe_for(spec, *plugin.active), std::move(backend));
  const std::lock_guard lock(state_);
  plugin.instances[spec.instance_id] = {spec, instance};
  connect_lanes();
  for (const auto& version : plugin.versions)
    if (version.get() == &old && version != plugin.active) version->draining.push_back(replaced);
}

std::vector<Error> PluginCatalog::start_instances(PluginRecord& plugin) {
  std::vector<Error> errors;
  const auto specs = specs_for(plugin.plugin_id, *plugin.active);
  std::map<std::string, Error> failed;
  for (const InstanceSpec& spec : specs) {
    const auto found = plugin.instances.find(spec.instance_id);
    if (found != plugin.instances.end() && found->second.spec == spec) continue;
    auto made = check_and_make(spec, *plugin.active);
    if (made) {
      serve(plugin, spec, *plugin.active, std::move(*made));
      continue;
    }
    failed.emplace(spec.instance_id, made.error());
    errors.push_back(
        {made.error().error_class,
         "instance " + spec.instance_id + " of " + plugin.plugin_id + ": " + made.error().message});
    log_failed(plugin.plugin_id, spec.instance_id, made.error());
  }
  {
    const std::lock_guard lock(state_);
    plugin.failed = std::move(failed);
  }
  keep_only(plugin, specs);
  return errors;
}

Result<std::shared_ptr<Backend>> PluginCatalog::check_and_make(const InstanceSpec& spec,
                                                               const PluginVersion& version) {
  if (const auto checked = check(version, {spec.config}); !checked) return checked.error();
  return make(spec, version);
}

void PluginCatalog::log_failed(const std::string& plugin_id, const std::string& instance_id,
                               const Error& error) const {
  log_.error("an instance cannot be started",
             {{"plugin", plugin_id}, {"instance", instance_id}, {"reason", error.message}});
}

// The instances that are no longer wanted end here, after the lock was released: that can take a
// while.
void PluginCatalog::keep_only(PluginRecord& plugin, const std::vector<InstanceSpec>& specs) {
  std::vector<std::shared_ptr<PluginInstance>> removed;
  const std::lock_guard lock(state_);
  std::erase_if(plugin.instances, [&](const auto& serving) {
    if (std::ranges::find(specs, serving.first, &InstanceSpec::instance_id) != specs.end())
      return false;
    removed.push_back(serving.second.instance);
    return true;
  });
  connect_lanes();
  feed_->changed();
}

// With state_ held: each channel gets the lanes that its instance has now.
void PluginCatalog::connect_lanes() {
  std::map<std::string, std::vector<std::shared_ptr<PluginInstance>>> lanes;
  for (const auto& [id, channel] : channels_) lanes[id];
  for (const auto& [id, plugin] : plugins_)
    for (const auto& [lane_id, serving] : plugin->instances)
      lanes[std::string(instance_of_lane(lane_id))].push_back(serving.instance);
  for (const auto& [id, instances] : lanes) {
    auto& channel = channels_[id];
    if (!channel) channel = std::make_shared<InstanceLanes>(id);
    channel->set(instances);
    if (instances.empty()) channels_.erase(id);
  }
}

}  // namespace muster::plugin_loader

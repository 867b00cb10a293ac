#include "plugins/provider/aws/launching.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "lib/crypto/sha256.hpp"
#include "lib/hawk/hawk.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/key_list.hpp"
#include "plugins/cloud/machines/user_data.hpp"
#include "plugins/provider/aws/instances.hpp"
#include "plugins/provider/aws/listing.hpp"

namespace muster::aws {
namespace {

using namespace std::chrono_literals;
constexpr auto batches_kept_for = 2h;

// 64 letters, as many as EC2 takes.
std::string client_token(const AllocateRequest& request, const std::vector<IdempotencyKey>& keys) {
  std::string text = request.owner.host_id + "\n" + request.owner.provider_id.str() + "\n" +
                     request.launch_config.launch_config_id.str();
  for (const IdempotencyKey& key : keys) text += "\n" + key.str();
  return sha256_hex(text);
}

// A price as EC2 reads it: no exponent.
std::string decimal(double price) {
  char text[64];
  std::snprintf(text, sizeof text, "%.6f", price);
  return text;
}

json::object spot_options(const Machine& machine) {
  json::object options{{"SpotInstanceType", "one-time"},
                       {"InstanceInterruptionBehavior", "terminate"}};
  if (machine.max_price) options["MaxPrice"] = decimal(*machine.max_price);
  return {{"MarketType", "spot"}, {"SpotOptions", std::move(options)}};
}

Error not_seen(const AllocateRequest& request) {
  return Error::transient(
             "an earlier call may have launched this worker, and EC2 does not list it; it is not "
             "launched a second time")
      .of_launch_config(request.launch_config.launch_config_id.str())
      .hold_for(1s);
}

Error too_few(std::size_t launched, std::size_t wanted, const Machine& machine) {
  return Error::capacity("EC2 launched " + std::to_string(launched) + " of " +
                         std::to_string(wanted) + " machines of type " + machine.type_and_market() +
                         " in " + machine.zone + ": it has no more there at the moment")
      .in_region(machine.region)
      .in_zone(machine.zone)
      .of_instance_type(machine.type_and_market())
      .hold_for(180s)
      .with_code("InsufficientInstanceCapacity");
}

// Whether another call for the same machines would end in the same way.
bool ends_all(const Error& error) {
  return error.error_class != ErrorClass::transient && error.error_class != ErrorClass::internal;
}

}  // namespace

Result<json::object> launch_parameters(const Machine& machine, const AllocateRequest& request) {
  auto user_data = make_user_data(words, {}, machine, request.launch_config.launch_config_id.str(),
                                  request.registration);
  if (!user_data) return user_data.error();
  json::object parameters = *machine.launch;
  parameters["InstanceType"] = machine.instance_type;
  parameters["UserData"] = hawk::base64(*user_data);
  if (machine.is_spot()) parameters["InstanceMarketOptions"] = spot_options(machine);
  if (!machine.zone.empty()) table_in(parameters, "Placement")["AvailabilityZone"] = machine.zone;
  json::object& metadata = table_in(parameters, "MetadataOptions");
  set_default(metadata, "HttpTokens", "required");
  set_default(metadata, "HttpEndpoint", "enabled");
  set_default(parameters, "InstanceInitiatedShutdownBehavior", "terminate");
  return parameters;
}

json::array tag_specifications(const Machine& machine, const json::array& tags) {
  json::array made;
  for (const char* resource : {"instance", "volume", "spot-instances-request"})
    if (machine.is_spot() || resource != std::string_view("spot-instances-request"))
      made.push_back(json::object{{"ResourceType", resource}, {"Tags", tags}});
  return made;
}

Result<Allocation> Launcher::allocate(const AllocateRequest& request, const Context& context) {
  const auto machine = read_machine(words, request.launch_config);
  if (!machine) return machine.error();
  if (!settings_.uses(machine->region))
    return Error::config("region " + machine->region +
                         " is not in the provider's regions (any more)")
        .of_launch_config(request.launch_config.launch_config_id.str());
  batches_.forget_older_than(context.now() - batches_kept_for);
  const Found found = look_up(request, *machine, context);
  const auto needed = batches_for(request, *machine, found, context);
  if (!needed) return needed.error();
  std::map<const Batch*, Error> errors;
  std::optional<Error> last;
  for (Batch* batch : *needed) {
    if (batch->launches) continue;
    if (!last && context.cancelled())
      last = Error::cancelled("there was no time left to launch more");
    if (!last) last = run(*batch, *machine, context);
    if (!last) continue;
    errors.emplace(batch, *last);
    if (!ends_all(*last)) last.reset();
  }
  Allocation allocation;
  for (const IdempotencyKey& key : request.idempotency_keys) {
    if (const auto known = found.find(key); known != found.end()) {
      allocation.launches.push_back(known->second);
      continue;
    }
    const Batch* batch = batches_.find(key);
    if (const auto error = errors.find(batch); error != errors.end()) {
      allocation.launches.push_back({.idempotency_key = key, .error = error->second});
      continue;
    }
    const auto at = std::ranges::find(batch->keys, key) - batch->keys.begin();
    allocation.launches.push_back((*batch->launches)[static_cast<std::size_t>(at)]);
  }
  return allocation;
}

// Keys of an earlier process.
Launcher::Found Launcher::look_up(const AllocateRequest& request, const Machine& machine,
                                  const Context& context) {
  Found found;
  for (const IdempotencyKey& key : request.repeated_keys)
    if (!batches_.find(key))
      found.emplace(key, Launch{.idempotency_key = key, .error = not_seen(request)});
  if (found.empty()) return found;
  auto listed = find_launched(request.owner, machine.region, request.launch_config.launch_config_id,
                              api_, context);
  for (auto& [key, launch] : found)
    if (!listed) launch.error = Error::transient(listed.error().message);
  if (!listed) return found;
  for (Instance& instance : *listed)
    if (const auto entry = found.find(instance.idempotency_key); entry != found.end())
      entry->second = {.idempotency_key = entry->first, .instance = std::move(instance)};
  return found;
}

// All of them are batches_kept_for before the first is sent.
Result<std::vector<Batch*>> Launcher::batches_for(const AllocateRequest& request,
                                                  const Machine& machine, const Found& found,
                                                  const Context& context) {
  std::vector<Batch*> needed;
  std::vector<IdempotencyKey> fresh;
  for (const IdempotencyKey& key : request.idempotency_keys) {
    if (found.contains(key)) continue;
    Batch* batch = batches_.find(key);
    if (!batch && std::ranges::find(fresh, key) == fresh.end())
      fresh.push_back(key);
    else if (!batch)
      continue;
    else if (std::ranges::find(needed, batch) == needed.end())
      needed.push_back(batch);
  }
  if (fresh.empty()) return needed;
  const auto parameters = launch_parameters(machine, request);
  if (!parameters) return parameters.error();
  for (std::size_t from = 0; from < fresh.size();) {
    const PackedKeys packed = pack_keys(fresh, from, settings_.launches_per_call);
    const auto begin = fresh.begin() + static_cast<std::ptrdiff_t>(from);
    Batch batch{
        .keys = {begin, begin + static_cast<std::ptrdiff_t>(packed.count)},
        .call = {.service = "ec2",
                 .region = machine.region,
                 .action = "RunInstances",
                 .parameters = *parameters,
                 .idempotent = true,
                 .about = {.region = machine.region,
                           .zone = machine.zone,
                           .instance_type = machine.type_and_market(),
                           .launch_config_id = request.launch_config.launch_config_id.str()}},
        .tags = tags_of_launch(request, machine.tags, packed.text),
        .made = context.now()};
    json::object& call = batch.call.parameters;
    call["MinCount"] = 1;
    call["MaxCount"] = static_cast<std::int64_t>(packed.count);
    call["ClientToken"] = client_token(request, batch.keys);
    call["TagSpecifications"] = tag_specifications(machine, tag_list(batch.tags));
    needed.push_back(&batches_.add(std::move(batch)));
    from += packed.count;
  }
  return needed;
}

std::optional<Error> Launcher::run(Batch& batch, const Machine& machine, const Context& context) {
  const auto answer = api_.call(batch.call, context);
  if (!answer) {
    if (ends_all(answer.error()))
      history_.failed(machine, static_cast<std::int64_t>(batch.keys.size()), context.now());
    Error error = quotas_.explain(answer.error(), machine);
    if (is_of_family(error))
      quota_memory_.used_up(machine, quotas_.of(machine.instance_type, machine.is_spot()).name,
                            error, context.now());
    return error;
  }
  batch.launches = read_launches(batch, *answer, machine, context);
  return std::nullopt;
}

std::vector<Launch> Launcher::read_launches(const Batch& batch, const json::object& answer,
                                            const Machine& machine, const Context& context) {
  std::vector<Launch> launches;
  for (const IdempotencyKey& key : batch.keys) launches.push_back({.idempotency_key = key});
  const std::string account = text_of(answer, "OwnerId");
  std::size_t launched = 0;
  for_each_of(answer, "Instances", [&](const json::object& given) {
    json::object instance = given;
    instance["Tags"] = tag_list(batch.tags);
    auto made = read_instance(instance, account, machine.region);
    const auto index = static_cast<std::size_t>(number_of(given, "AmiLaunchIndex"));
    if (!made || index >= launches.size() || launches[index].instance) return;
    made->idempotency_key = batch.keys[index];
    if (made->created == Time{}) made->created = context.now();
    if (made->state != InstanceState::stopped) recent_.launched(*made, context.now());
    launches[index].instance = std::move(*made);
    ++launched;
  });
  for (Launch& launch : launches)
    if (!launch.instance) launch.error = too_few(launched, launches.size(), machine);
  history_.launched(machine, static_cast<std::int64_t>(launched), context.now());
  history_.failed(machine, static_cast<std::int64_t>(launches.size() - launched), context.now());
  return launches;
}

}  // namespace muster::aws

#include "plugins/provider/aws/example_api.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"

namespace muster::aws {
namespace {

const char* const account = "123456789012";

Error refused(ErrorClass error_class, const char* code, std::string message) {
  return Error{error_class, std::move(message)}.with_code(code);
}

std::vector<std::string> texts_of(const json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  const json::value* found = object.if_contains(key);
  if (found && found->is_array())
    for (const json::value& item : found->get_array()) texts.emplace_back(item.as_string());
  return texts;
}

std::string state_name_of(const json::object& instance) {
  const json::object* state = table_of(instance, "State");
  return state ? text_of(*state, "Name") : "";
}

std::string state_reason_of(const json::object& instance) {
  const json::object* reason = table_of(instance, "StateReason");
  return reason ? text_of(*reason, "Code") : "";
}

bool has_tag(const json::object& instance, const std::string& name,
             const std::vector<std::string>& values) {
  bool found = false;
  for_each_of(instance, "Tags", [&](const json::object& tag) {
    found |= text_of(tag, "Key") == name &&
             std::ranges::find(values, text_of(tag, "Value")) != values.end();
  });
  return found;
}

bool passes(const json::object& instance, const json::object& parameters) {
  bool good = true;
  for_each_of(parameters, "Filters", [&](const json::object& filter) {
    const std::string name = text_of(filter, "Name");
    const auto values = texts_of(filter, "Values");
    const auto is_one = [&](const std::string& value) {
      return std::ranges::find(values, value) != values.end();
    };
    if (name.starts_with("tag:"))
      good &= has_tag(instance, name.substr(4), values);
    else if (name == "instance-state-name")
      good &= is_one(state_name_of(instance));
    else if (name == "state-reason-code")
      good &= is_one(state_reason_of(instance));
    else if (name == "instance-id")
      good &= is_one(text_of(instance, "InstanceId"));
  });
  return good;
}

json::array tags_of_instances(const json::object& parameters) {
  json::array tags;
  for_each_of(parameters, "TagSpecifications", [&](const json::object& specification) {
    if (text_of(specification, "ResourceType") == "instance")
      tags = specification.at("Tags").as_array();
  });
  return tags;
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%017llx", static_cast<unsigned long long>(number));
  return text.data();
}

}  // namespace

ExampleApi::ExampleApi(std::vector<std::string> regions)
    : regions_(regions.empty() ? std::vector<std::string>{"us-east-1", "eu-west-1"}
                               : std::move(regions)) {}

Result<json::object> ExampleApi::call(const Call& call, const Context& context) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(call);
  if (context.cancelled()) return Error::cancelled("the call was cancelled");
  const auto trouble = fault ? fault(call) : std::nullopt;
  if (trouble && !trouble->lost) return trouble->error;
  auto made = answer(call, context);
  if (trouble) return trouble->error;
  return made;
}

Result<json::object> ExampleApi::answer(const Call& call, const Context& context) {
  const json::value* dry = call.parameters.if_contains("DryRun");
  if (dry && dry->is_bool() && dry->get_bool())
    return refused(ErrorClass::unsupported, "DryRunOperation",
                   "Request would have succeeded, but DryRun flag is set.");
  if (call.action == "RunInstances") return run_instances(call, context);
  if (call.action == "DescribeInstances") return describe_instances(call);
  if (call.action == "TerminateInstances") return terminate_instances(call);
  if (call.action == "DescribeAvailabilityZones") return describe_zones(call.region);
  if (call.action == "DescribeSpotPriceHistory") return spot_prices(call, context);
  if (call.action == "ReceiveMessage") return receive_messages(call);
  if (call.action == "DeleteMessage") {
    queues_[text_of(call.parameters, "QueueUrl")].erase(text_of(call.parameters, "ReceiptHandle"));
    return json::object{};
  }
  if (call.action == "DescribeRegions") {
    json::array list;
    for (const std::string& region : regions_) list.push_back(json::object{{"RegionName", region}});
    return json::object{{"Regions", std::move(list)}};
  }
  if (call.action == "GetCallerIdentity")
    return json::object{{"Account", account}, {"Arn", "arn:aws:iam::123456789012:user/example"}};
  if (call.action == "DescribeImages") {
    json::array images;
    for (const std::string& id : texts_of(call.parameters, "ImageIds"))
      images.push_back(json::object{{"ImageId", id}, {"State", "available"}});
    return json::object{{"Images", std::move(images)}};
  }
  return json::object{};
}

Result<json::object> ExampleApi::run_instances(const Call& call, const Context& context) {
  const std::string token = call.region + "/" + text_of(call.parameters, "ClientToken");
  const auto known = tokens_.find(token);
  if (known != tokens_.end() && known->second.first != call.parameters)
    return refused(ErrorClass::transient, "IdempotentParameterMismatch",
                   "The request has the token of another one.");
  if (known == tokens_.end()) {
    const std::int64_t count = std::min(number_of(call.parameters, "MaxCount"), room_);
    if (count < 1)
      return refused(ErrorClass::capacity, "InsufficientInstanceCapacity",
                     "We currently do not have sufficient capacity.");
    room_ -= count;
    auto& [parameters, ids] = tokens_[token];
    parameters = call.parameters;
    const json::object* options = table_of(call.parameters, "InstanceMarketOptions");
    const json::object* placement = table_of(call.parameters, "Placement");
    for (std::int64_t index = 0; index < count; ++index) {
      const std::string id = "i-" + hexadecimal(next_++);
      json::object instance{
          {"InstanceId", id},
          {"AmiLaunchIndex", index},
          {"ImageId", text_of(call.parameters, "ImageId")},
          {"InstanceType", text_of(call.parameters, "InstanceType")},
          {"LaunchTime", format_time(context.now())},
          {"PrivateIpAddress",
           "10.0." + std::to_string(next_ / 256 % 256) + "." + std::to_string(next_ % 256)},
          {"State", json::object{{"Name", "pending"}}},
          {"Placement", json::object{{"AvailabilityZone",
                                      placement ? text_of(*placement, "AvailabilityZone") : ""}}},
          {"Tags", tags_of_instances(call.parameters)},
          {"Region", call.region}};
      if (options) instance["InstanceLifecycle"] = "spot";
      instances_.emplace(id, std::move(instance));
      ids.push_back(id);
      if (hides_) hidden_.insert(id);
    }
  }
  json::array launched;
  for (const std::string& id : tokens_[token].second) launched.push_back(instances_.at(id));
  return json::object{{"OwnerId", account}, {"Instances", std::move(launched)}};
}

Result<json::object> ExampleApi::describe_instances(const Call& call) const {
  const std::string after = text_of(call.parameters, "NextToken");
  json::array found;
  std::string last;
  for (auto at = instances_.upper_bound(after); at != instances_.end(); ++at) {
    if (text_of(at->second, "Region") != call.region || hidden_.contains(at->first) ||
        !passes(at->second, call.parameters))
      continue;
    if (found.size() == page_size_)
      return json::object{
          {"Reservations",
           json::array{json::object{{"OwnerId", account}, {"Instances", std::move(found)}}}},
          {"NextToken", last}};
    found.push_back(at->second);
    last = at->first;
  }
  return json::object{{"Reservations", json::array{json::object{{"OwnerId", account},
                                                                {"Instances", std::move(found)}}}}};
}

Result<json::object> ExampleApi::terminate_instances(const Call& call) {
  const auto ids = texts_of(call.parameters, "InstanceIds");
  std::string unknown;
  for (const std::string& id : ids) {
    const auto found = instances_.find(id);
    if (found == instances_.end() || text_of(found->second, "Region") != call.region ||
        hidden_.contains(id))
      unknown += (unknown.empty() ? "" : ", ") + id;
  }
  if (!unknown.empty())
    return refused(ErrorClass::not_found, "InvalidInstanceID.NotFound",
                   "The instance IDs '" + unknown + "' do not exist");
  for (const std::string& id : ids)
    instances_.at(id)["State"] = json::object{{"Name", "terminated"}};
  return json::object{};
}

json::object ExampleApi::describe_zones(const std::string& region) const {
  json::array zones;
  for (const char letter : {'a', 'b'})
    zones.push_back(json::object{{"ZoneName", region + letter}, {"RegionName", region}});
  return {{"AvailabilityZones", std::move(zones)}};
}

json::object ExampleApi::spot_prices(const Call& call, const Context& context) const {
  json::array history;
  for (const std::string& type : texts_of(call.parameters, "InstanceTypes"))
    for (const char letter : {'a', 'b'})
      history.push_back(json::object{{"InstanceType", type},
                                     {"AvailabilityZone", call.region + letter},
                                     {"SpotPrice", letter == 'a' ? "0.031" : "0.042"},
                                     {"Timestamp", format_time(context.now())}});
  return {{"SpotPriceHistory", std::move(history)}};
}

Result<json::object> ExampleApi::receive_messages(const Call& call) {
  json::array messages;
  for (const auto& [handle, body] : queues_[text_of(call.parameters, "QueueUrl")]) {
    if (messages.size() == 10) break;
    messages.push_back(json::object{{"ReceiptHandle", handle}, {"Body", body}});
  }
  return json::object{{"Messages", std::move(messages)}};
}

std::vector<Call> ExampleApi::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::map<std::string, json::object> ExampleApi::instances() const {
  const std::lock_guard lock(mutex_);
  return instances_;
}

void ExampleApi::change(const std::string& id, const std::function<void(json::object&)>& edit) {
  const std::lock_guard lock(mutex_);
  edit(instances_.at(id));
}

void ExampleApi::set_hidden(bool hidden) {
  const std::lock_guard lock(mutex_);
  hides_ = hidden;
  if (!hidden) hidden_.clear();
}

void ExampleApi::push_message(const std::string& queue, std::string body) {
  const std::lock_guard lock(mutex_);
  queues_[queue].emplace(std::to_string(next_++), std::move(body));
}

std::size_t ExampleApi::messages(const std::string& queue) const {
  const std::lock_guard lock(mutex_);
  const auto found = queues_.find(queue);
  return found == queues_.end() ? 0 : found->second.size();
}

std::unique_ptr<Api> example_api(std::vector<std::string> regions) {
  return std::make_unique<ExampleApi>(std::move(regions));
}

}  // namespace muster::aws

#include "plugins/provider/google/example_api.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/machine_types.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::table_of;
using cloud::text_of;

Error refused(ErrorClass error_class, const char* code, std::string message) {
  return Error{error_class, std::move(message)}.with_code(code);
}

std::string of(const std::map<std::string, std::string>& values, const char* key) {
  const auto found = values.find(key);
  return found == values.end() ? std::string() : found->second;
}

std::string value_at(const json::object& item, std::string_view path) {
  const auto dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  if (dot == path.npos) return text_of(item, key);
  const json::object* inner = table_of(item, key);
  return inner ? value_at(*inner, path.substr(dot + 1)) : std::string();
}

// `a = "b"`, joined by AND or by OR, each in brackets or not.
bool passes(const json::object& item, std::string_view filter) {
  const bool any = filter.find(" OR ") != filter.npos;
  bool good = !any;
  while (!filter.empty()) {
    const std::string_view word = any ? " OR " : " AND ";
    const auto end = filter.find(word);
    std::string_view part = filter.substr(0, end);
    filter.remove_prefix(end == filter.npos ? filter.size() : end + word.size());
    while (part.starts_with('(')) part.remove_prefix(1);
    while (part.ends_with(')')) part.remove_suffix(1);
    const auto sign = part.find(" = \"");
    if (sign == part.npos) return false;
    const std::string_view wanted = part.substr(sign + 4, part.size() - sign - 5);
    const bool fits = value_at(item, part.substr(0, sign)) == wanted;
    good = any ? good || fits : good && fits;
  }
  return good;
}

}  // namespace

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

bool ExampleApi::pause(std::chrono::milliseconds, const Context& context) {
  const std::lock_guard lock(mutex_);
  if (operations_end) end_all();
  return !context.cancelled();
}

Result<json::object> ExampleApi::answer(const Call& call, const Context& context) {
  const std::string& method = call.method;
  if (method == "instances.insert") return insert(call, context);
  if (method == "instances.bulkInsert") return bulk_insert(call, context);
  if (method == "instances.delete") return remove(call, context);
  if (method == "instances.list") return list(call, all_instances());
  if (method == "instances.aggregatedList") return aggregated(call, all_instances(), "instances");
  if (method == "zoneOperations.list") return list(call, all_operations());
  if (method == "globalOperations.aggregatedList")
    return aggregated(call, all_operations(), "operations");
  if (method == "regions.get") return region(of(call.path, "region"));
  if (method == "certs.get") return certificates;
  if (method == "cloudbilling.skus.list") return json::object{{"skus", skus}};
  if (method == "cloudresourcemanager.projects.testIamPermissions") {
    json::array held;
    for (const json::value& each : call.body->at("permissions").as_array())
      if (!refused_permissions.contains(std::string(each.as_string()))) held.push_back(each);
    return json::object{{"permissions", std::move(held)}};
  }
  if (method == "machineTypes.get" && !shape_of(of(call.path, "machineType")))
    return refused(ErrorClass::not_found, "notFound", "The resource was not found");
  if (method.starts_with("images.")) return json::object{{"name", "image"}, {"status", "READY"}};
  return json::object{{"name", "example"}, {"guestCpus", 4}, {"ipCidrRange", "10.0.0.0/20"}};
}

json::object& ExampleApi::add_operation(const std::string& type, const std::string& zone,
                                        const std::string& target, const Context& context) {
  const std::string name = "operation-" + std::to_string(next_++);
  json::object& operation = operations_[name];
  operation = {{"name", name},
               {"operationType", type},
               {"status", "RUNNING"},
               {"zone", "zones/" + zone},
               {"insertTime", format_time(context.now())},
               {"targetLink", "zones/" + zone + "/instances/" + target}};
  if (const auto found = instances_.find(target); found != instances_.end())
    operation["targetId"] = found->second.at("id");
  return operation;
}

void ExampleApi::create(const json::object& body, const std::string& zone, const Context& context) {
  json::object instance = body;
  instance["id"] = std::to_string(1'000'000'000'000 + next_++);
  instance["zone"] = "https://www.googleapis.com/compute/v1/projects/p/zones/" + zone;
  instance["status"] = "PROVISIONING";
  instance["creationTimestamp"] = format_time(context.now());
  instances_.insert_or_assign(text_of(body, "name"), std::move(instance));
}

Result<json::object> ExampleApi::insert(const Call& call, const Context& context) {
  const std::string request = of(call.query, "requestId"), zone = of(call.path, "zone");
  if (const auto known = by_request_.find(request); known != by_request_.end())
    return operations_.at(known->second);
  const std::string name = text_of(*call.body, "name");
  if (instances_.contains(name))
    return refused(ErrorClass::transient, "alreadyExists", "The resource already exists");
  create(*call.body, zone, context);
  json::object& operation = add_operation("insert", zone, name, context);
  by_request_[request] = text_of(operation, "name");
  return operation;
}

Result<json::object> ExampleApi::bulk_insert(const Call& call, const Context& context) {
  const std::string request = of(call.query, "requestId"), zone = of(call.path, "zone");
  if (const auto known = by_request_.find(request); known != by_request_.end())
    return operations_.at(known->second);
  const json::object& names = call.body->at("perInstanceProperties").as_object();
  for (const auto& entry : names)
    if (instances_.contains(entry.key()))
      return refused(ErrorClass::transient, "alreadyExists", "The resource already exists");
  const std::string group = "group-" + std::to_string(next_++);
  for (const auto& entry : names) {
    json::object body = call.body->at("instanceProperties").as_object();
    body["name"] = entry.key();
    create(body, zone, context);
    add_operation("insert", zone, std::string(entry.key()), context)["operationGroupId"] = group;
  }
  json::object& whole = add_operation("bulkInsert", zone, "", context);
  whole["operationGroupId"] = group;
  by_request_[request] = text_of(whole, "name");
  return whole;
}

Result<json::object> ExampleApi::remove(const Call& call, const Context& context) {
  const std::string given = of(call.path, "instance");
  const auto found = std::ranges::find_if(instances_, [&](const auto& entry) {
    return (entry.first == given || text_of(entry.second, "id") == given) &&
           last_part(text_of(entry.second, "zone")) == of(call.path, "zone");
  });
  if (found == instances_.end())
    return refused(ErrorClass::not_found, "notFound", "The resource was not found");
  json::object operation = add_operation("delete", of(call.path, "zone"), found->first, context);
  instances_.erase(found);
  return operation;
}

void ExampleApi::end_all() {
  for (auto& [name, operation] : operations_) {
    if (text_of(operation, "status") == "DONE") continue;
    operation["status"] = "DONE";
    if (text_of(operation, "operationType") != "insert") continue;
    const std::string target = last_part(text_of(operation, "targetLink"));
    const auto instance = instances_.find(target);
    if (const auto error = operation_error ? operation_error(target) : std::nullopt) {
      operation["error"] = json::object{{"errors", json::array{*error}}};
      if (text_of(*error, "code") != "RESOURCE_ALREADY_EXISTS") instances_.erase(target);
    } else if (instance != instances_.end() &&
               text_of(instance->second, "status") == "PROVISIONING") {
      instance->second["status"] = "RUNNING";
    }
  }
}

std::vector<json::object> ExampleApi::all_instances() const {
  std::vector<json::object> items;
  for (const auto& [name, instance] : instances_) items.push_back(instance);
  return items;
}

std::vector<json::object> ExampleApi::all_operations() const {
  std::vector<json::object> items;
  for (const auto& [name, operation] : operations_) items.push_back(operation);
  return items;
}

Result<json::object> ExampleApi::list(const Call& call,
                                      const std::vector<json::object>& items) const {
  json::array found;
  const std::string after = of(call.query, "pageToken");
  for (const json::object& item : items) {
    if (text_of(item, "name") <= after ||
        last_part(text_of(item, "zone")) != of(call.path, "zone") ||
        !passes(item, of(call.query, "filter")))
      continue;
    if (found.size() == page_size)
      return json::object{{"nextPageToken", text_of(found.back().as_object(), "name")},
                          {"items", std::move(found)}};
    found.push_back(item);
  }
  return json::object{{"items", std::move(found)}};
}

Result<json::object> ExampleApi::aggregated(const Call& call,
                                            const std::vector<json::object>& items,
                                            const char* member) const {
  json::object scopes, answer;
  const std::string after = of(call.query, "pageToken");
  std::size_t count = 0;
  std::string last;
  for (const json::object& item : items) {
    const std::string zone = last_part(text_of(item, "zone"));
    if (text_of(item, "name") <= after || unreachable.contains(zone) ||
        !passes(item, of(call.query, "filter")))
      continue;
    if (count++ == page_size) {
      answer["nextPageToken"] = last;
      break;
    }
    last = text_of(item, "name");
    json::value& listed = cloud::table_in(scopes, "zones/" + zone)[member];
    if (!listed.is_array()) listed.emplace_array();
    listed.get_array().push_back(item);
  }
  json::array lost;
  for (const std::string& zone : unreachable) lost.emplace_back("zones/" + zone);
  answer["items"] = std::move(scopes);
  if (!lost.empty()) answer["unreachables"] = std::move(lost);
  return answer;
}

// Limits that were not set are far away. Usage is what the machines count for.
Result<json::object> ExampleApi::region(const std::string& name) const {
  json::array quotas, zones;
  double used = 0;
  for (const auto& [id, instance] : instances_)
    if (const auto shape = shape_of(last_part(text_of(instance, "machineType"))))
      if (region_of_zone(last_part(text_of(instance, "zone"))) == name) used += shape->processors;
  for (const char* metric : {"CPUS", "N2_CPUS", "PREEMPTIBLE_CPUS"}) {
    const auto limit = limits.find(metric);
    quotas.push_back(json::object{{"metric", metric},
                                  {"limit", limit == limits.end() ? 1e6 : limit->second},
                                  {"usage", used}});
  }
  for (const char letter : {'a', 'b'}) zones.emplace_back("zones/" + name + "-" + letter);
  return json::object{{"name", name}, {"status", "UP"}, {"quotas", quotas}, {"zones", zones}};
}

std::vector<Call> ExampleApi::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::map<std::string, json::object> ExampleApi::instances() const {
  const std::lock_guard lock(mutex_);
  return instances_;
}

void ExampleApi::change(const std::string& name, const std::function<void(json::object&)>& edit) {
  const std::lock_guard lock(mutex_);
  edit(instances_.at(name));
}

void ExampleApi::end_operations() {
  const std::lock_guard lock(mutex_);
  end_all();
}

void ExampleApi::preempt(const std::string& name, const Context& context) {
  const std::lock_guard lock(mutex_);
  const std::string zone = last_part(text_of(instances_.at(name), "zone"));
  add_operation("compute.instances.preempted", zone, name, context)["status"] = "DONE";
}

}  // namespace muster::google

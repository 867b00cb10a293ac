#include "plugins/provider/azure/example_api.hpp"

#include <algorithm>
#include <cstdio>

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"

namespace muster::azure {
namespace {

using cloud::table_in;
using cloud::table_of;
using cloud::text_of;

Error refused(ErrorClass error_class, const char* code, std::string message) {
  return Error{error_class, std::move(message)}.with_code(code);
}

Error not_found(const std::string& name) {
  return refused(ErrorClass::not_found, "ResourceNotFound",
                 "The Resource '" + name + "' was not found.");
}

std::string made_id(std::uint64_t number) {
  char text[40];
  std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%012llx",
                static_cast<unsigned long long>(number));
  return text;
}

std::string query_value(const std::string& target, const std::string& key) {
  const std::size_t at = target.find(key + "=");
  if (at == std::string::npos) return {};
  const std::size_t begin = at + key.size() + 1;
  return target.substr(begin, target.find('&', begin) - begin);
}

const char* const processors = "2";

}  // namespace

// "/subscriptions/S/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/N?..."
struct ExampleApi::Path {
  explicit Path(const std::string& target) {
    const std::string path = target.substr(0, target.find('?'));
    std::vector<std::string> parts;
    for (std::size_t at = 1; at <= path.size();) {
      const std::size_t end = std::min(path.size(), path.find('/', at));
      parts.push_back(path.substr(at, end - at));
      at = end + 1;
    }
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      if (parts[i] == "resourceGroups") group = parts[i + 1];
      if (parts[i] == "providers" && i + 2 < parts.size()) {
        type = parts[i + 2];
        if (i + 3 < parts.size()) name = parts[i + 3];
        if (i + 4 < parts.size()) action = parts.back();
      }
    }
  }
  std::string key() const { return group + "/" + type + "/" + name; }

  std::string group, type, name, action;
};

Result<Answer> ExampleApi::call(const Call& call, const Context& context) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(call);
  if (context.cancelled()) return Error::cancelled("the call was cancelled");
  const auto trouble = fault ? fault(call) : std::nullopt;
  if (trouble && !trouble->lost) return trouble->error;
  auto made = answer(call, context);
  if (trouble) return trouble->error;
  return made;
}

Result<std::string> ExampleApi::fetch(const std::string& url, const Context&) {
  const std::lock_guard lock(mutex_);
  const auto found = certificates.find(url);
  if (found == certificates.end()) return Error::transient(url + " does not answer");
  return found->second;
}

Result<Answer> ExampleApi::answer(const Call& call, const Context& context) {
  if (call.service == Service::retail_prices) return prices(call);
  const Path path(call.target);
  if (path.type == "operations") return Answer{.body = operations_[path.name]};
  if (path.type == "skus") return skus();
  if (path.action == "usages") return usages();
  if (path.type == "permissions")
    return Answer{.body = {{"value", json::array{json::object{{"actions", json::array{"*"}},
                                                              {"notActions", json::array{}}}}}}};
  if (path.type.empty() || path.type == "locations" || path.type == "virtualNetworks")
    return Answer{.body = {{"name", path.group}, {"value", json::array{json::object{}}}}};
  if (path.type == "virtualMachines" && call.method == "PUT")
    return put_machine(path, call, context);
  if (path.type == "deployments" && call.method == "PUT")
    return put_deployment(path, call, context);
  if (path.name.empty()) return list(path, call);
  const auto found = resources_.find(path.key());
  if (call.method == "DELETE") return remove(path);
  if (found == resources_.end()) return not_found(path.name);
  if (call.method == "POST") {  // of a deployment: cancel
    table_in(found->second, "properties")["provisioningState"] = "Canceled";
    return Answer{.status = 204};
  }
  return Answer{.body = found->second};
}

json::object& ExampleApi::place(const std::string& group, const std::string& type,
                                const std::string& name) {
  json::object& made = resources_[group + "/" + type + "/" + name];
  made["id"] =
      "/subscriptions/0/resourceGroups/" + group + "/providers/Example/" + type + "/" + name;
  made["name"] = name;
  return made;
}

Result<Answer> ExampleApi::put_machine(const Path& path, const Call& call, const Context& context) {
  if (call.only_if_new && resources_.contains(path.key()))
    return refused(ErrorClass::transient, "PreconditionFailed", "The machine exists.");
  json::object body = *call.body;
  json::object& machine = place(path.group, path.type, path.name);
  for (const auto& [key, value] : body) machine[key] = value;
  json::object& properties = table_in(machine, "properties");
  properties["vmId"] = made_id(next_++);
  properties["timeCreated"] = format_time(context.now());
  properties["provisioningState"] = later_.empty() ? "Creating" : "Failed";
  const json::object storage = table_in(properties, "storageProfile");
  const json::object* disk = table_of(storage, "osDisk");
  json::object& system = place(path.group, "disks", disk ? text_of(*disk, "name") : "disk");
  system["tags"] = machine["tags"];
  system["managedBy"] = machine["id"];
  cloud::for_each_of(
      table_in(properties, "networkProfile"), "networkInterfaceConfigurations",
      [&](const json::object& nic) {
        json::object& made = place(path.group, "networkInterfaces", text_of(nic, "name") + "-e1f2");
        made["properties"] = json::object{{"virtualMachine", json::object{{"id", machine["id"]}}}};
      });
  table_in(properties, "osProfile").erase("adminPassword");
  table_in(properties, "osProfile").erase("customData");
  const std::string operation = "/subscriptions/0/providers/Example/operations/" + path.name;
  operations_[path.name] =
      later_.empty()
          ? json::object{{"status", "InProgress"}}
          : json::object{{"status", "Failed"},
                         {"error", json::object{{"code", later_}, {"message", "It failed."}}}};
  return Answer{.status = 201, .body = machine, .operation = operation};
}

Result<Answer> ExampleApi::put_deployment(const Path& path, const Call& call,
                                          const Context& context) {
  json::object& made = place(path.group, path.type, path.name);
  made["tags"] = call.body->at("tags");
  made["properties"] =
      json::object{{"provisioningState", "Running"}, {"timestamp", format_time(context.now())}};
  return Answer{.status = 201, .body = made};
}

Result<Answer> ExampleApi::remove(const Path& path) {
  const auto found = resources_.find(path.key());
  if (found == resources_.end()) return Answer{.status = 204};
  const json::value id = found->second["id"];
  resources_.erase(found);
  if (path.type == "virtualMachines")
    std::erase_if(resources_, [&](const auto& entry) {
      const json::object& document = entry.second;
      const json::value* by = document.if_contains("managedBy");
      if (by && *by == id) return true;
      const json::object* properties = table_of(document, "properties");
      const json::object* machine = properties ? table_of(*properties, "virtualMachine") : nullptr;
      return machine && machine->at("id") == id;
    });
  return Answer{.status = 202};
}

Result<Answer> ExampleApi::list(const Path& path, const Call& call) const {
  const bool only_status = call.target.find("statusOnly") != std::string::npos;
  const std::string after = query_value(call.target, "$skiptoken");
  json::array found;
  for (auto at = resources_.upper_bound(after); at != resources_.end(); ++at) {
    const std::string middle = "/" + path.type + "/";
    if (at->first.find(middle) == std::string::npos ||
        (!path.group.empty() && !at->first.starts_with(path.group + "/")))
      continue;
    json::object document = at->second;
    if (only_status) {
      json::array statuses;
      if (const json::object* view = table_of(table_in(document, "properties"), "instanceView"))
        statuses = view->at("statuses").as_array();
      document = {{"id", document["id"]},
                  {"properties", json::object{{"instanceView",
                                               json::object{{"statuses", std::move(statuses)}}}}}};
    }
    if (found.size() == page_size_) {
      const std::string last = std::prev(at)->first;
      std::string next = call.target.substr(0, call.target.find("&$skiptoken"));
      return Answer{
          .body = {{"value", std::move(found)}, {"nextLink", next + "&$skiptoken=" + last}}};
    }
    found.push_back(std::move(document));
  }
  return Answer{.body = {{"value", std::move(found)}}};
}

Result<Answer> ExampleApi::skus() const {
  json::array value;
  for (const char* name : {"Standard_D2s_v5", "Standard_F4s_v2", "Standard_B2s"}) {
    const json::object zones{{"location", "westeurope"}, {"zones", json::array{"1", "2", "3"}}};
    value.push_back(json::object{
        {"resourceType", "virtualMachines"},
        {"name", name},
        {"family", std::string("family") + name},
        {"locationInfo", json::array{zones}},
        {"capabilities", json::array{json::object{{"name", "vCPUs"}, {"value", processors}}}}});
  }
  return Answer{.body = {{"value", std::move(value)}}};
}

Result<Answer> ExampleApi::usages() const {
  json::array value;
  for (const auto& [name, numbers] : quotas_)
    value.push_back(
        json::object{{"name", json::object{{"value", name}, {"localizedValue", "Quota " + name}}},
                     {"currentValue", numbers.first},
                     {"limit", numbers.second},
                     {"unit", "Count"}});
  return Answer{.body = {{"value", std::move(value)}}};
}

Result<Answer> ExampleApi::prices(const Call& call) const {
  json::array items;
  for (const char* size : {"Standard_D2s_v5", "Standard_F4s_v2", "Standard_B2s"}) {
    if (call.target.find(size) == std::string::npos) continue;
    for (const auto& [sku, product, price] :
         {std::tuple{"D2s v5", "Virtual Machines Series", 0.1},
          {"D2s v5 Spot", "Virtual Machines Series", 0.02},
          {"D2s v5 Low Priority", "Virtual Machines Series", 0.03},
          {"D2s v5", "Virtual Machines Series Windows", 0.2}})
      items.push_back(json::object{{"armSkuName", size},
                                   {"skuName", sku},
                                   {"productName", product},
                                   {"retailPrice", price},
                                   {"unitOfMeasure", "1 Hour"},
                                   {"type", "Consumption"}});
  }
  return Answer{.body = {{"Items", std::move(items)}, {"NextPageLink", nullptr}}};
}

std::vector<Call> ExampleApi::calls(const std::string& method,
                                    const std::string& part_of_target) const {
  const std::lock_guard lock(mutex_);
  std::vector<Call> found;
  for (const Call& call : calls_)
    if (call.method == method && call.target.find(part_of_target) != std::string::npos)
      found.push_back(call);
  return found;
}

std::size_t ExampleApi::call_count() const {
  const std::lock_guard lock(mutex_);
  return calls_.size();
}

std::vector<std::string> ExampleApi::names(const std::string& type) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [key, document] : resources_)
    if (key.find("/" + type + "/") != std::string::npos) found.push_back(text_of(document, "name"));
  return found;
}

void ExampleApi::change(const std::string& type, const std::string& name,
                        const std::function<void(json::object&)>& edit) {
  const std::lock_guard lock(mutex_);
  for (auto& [key, document] : resources_)
    if (key.ends_with("/" + type + "/" + name)) edit(document);
}

void ExampleApi::add(const std::string& group, const std::string& type,
                     const json::object& document) {
  const std::lock_guard lock(mutex_);
  json::object& made = place(group, type, text_of(document, "name"));
  for (const auto& [key, value] : document) made[key] = value;
}

void ExampleApi::set_quota(const std::string& name, std::int64_t used, std::int64_t limit) {
  const std::lock_guard lock(mutex_);
  quotas_[name] = {used, limit};
}

}  // namespace muster::azure

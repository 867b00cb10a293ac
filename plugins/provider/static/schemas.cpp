// What operators and teams may write, for the host's checks and for people.
#include "plugins/base/schema_parts.hpp"
#include "plugins/provider/static/settings.hpp"

namespace muster::static_machines {
namespace {

json::object texts_schema(const char* description) {
  json::object schema = of_type("array", description);
  schema["items"] = json::object{{"type", "string"}};
  return schema;
}

json::object command_schema(const char* description) {
  json::object schema = texts_schema(description);
  schema["minItems"] = 1;
  return schema;
}

json::object pool_schema() {
  return table_schema(
      "Who may join this pool without being named below",
      {{"publicKeys",
        texts_schema("SSH public keys (ssh-ed25519, or ssh-rsa of 2048 bits and more), each as a "
                     "line of a .pub file: a machine that signs with one of them may join")},
       {"hostNames",
        texts_schema("Names for which a relay may vouch, with patterns in their labels: "
                     "mac-*.dc1.example.com. The first label is the worker's id")}});
}

json::object machine_schema() {
  json::object capacity = of_type("integer", "Tasks at once; 1 unless given");
  capacity["minimum"] = 1;
  return table_schema(
      "One machine",
      {{"workerPoolId", text_schema("The pool that it belongs to: worker-manager/mac")},
       {"workerId", text_schema("Its id: 1 to 38 letters, digits, - and _; unique here")},
       {"hostName", text_schema("Its name in DNS, by which a relay knows it; unique here")},
       {"capacity", std::move(capacity)},
       {"secretSha256", text_schema("The SHA-256, in hex, of the secret that it shows")},
       {"publicKeys", texts_schema("SSH public keys of its own; with these or a secret, a key "
                                   "of its pool is not enough to be it")},
       {"powered", of_type("boolean",
                           "It sleeps until it is needed: the provider bids it, wakes it with "
                           "wakeCommand and ends it with powerOffCommand")},
       {"variables", map_schema("What the commands fill in for {name}", {{"type", "string"}})}},
      {"workerPoolId", "workerId"});
}

}  // namespace

json::object config_schema() {
  json::object machines = of_type("array", "The machines that are known by name");
  machines["items"] = machine_schema();
  return table_schema(
      "Machines of a datacenter",
      {{"region", text_schema("What rules call the place of these machines; static unless given")},
       {"workerGroup", text_schema("The worker group of these machines; the region unless given")},
       {"stateFile",
        text_schema("Absolute path of the file that says which powered machine is awake for which "
                    "launch; \":memory:\" forgets that with the process")},
       {"wakeCommand",
        command_schema("Wakes a powered machine: a program and its arguments, run without a shell; "
                       "{workerId}, {hostName}, {workerPoolId}, {workerGroup} and the machine's "
                       "variables are filled in")},
       {"powerOffCommand", command_schema("Switches a powered machine off, likewise; without it "
                                          "machines are expected to do that themselves")},
       {"commandTimeout", text_schema("How long a command may take, like \"60s\", which it is "
                                      "unless given; the deadline of the call ends it, too")},
       {"pools", map_schema("By workerPoolId", pool_schema())},
       {"machines", std::move(machines)}});
}

json::object section_schema() {
  json::object price =
      of_type("number",
              "What an hour of a powered machine costs for each task at once; 0 unless "
              "given. Bids are compared by it");
  price["minimum"] = 0;
  const json::object glob{{"type", "string"}};
  return table_schema(
      "What a pool wants of its machines",
      {{"state",
        map_schema(
            "The state that machines must report when they register: a pattern, or a list of "
            "patterns, for each name",
            {{"anyOf",
              json::array{glob,
                          json::object{{"type", "array"}, {"minItems", 1}, {"items", glob}}}}})},
       {"pricePerCapacityHour", std::move(price)}});
}

// Of the contract's own pool: it launches there.
json::object example_config() {
  const auto machine = [](const char* id, const char* mac) {
    json::object made{{"workerPoolId", "worker-manager/contract"},
                      {"workerId", id},
                      {"hostName", std::string(id) + ".dc1.example.com"}};
    if (!mac) return made;
    made["powered"] = true;
    made["variables"] = json::object{{"mac", mac}};
    return made;
  };
  return {
      {"region", "dc1"},
      {"workerGroup", "dc1"},
      {"stateFile", in_memory},
      {"wakeCommand", json::array{"true", "{mac}"}},
      {"powerOffCommand", json::array{"true", "{hostName}"}},
      {"commandTimeout", "5s"},
      {"pools",
       json::object{{"worker-manager/contract",
                     json::object{{"publicKeys",
                                   json::array{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ/5zklAiDld"
                                               "GYMqgonRzO4dXym1BYr3m+a2MWkTTweE example"}},
                                  {"hostNames", json::array{"rack-*.dc1.example.com"}}}}}},
      {"machines", json::array{machine("mac-01", nullptr), machine("mac-02", nullptr),
                               machine("blade-01", "02:00:00:00:00:01"),
                               machine("blade-02", "02:00:00:00:00:02"),
                               machine("blade-03", "02:00:00:00:00:03")}}};
}

json::object example_section() {
  return {{"state", json::object{{"os", json::array{"14.*", "15.0"}}}},
          {"pricePerCapacityHour", 0.02}};
}

}  // namespace muster::static_machines

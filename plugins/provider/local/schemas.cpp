// What operators and teams may write, for the host's checks and for people.
#include "plugins/provider/local/settings.hpp"

namespace muster::local {
namespace {

json::object text(const char* description) {
  return {{"type", "string"}, {"minLength", 1}, {"description", description}};
}

json::object whole(const char* description, std::int64_t least) {
  return {{"type", "integer"}, {"minimum", least}, {"description", description}};
}

json::object command(const char* description) {
  return {{"type", "array"},
          {"minItems", 1},
          {"items", json::object{{"type", "string"}}},
          {"description", description}};
}

json::object closed(json::object properties, json::array needed = {}) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", std::move(needed)},
          {"properties", std::move(properties)}};
}

json::object image() {
  json::object refresh{
      {"description", "How it learns of new credentials: signal (SIGHUP), none, or a command"},
      {"anyOf", json::array{json::object{{"enum", json::array{"signal", "none"}}},
                            command("A program and its arguments")}}};
  return {{"anyOf", json::array{command("A program and its arguments"),
                                closed({{"command", command("A program and its arguments")},
                                        {"refresh", std::move(refresh)}},
                                       {"command"})}}};
}

// Enough of an agent to show what the provider does: it holds the lock and ends when
// it is told to. Its words after the script are those that the agent gets.
const char* const stand_in =
    "cd \"${3%/*}\" || exit 3; "
    "setsid flock lock sh -c 'echo $$ > lock; exec sleep 600' & "
    "until [ -s lock ]; do sleep 0.01; done";

}  // namespace

json::object config_schema() {
  return closed(
      {{"folder", text("Absolute path; each worker has a folder in it. It outlasts restarts and "
                       "belongs to one host")},
       {"temporary",
        {{"type", "boolean"},
         {"description", "Instead of a folder: workers end with the provider. To try it out"}}},
       {"region", text("What rules call this machine; \"here\" unless given")},
       {"agent",
        {{"description", "muster-agent: its path, or a command; beside the host unless given"},
         {"anyOf", json::array{text("Absolute path"), command("A program and arguments")}}}},
       {"maxWorkers", whole("How many at once; default: the number of cores of the machine", 0)},
       {"stopGrace", text("From SIGTERM to SIGKILL for what a worker runs; \"30s\" unless given")},
       {"startTimeout", text("Until an agent must be up; \"20s\" unless given")},
       {"keepStopped",
        text("The folder of a stopped worker, with its output; \"1h\" unless given")},
       {"outputLimit", text("Of each of a worker's logs, twice; \"10MiB\" unless given")},
       {"images",
        {{"type", "object"},
         {"additionalProperties", image()},
         {"description", "What worker configurations may choose by name, and what it runs"}}},
       {"environment",
        {{"type", "object"},
         {"additionalProperties", json::object{{"type", "string"}}},
         {"description", "Of every worker, beside what the agent sets"}}},
       {"allowedEnvironment",
        {{"type", "array"},
         {"items", json::object{{"type", "string"}}},
         {"description",
          "Variables that teams may set in workerConfig.environment although they "
          "can change which programs run: PATH"}}},
       {"user", text("Whom workers run as, if the host is root: a name, or uid:gid; muster-worker, "
                     "or nobody if there is no such user, unless given")},
       {"timings",
        {{"type", "object"},
         {"additionalProperties", json::object{{"type", "string"}}},
         {"description", "Of agents, as their own configuration calls them: idleCheck"}}},
       {"caFile", text("Certificates that agents trust the host by, if not the system's")},
       {"cgroup", text("A cgroup v2 of the host's own, for workers' groups; the one that systemd "
                       "delegated to the host unless given")}});
}

json::object section_schema() {
  return closed(
      {{"image", text("One of the images that the host's operator has")},
       {"capacity", whole("Tasks at once", 1)},
       {"memory", text("\"512MiB\": of all its processes with a cgroup, of each without")},
       {"cpus", {{"type", "number"}, {"minimum", 0.01}, {"description", "Needs a cgroup"}}},
       {"openFiles", whole("Of each process", 32)},
       {"processes", whole("At once; needs a cgroup", 8)}},
      {"image"});
}

json::object example_config() {
  return {{"temporary", true},
          {"region", "here"},
          {"agent", json::array{"/bin/sh", "-c", stand_in, "stand-in"}},
          {"maxWorkers", 4},
          {"images", json::object{{"example", json::array{"/bin/true"}}}}};
}

}  // namespace muster::local

#include "cli/fleet/show.hpp"

#include <cstdio>

#include "cli/connection.hpp"

namespace muster::cli {

Look verdict_look(std::string_view kind) {
  if (kind == "placed") return Look::green;
  return kind == "blocked" ? Look::red : Look::yellow;
}

std::string two_digits(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  if (!found || !found->is_number()) return "";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f", found->to_number<double>());
  return digits;
}

std::string with_provisioner(const std::string& pool) {
  return pool.find('/') == std::string::npos ? "worker-manager/" + pool : pool;
}

namespace {

// "paused until it is resumed; "
std::string pause_of(const json::object& pool, const View& view) {
  const std::string until = text_of(pool, "pausedUntil");
  if (until.empty()) return "";
  return "paused until " + (until.starts_with("9999") ? "it is resumed" : view.time(until)) + "; ";
}

}  // namespace

std::string show_pools(const json::object& document, const View& view) {
  if (list_of(document, "pools").empty())
    return "No worker pools. Worker configurations define them (see: muster status).\n";
  Table rows;
  rows.add_heads(
      {"POOL", "PENDING", "RUNNING", "REQUESTED", "DRAINING", "STOPPING", "MAX", "", "WHY"});
  rows.only_if_roomy({4, 5});
  for (const json::object& pool : objects_of(document, "pools")) {
    const json::object capacity = table_of(pool, "capacity");
    const json::object verdict = table_of(pool, "verdict");
    const std::string kind = text_of(verdict, "kind");
    rows.add({{text_of(pool, "workerPoolId"), Look::bold},
              {text_of(pool, "pending")},
              {text_of(capacity, "running")},
              {text_of(capacity, "requested")},
              {text_of(capacity, "draining")},
              {text_of(capacity, "stopping")},
              {text_of(pool, "maxCapacity")},
              {kind, verdict_look(kind)},
              {pause_of(pool, view) + text_of(verdict, "text")}});
  }
  return rows.text(view);
}

namespace {

std::string launch_config_table(const json::object& document, bool with_pool, const View& view) {
  Table rows;
  rows.add_heads({with_pool ? "POOL" : "", "LAUNCH CONFIGURATION", "PROVIDER", "WHERE", "STATUS",
                  "RUNNING", "WEIGHT", "ARITHMETIC"});
  rows.only_if_roomy({3});
  for (const json::object& launch_config : objects_of(document, "launchConfigs")) {
    std::string where;
    for (const auto& [fact, value] : table_of(launch_config, "placement"))
      where +=
          (where.empty() ? "" : " ") + (value.is_string() ? std::string(value.get_string()) : "");
    std::string status = text_of(launch_config, "status");
    if (const std::string until = text_of(launch_config, "pausedUntil"); !until.empty())
      status += " until " + view.time(until);
    std::string why = text_of(launch_config, "arithmetic");
    if (why.empty()) why = text_of(launch_config, "outdated");
    if (why.empty()) why = text_of(launch_config, "pauseReason");
    rows.add({{with_pool ? text_of(launch_config, "workerPoolId") : "", Look::bold},
              {text_of(launch_config, "launchConfigId")},
              {text_of(launch_config, "providerId")},
              {where + " " + text_of(launch_config, "instanceType")},
              {status, status == "active" ? Look::plain : Look::yellow},
              {text_of(table_of(launch_config, "capacity"), "running")},
              {two_digits(launch_config, "weight")},
              {why}});
  }
  return rows.text(view);
}

}  // namespace

std::string show_pool(const json::object& pool, const View& view) {
  const json::object capacity = table_of(pool, "capacity");
  const json::object verdict = table_of(pool, "verdict");
  const std::string kind = text_of(verdict, "kind");
  std::string out =
      view(Look::bold, text_of(pool, "workerPoolId")) + "  " + text_of(pool, "description") + "\n";
  for (const std::string& line :
       folded(kind + ": " + pause_of(pool, view) + text_of(verdict, "text"), view.columns()))
    out += view(verdict_look(kind), line) + "\n";
  if (!text_of(pool, "pausedUntil").empty()) {
    std::string reason;
    for (const json::object& each : objects_of(pool, "launchConfigs"))
      if (reason.empty()) reason = text_of(each, "pauseReason");
    out += "paused" + (reason.empty() ? "" : " (" + reason + ")") +
           "; to end the pause: muster pool resume " + text_of(pool, "workerPoolId") + "\n";
  }
  if (const std::string until = text_of(verdict, "until"); !until.empty())
    out += "next attempt at " + view.time(until) + "\n";
  if (const std::string who = text_of(verdict, "who"); !who.empty())
    out += "who can change it: " + who + "\n";
  if (const json::object eta = table_of(verdict, "eta"); !eta.empty())
    out += "ETA: p50 " + view.time(text_of(eta, "p50")) + ", p90 " +
           view.time(text_of(eta, "p90")) + "\n";
  out += "from " + (text_of(pool, "origin").empty() ? "the API" : text_of(pool, "origin")) +
         ", strategy " + text_of(pool, "strategy") + ", capacity " + text_of(pool, "minCapacity") +
         " to " + text_of(pool, "maxCapacity") + ", owner " + text_of(pool, "owner") + "\n";
  out += text_of(pool, "pending") + " pending; " + text_of(capacity, "running") + " running, " +
         text_of(capacity, "requested") + " requested, " + text_of(capacity, "draining") +
         " draining, " + text_of(capacity, "stopping") + " stopping, " +
         text_of(capacity, "absent") + " absent\n\n";
  return out + launch_config_table(pool, false, view);
}

std::string show_launch_configs(const json::object& document, const View& view) {
  if (list_of(document, "launchConfigs").empty()) return "No launch configurations.\n";
  return launch_config_table(document, true, view);
}

namespace {

std::string worker_name(const json::object& worker) {
  const std::string id = text_of(worker, "workerId");
  if (id.empty()) return "(intent " + text_of(worker, "number") + ")";
  return text_of(worker, "workerGroup") + "/" + id;
}

}  // namespace

std::string show_workers(const json::object& document, const View& view) {
  if (list_of(document, "workers").empty()) return "No workers.\n";
  Table rows;
  rows.add_heads(
      {"POOL", "WORKER", "PROVIDER", "STATE", "DRAINS", "CAPACITY", "BUSY", "AGE", "SINCE", "WHY"});
  rows.only_if_roomy({2, 5, 8});
  for (const json::object& worker : objects_of(document, "workers")) {
    const std::string drain = text_of(worker, "drain"), since = text_of(worker, "since");
    const std::string created = text_of(worker, "created");
    rows.add({{text_of(worker, "workerPoolId")},
              {worker_name(worker), Look::bold},
              {text_of(worker, "providerId")},
              {text_of(worker, "state")},
              {drain == "none" ? "" : drain, Look::yellow},
              {text_of(worker, "capacity")},
              {text_of(worker, "busy")},
              {view.age(created.empty() ? since : created)},
              {since.substr(0, 19)},
              {text_of(worker, "reason")}});
  }
  return rows.text(view);
}

std::string show_worker(const json::object& worker, const View& view) {
  Table rows;
  const auto line = [&](const char* name, std::string value) {
    if (!value.empty()) rows.add({{name, Look::dim}, {std::move(value)}});
  };
  const auto time = [&](const char* name, const char* key) {
    line(name, view.time(text_of(worker, key)));
  };
  const std::string drain = text_of(worker, "drain");
  line("pool", text_of(worker, "workerPoolId"));
  line("provider", text_of(worker, "providerId"));
  line("launch configuration", text_of(worker, "launchConfigId"));
  line("state", text_of(worker, "state") + " since " + view.time(text_of(worker, "since")));
  line("launch", text_of(worker, "phase"));
  line("drains", drain == "none" ? "" : drain);
  line("why", text_of(worker, "reason"));
  line("capacity", text_of(worker, "capacity"));
  line("busy", text_of(worker, "busy"));
  line("price per hour", text_of(worker, "pricePerHour"));
  time("created", "created");
  time("registered", "registered");
  time("credentials expire", "credentialsExpire");
  time("last active", "lastActive");
  time("interruption", "interruption");
  const std::string until = text_of(worker, "quarantinedUntil");
  line("quarantined until",
       until.starts_with("9999")
           ? "it is released" + std::string(drain == "nonconformant"
                                                ? " or registers with the current configuration"
                                                : "")
           : view.time(until));
  time("expires", "expires");
  return view(Look::bold, worker_name(worker)) + "\n" + rows.text(view, "  ");
}

std::string show_found_workers(const json::object& document, const View& view) {
  std::string out;
  for (const json::object& worker : objects_of(document, "workers"))
    out += show_worker(worker, view);
  return out;
}

std::string show_runs(const json::object& document, const View& view) {
  Table rows;
  rows.add_heads({"TASK", "RUN", "OUTCOME", "WORKER", "STARTED", "RESOLVED", "WHY"});
  for (const json::object& run : objects_of(document, "runs")) {
    const std::string outcome = text_of(run, "outcome");
    rows.add(
        {{text_of(run, "taskId"), Look::bold},
         {text_of(run, "runId")},
         {outcome, outcome == "completed" || outcome == "running" ? Look::plain : Look::yellow},
         {text_of(run, "workerGroup") + "/" + text_of(run, "workerId")},
         {view.time(text_of(run, "started"))},
         {run.contains("resolved") ? view.time(text_of(run, "resolved")) : "-"},
         {text_of(run, "reason")}});
  }
  if (list_of(document, "runs").empty()) return "No task runs.\n";
  const json::object& counts = document.at("counts").get_object();
  return rows.text(view) + "All: " + text_of(counts, "running") + " running, " +
         text_of(counts, "completed") + " completed, " + text_of(counts, "failed") + " failed, " +
         text_of(counts, "exception") + " ended by an exception.\n";
}

std::string show_source_of_runs(const json::object& document, const View& view) {
  std::string out;
  if (const json::value* found = document.if_contains("queue")) {
    const json::object& queue = found->get_object();
    out += "Queue " + text_of(queue, "queue") + " at " + text_of(queue, "url") + ": " +
           (text_of(queue, "connected") == "true" ? "connected" : "not connected") + ", " +
           text_of(queue, "received") + " messages received, " + text_of(queue, "acknowledged") +
           " acknowledged.\n";
    if (queue.contains("problem")) out += "Problem: " + text_of(queue, "problem") + "\n";
  } else {
    out += "No queue is configured; see [workerState.queue] of the host configuration.\n";
  }
  out += text_of(document, "kept") + " task runs of " + text_of(document, "workers") +
         " workers are kept.\n";
  Table rows;
  rows.add_heads({"NUMBER", "AT", "ROUTING KEY", "WHY IT IS SET ASIDE"});
  for (const json::object& message : objects_of(document, "setAside"))
    rows.add({{text_of(message, "number"), Look::bold},
              {view.time(text_of(message, "at"))},
              {text_of(message, "routingKey")},
              {text_of(message, "problem")}});
  return list_of(document, "setAside").empty() ? out : out + rows.text(view);
}

std::string show_holds(const json::object& document, const View& view) {
  Table rows;
  rows.add_heads({"PROVIDER", "SCOPE", "UNTIL", "TRY", "CLASS", "WHY"});
  for (const json::object& hold : objects_of(document, "holds")) {
    const bool probing = text_of(hold, "probing") == "true";
    rows.add(
        {{text_of(hold, "providerId"), Look::bold},
         {text_of(hold, "scope")},
         {probing ? "testing with one launch" : view.time(text_of(hold, "until")), Look::yellow},
         {text_of(hold, "strikes")},
         {text_of(hold, "class")},
         {text_of(hold, "message")}});
  }
  return list_of(document, "holds").empty() ? "No holds.\n" : rows.text(view);
}

std::string show_rows_set_aside(const json::object& document, const View& view) {
  Table rows;
  rows.add_heads({"NUMBER", "TABLE", "KEY", "WHY"});
  for (const json::object& row : objects_of(document, "rows")) {
    rows.add({{text_of(row, "number"), Look::bold},
              {text_of(row, "table")},
              {text_of(row, "key")},
              {text_of(row, "reason"), Look::yellow}});
  }
  return list_of(document, "rows").empty() ? "No row is set aside.\n" : rows.text(view);
}

std::string show_row_set_aside(const json::object& document, const View&) {
  return json::write_pretty(document) + "\n";
}

std::string show_providers(const json::object& document, const View& view) {
  Table rows;
  rows.add_heads({"PROVIDER", "", "WORKERS", "CAPACITY", "MAX", "PER SECOND", "LAUNCHES WAITING",
                  "HOLDS", "LISTED", "PROBLEM"});
  rows.only_if_roomy({5, 6});
  for (const json::object& provider : objects_of(document, "providers")) {
    const json::object capacity = table_of(provider, "capacity");
    const bool up = text_of(provider, "up") == "true";
    rows.add({{text_of(provider, "providerId"), Look::bold},
              {up ? "up" : "down", up ? Look::green : Look::red},
              {text_of(capacity, "workers")},
              {text_of(capacity, "running")},
              {text_of(table_of(provider, "limits"), "maxCapacity")},
              {text_of(table_of(provider, "throttle"), "launchesPerSecond")},
              {text_of(provider, "launchesWaiting")},
              {text_of(provider, "holds")},
              {view.is_roomy() ? view.time(text_of(provider, "listed"))
                               : view.age(text_of(provider, "listed"))},
              {text_of(provider, "trouble"), Look::red}});
  }
  return list_of(document, "providers").empty() ? "No providers are configured.\n"
                                                : rows.text(view);
}

}  // namespace muster::cli

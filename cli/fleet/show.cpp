#include "cli/fleet/show.hpp"

#include <algorithm>
#include <cstdio>

#include <muster/plural.hpp>

#include "cli/connection.hpp"

namespace muster::cli {
namespace {

std::string two_digits(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  if (!found || !found->is_number()) return "";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f", found->to_number<double>());
  return digits;
}

Look look_of(const std::string& verdict) {
  if (verdict == "placed") return Look::green;
  if (verdict == "blocked") return Look::red;
  return Look::yellow;
}

std::vector<Cell> heads(std::initializer_list<const char*> names) {
  std::vector<Cell> row;
  for (const char* name : names) row.push_back({name, Look::bold});
  return row;
}

}  // namespace

std::string with_provisioner(const std::string& pool) {
  return pool.find('/') == std::string::npos ? "worker-manager/" + pool : pool;
}

std::string show_pools(const json::object& document, const Style& style) {
  const json::array pools = list_of(document, "pools");
  if (pools.empty())
    return "No worker pools. Worker configurations define them (see: muster status).\n";
  Table rows;
  rows.add(
      heads({"POOL", "PENDING", "RUNNING", "REQUESTED", "DRAINING", "STOPPING", "MAX", "", "WHY"}));
  for (const json::value& item : pools) {
    const json::object& pool = item.as_object();
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
              {kind, look_of(kind)},
              {text_of(verdict, "text")}});
  }
  return rows.text(style);
}

namespace {

std::string launch_config_table(const json::array& launch_configs, bool with_pool,
                                const Style& style) {
  Table rows;
  std::vector<Cell> head = heads(
      {"LAUNCH CONFIGURATION", "PROVIDER", "WHERE", "STATUS", "RUNNING", "WEIGHT", "ARITHMETIC"});
  if (with_pool) head.insert(head.begin(), {"POOL", Look::bold});
  rows.add(std::move(head));
  for (const json::value& item : launch_configs) {
    const json::object& launch_config = item.as_object();
    std::string where;
    for (const auto& [fact, value] : table_of(launch_config, "placement"))
      where +=
          (where.empty() ? "" : " ") + (value.is_string() ? std::string(value.get_string()) : "");
    std::string status = text_of(launch_config, "status");
    if (const std::string until = text_of(launch_config, "pausedUntil"); !until.empty())
      status += " until " + short_time(until);
    std::string why = text_of(launch_config, "arithmetic");
    if (why.empty()) why = text_of(launch_config, "outdated");
    if (why.empty()) why = text_of(launch_config, "pauseReason");
    std::vector<Cell> row{{text_of(launch_config, "launchConfigId")},
                          {text_of(launch_config, "providerId")},
                          {where + " " + text_of(launch_config, "instanceType")},
                          {status, status == "active" ? Look::plain : Look::yellow},
                          {text_of(table_of(launch_config, "capacity"), "running")},
                          {two_digits(launch_config, "weight")},
                          {why}};
    if (with_pool) row.insert(row.begin(), {text_of(launch_config, "workerPoolId"), Look::bold});
    rows.add(std::move(row));
  }
  return rows.text(style);
}

}  // namespace

std::string show_pool(const json::object& pool, const Style& style) {
  const json::object capacity = table_of(pool, "capacity");
  const json::object verdict = table_of(pool, "verdict");
  const std::string kind = text_of(verdict, "kind");
  std::string out =
      style(Look::bold, text_of(pool, "workerPoolId")) + "  " + text_of(pool, "description") + "\n";
  out += style(look_of(kind), kind) + ": " + text_of(verdict, "text") + "\n";
  if (const std::string until = text_of(verdict, "until"); !until.empty())
    out += "next attempt at " + short_time(until) + "\n";
  if (const std::string who = text_of(verdict, "who"); !who.empty())
    out += "who can change it: " + who + "\n";
  if (const json::object eta = table_of(verdict, "eta"); !eta.empty())
    out += "ETA: p50 " + short_time(text_of(eta, "p50")) + ", p90 " +
           short_time(text_of(eta, "p90")) + "\n";
  out += "from " + (text_of(pool, "origin").empty() ? "the API" : text_of(pool, "origin")) +
         ", strategy " + text_of(pool, "strategy") + ", capacity " + text_of(pool, "minCapacity") +
         " to " + text_of(pool, "maxCapacity") + ", owner " + text_of(pool, "owner") + "\n";
  out += text_of(pool, "pending") + " pending; " + text_of(capacity, "running") + " running, " +
         text_of(capacity, "requested") + " requested, " + text_of(capacity, "draining") +
         " draining, " + text_of(capacity, "stopping") + " stopping, " +
         text_of(capacity, "absent") + " absent\n\n";
  return out + launch_config_table(list_of(pool, "launchConfigs"), false, style);
}

std::string show_launch_configs(const json::object& document, const Style& style) {
  const json::array launch_configs = list_of(document, "launchConfigs");
  if (launch_configs.empty()) return "No launch configurations.\n";
  return launch_config_table(launch_configs, true, style);
}

namespace {

std::string worker_name(const json::object& worker) {
  const std::string id = text_of(worker, "workerId");
  if (id.empty()) return "(intent " + text_of(worker, "number") + ")";
  return text_of(worker, "workerGroup") + "/" + id;
}

}  // namespace

std::string show_workers(const json::object& document, const Style& style) {
  const json::array workers = list_of(document, "workers");
  if (workers.empty()) return "No workers.\n";
  Table rows;
  rows.add(heads({"WORKER", "PROVIDER", "STATE", "DRAINS", "CAPACITY", "BUSY", "SINCE", "WHY"}));
  for (const json::value& item : workers) {
    const json::object& worker = item.as_object();
    const std::string drain = text_of(worker, "drain");
    rows.add({{worker_name(worker)},
              {text_of(worker, "providerId")},
              {text_of(worker, "state")},
              {drain == "none" ? "" : drain, Look::yellow},
              {text_of(worker, "capacity")},
              {text_of(worker, "busy")},
              {short_time(text_of(worker, "since"))},
              {text_of(worker, "reason")}});
  }
  return rows.text(style);
}

std::string show_worker(const json::object& worker, const Style& style) {
  Table rows;
  const auto line = [&](const char* name, std::string value) {
    if (!value.empty()) rows.add({{name, Look::dim}, {std::move(value)}});
  };
  const auto time = [&](const char* name, const char* key) {
    line(name, short_time(text_of(worker, key)));
  };
  const std::string drain = text_of(worker, "drain");
  line("pool", text_of(worker, "workerPoolId"));
  line("provider", text_of(worker, "providerId"));
  line("launch configuration", text_of(worker, "launchConfigId"));
  line("state", text_of(worker, "state") + " since " + short_time(text_of(worker, "since")));
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
           : short_time(until));
  time("expires", "expires");
  return style(Look::bold, worker_name(worker)) + "\n" + rows.text(style, "  ");
}

std::string show_found_workers(const json::object& document, const Style& style) {
  std::string out;
  for (const json::value& item : list_of(document, "workers"))
    out += show_worker(item.as_object(), style);
  return out;
}

std::string show_decisions(const json::object& document, const Style& style) {
  std::string out;
  for (const json::value& item : list_of(document, "decisions")) {
    const json::object& decision = item.as_object();
    out += style(Look::dim, short_time(text_of(decision, "at"))) + "  " +
           style(Look::bold, text_of(decision, "kind")) + "  " + text_of(decision, "reason") +
           style(Look::dim, "  [" + text_of(decision, "digest") + "]") + "\n";
    const json::object inputs = table_of(table_of(decision, "document"), "inputs");
    for (const json::value& entry : list_of(inputs, "offers")) {
      const json::object& offer = entry.as_object();
      out += "    bid " + text_of(offer, "bidId") + ": " + text_of(offer, "instances") + " of " +
             text_of(offer, "launchConfigId") + " by " + text_of(offer, "providerId") + " at " +
             text_of(offer, "pricePerCapacityHour") + "/h, weight " + two_digits(offer, "weight") +
             " (" + text_of(offer, "arithmetic") + ")\n";
    }
    for (const json::value& problem : list_of(inputs, "problems"))
      out += "    no bid: " + (problem.is_string() ? std::string(problem.get_string()) : "") + "\n";
  }
  return out.empty() ? "No decisions yet.\n" : out;
}

std::string show_errors(const json::object& document, const Style& style) {
  std::string out;
  for (const json::value& item : list_of(document, "errors")) {
    const json::object& error = item.as_object();
    out +=
        style(Look::dim, short_time(text_of(error, "at"))) + "  " +
        style(Look::red, text_of(error, "kind")) + "  " +
        style(Look::plain, text_of(error, "title") + ": " + text_of(error, "description")) + "  " +
        style(Look::dim, text_of(error, "workerPoolId") + " " + text_of(error, "launchConfigId")) +
        "\n";
  }
  return out.empty() ? "No errors.\n" : out;
}

std::string show_error_counts(const json::object& document, const Style& style) {
  const json::value* total = document.if_contains("total");
  std::string out =
      count_of(total && total->is_int64() ? total->get_int64() : 0, "error") + " recorded\n";
  for (const auto& [key, title] : {std::pair{"byKind", "KIND"},
                                   {"byTitle", "TITLE"},
                                   {"byCode", "CODE"},
                                   {"byWorkerPool", "WORKER POOL"},
                                   {"byLaunchConfig", "LAUNCH CONFIGURATION"},
                                   {"byDay", "DAY"}}) {
    const json::object counts = table_of(document, key);
    if (counts.empty()) continue;
    std::vector<std::pair<std::int64_t, std::string>> sorted;
    for (const auto& [name, count] : counts)
      if (count.is_int64()) sorted.emplace_back(-count.get_int64(), std::string(name));
    std::sort(sorted.begin(), sorted.end());
    Table rows;
    rows.add(heads({title, "ERRORS"}));
    for (const auto& [count, name] : sorted) rows.add({{name}, {std::to_string(-count)}});
    out += "\n" + rows.text(style);
  }
  return out;
}

std::string show_holds(const json::object& document, const Style& style) {
  Table rows;
  rows.add(heads({"PROVIDER", "SCOPE", "UNTIL", "TRY", "CLASS", "WHY"}));
  for (const json::value& item : list_of(document, "holds")) {
    const json::object& hold = item.as_object();
    const bool probing = text_of(hold, "probing") == "true";
    rows.add(
        {{text_of(hold, "providerId"), Look::bold},
         {text_of(hold, "scope")},
         {probing ? "testing with one launch" : short_time(text_of(hold, "until")), Look::yellow},
         {text_of(hold, "strikes")},
         {text_of(hold, "class")},
         {text_of(hold, "message")}});
  }
  return list_of(document, "holds").empty() ? "No holds.\n" : rows.text(style);
}

std::string show_rows_set_aside(const json::object& document, const Style& style) {
  Table rows;
  rows.add(heads({"NUMBER", "TABLE", "KEY", "WHY"}));
  for (const json::value& item : list_of(document, "rows")) {
    const json::object& row = item.as_object();
    rows.add({{text_of(row, "number"), Look::bold},
              {text_of(row, "table")},
              {json::write(row.at("key"))},
              {text_of(row, "reason"), Look::yellow}});
  }
  return list_of(document, "rows").empty() ? "No row is set aside.\n" : rows.text(style);
}

std::string show_row_set_aside(const json::object& document, const Style&) {
  return json::write_pretty(document) + "\n";
}

std::string show_providers(const json::object& document, const Style& style) {
  Table rows;
  rows.add(heads({"PROVIDER", "", "WORKERS", "CAPACITY", "MAX", "PER SECOND", "LAUNCHES WAITING",
                  "HOLDS", "LISTED", "PROBLEM"}));
  for (const json::value& item : list_of(document, "providers")) {
    const json::object& provider = item.as_object();
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
              {short_time(text_of(provider, "listed"))},
              {text_of(provider, "trouble"), Look::red}});
  }
  return list_of(document, "providers").empty() ? "No providers are configured.\n"
                                                : rows.text(style);
}

}  // namespace muster::cli

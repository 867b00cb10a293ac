#include "cli/fleet/show.hpp"

#include <cstdio>

namespace muster::cli {
namespace {

// Of a document that may come from a host of another version: what is missing is empty.
const json::value* find(const json::object& document, std::string_view key) {
  return document.if_contains(key);
}

std::string text(const json::object& document, std::string_view key) {
  const json::value* found = find(document, key);
  if (!found || found->is_null()) return "";
  return found->is_string() ? std::string(found->get_string()) : show(*found);
}

json::object table(const json::object& document, std::string_view key) {
  const json::value* found = find(document, key);
  return found && found->is_object() ? found->get_object() : json::object();
}

json::array list(const json::object& document, std::string_view key) {
  const json::value* found = find(document, key);
  return found && found->is_array() ? found->get_array() : json::array();
}

std::string two_digits(const json::object& document, std::string_view key) {
  const json::value* found = find(document, key);
  if (!found || !found->is_number()) return "";
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f", found->to_number<double>());
  return digits;
}

// "2026-01-02T03:04:05.678Z" → "2026-01-02 03:04:05"
std::string short_time(const std::string& time) {
  if (time.size() < 19) return time;
  std::string shown = time.substr(0, 19);
  shown[10] = ' ';
  return shown;
}

Look look_of(const std::string& verdict) {
  if (verdict == "satisfied") return Look::green;
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
  const json::array pools = list(document, "pools");
  if (pools.empty())
    return "there is no worker pool; worker configurations make them (see: muster status)\n";
  Table rows;
  rows.add(
      heads({"POOL", "PENDING", "RUNNING", "REQUESTED", "DRAINING", "STOPPING", "MAX", "", "WHY"}));
  for (const json::value& item : pools) {
    const json::object& pool = item.as_object();
    const json::object capacity = table(pool, "capacity");
    const json::object verdict = table(pool, "verdict");
    const std::string kind = text(verdict, "kind");
    rows.add({{text(pool, "workerPoolId"), Look::bold},
              {text(pool, "pending")},
              {text(capacity, "running")},
              {text(capacity, "requested")},
              {text(capacity, "draining")},
              {text(capacity, "stopping")},
              {text(pool, "maxCapacity")},
              {kind, look_of(kind)},
              {text(verdict, "text")}});
  }
  return rows.text(style);
}

std::string show_pool(const json::object& pool, const Style& style) {
  const json::object capacity = table(pool, "capacity");
  const json::object verdict = table(pool, "verdict");
  const std::string kind = text(verdict, "kind");
  std::string out =
      style(Look::bold, text(pool, "workerPoolId")) + "  " + text(pool, "description") + "\n";
  out += style(look_of(kind), kind) + ": " + text(verdict, "text") + "\n";
  if (const std::string until = text(verdict, "until"); !until.empty())
    out += "looked at again at " + short_time(until) + "\n";
  out += "from " + (text(pool, "origin").empty() ? "the API" : text(pool, "origin")) +
         ", strategy " + text(pool, "strategy") + ", capacity " + text(pool, "minCapacity") +
         " to " + text(pool, "maxCapacity") + ", owner " + text(pool, "owner") + "\n";
  out += text(pool, "pending") + " pending; " + text(capacity, "running") + " running, " +
         text(capacity, "requested") + " requested, " + text(capacity, "draining") + " draining, " +
         text(capacity, "stopping") + " stopping\n\n";
  Table rows;
  rows.add(heads(
      {"LAUNCH CONFIGURATION", "PROVIDER", "WHERE", "STATUS", "RUNNING", "WEIGHT", "ARITHMETIC"}));
  for (const json::value& item : list(pool, "launchConfigs")) {
    const json::object& launch_config = item.as_object();
    std::string where;
    for (const auto& [fact, value] : table(launch_config, "placement"))
      where +=
          (where.empty() ? "" : " ") + (value.is_string() ? std::string(value.get_string()) : "");
    std::string status = text(launch_config, "status");
    if (const std::string until = text(launch_config, "pausedUntil"); !until.empty())
      status += " until " + short_time(until);
    std::string why = text(launch_config, "arithmetic");
    if (why.empty()) why = text(launch_config, "outdated");
    if (why.empty()) why = text(launch_config, "pauseReason");
    rows.add({{text(launch_config, "launchConfigId")},
              {text(launch_config, "providerId")},
              {where + " " + text(launch_config, "instanceType")},
              {status, status == "active" ? Look::plain : Look::yellow},
              {text(table(launch_config, "capacity"), "running")},
              {two_digits(launch_config, "weight")},
              {why}});
  }
  return out + rows.text(style);
}

std::string show_workers(const json::object& document, const Style& style) {
  Table rows;
  rows.add(heads(
      {"WORKER", "GROUP", "PROVIDER", "STATE", "DRAINS", "CAPACITY", "BUSY", "SINCE", "WHY"}));
  for (const json::value& item : list(document, "workers")) {
    const json::object& worker = item.as_object();
    const std::string drain = text(worker, "drain");
    std::string name = text(worker, "workerId");
    if (name.empty()) name = "(intent " + text(worker, "number") + ")";
    rows.add({{name},
              {text(worker, "workerGroup")},
              {text(worker, "providerId")},
              {text(worker, "state")},
              {drain == "none" ? "" : drain, Look::yellow},
              {text(worker, "capacity")},
              {text(worker, "busy")},
              {short_time(text(worker, "since"))},
              {text(worker, "reason")}});
  }
  return list(document, "workers").empty() ? "the pool has no worker\n" : rows.text(style);
}

std::string show_decisions(const json::object& document, const Style& style) {
  std::string out;
  for (const json::value& item : list(document, "decisions")) {
    const json::object& decision = item.as_object();
    out += style(Look::dim, short_time(text(decision, "at"))) + "  " +
           style(Look::bold, text(decision, "kind")) + "  " + text(decision, "reason") +
           style(Look::dim, "  [" + text(decision, "digest") + "]") + "\n";
    const json::object inputs = table(table(decision, "document"), "inputs");
    for (const json::value& entry : list(inputs, "offers")) {
      const json::object& offer = entry.as_object();
      out += "    bid " + text(offer, "bidId") + ": " + text(offer, "instances") + " of " +
             text(offer, "launchConfigId") + " by " + text(offer, "providerId") + " at " +
             text(offer, "pricePerCapacityHour") + "/h, weight " + two_digits(offer, "weight") +
             " (" + text(offer, "arithmetic") + ")\n";
    }
    for (const json::value& problem : list(inputs, "problems"))
      out += "    no bid: " + (problem.is_string() ? std::string(problem.get_string()) : "") + "\n";
  }
  return out.empty() ? "nothing was decided about the pool yet\n" : out;
}

std::string show_errors(const json::object& document, const Style& style) {
  std::string out;
  for (const json::value& item : list(document, "errors")) {
    const json::object& error = item.as_object();
    out += style(Look::dim, short_time(text(error, "at"))) + "  " +
           style(Look::red, text(error, "kind")) + "  " + text(error, "title") + ": " +
           text(error, "description") + "  " + style(Look::dim, text(error, "launchConfigId")) +
           "\n";
  }
  return out.empty() ? "nothing went wrong\n" : out;
}

std::string show_holds(const json::object& document, const Style& style) {
  std::string out;
  for (const json::value& item : list(document, "holds"))
    out += style(Look::yellow, "held  ") + text(item.as_object(), "text") + "\n";
  Table rows;
  rows.add(heads(
      {"PROVIDER", "", "WORKERS", "CAPACITY", "MAX", "LAUNCHES WAITING", "LISTED", "TROUBLE"}));
  for (const json::value& item : list(document, "providers")) {
    const json::object& provider = item.as_object();
    const json::object capacity = table(provider, "capacity");
    const bool up = text(provider, "up") == "true";
    rows.add({{text(provider, "providerId"), Look::bold},
              {up ? "up" : "down", up ? Look::green : Look::red},
              {text(capacity, "workers")},
              {text(capacity, "running")},
              {text(provider, "maxCapacity")},
              {text(provider, "launchesWaiting")},
              {short_time(text(provider, "listed"))},
              {text(provider, "trouble")}});
  }
  return out + rows.text(style);
}

}  // namespace muster::cli

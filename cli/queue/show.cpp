#include "cli/queue/show.hpp"

#include <cmath>

#include <muster/plural.hpp>

#include "cli/connection.hpp"
#include "cli/fleet/show.hpp"

namespace muster::cli {
namespace {

std::string joined(const json::array& texts) {
  std::string all;
  for (const json::value& text : texts)
    if (text.is_string()) all += (all.empty() ? "" : ", ") + std::string(text.get_string());
  return all;
}

std::string or_none(const std::string& limit) {
  return limit == "0" ? "-" : limit;
}

std::string oldest_wait(const json::object& of) {
  const std::string seconds = text_of(of, "oldestWaitSeconds");
  return seconds.empty() ? "-" : seconds + " s";
}

// "75%, memory 50%": of capacity first, for every worker has that.
std::string utilisation(const json::object& pool) {
  std::string capacity = "-", others;
  for (const auto& [name, resource] : table_of(pool, "resources")) {
    const json::value* part =
        resource.is_object() ? resource.get_object().if_contains("utilisation") : nullptr;
    const double percent = part && part->is_number() ? part->to_number<double>() * 100 : 0;
    const std::string text = std::to_string(std::lround(percent)) + "%";
    if (name == "active-task")
      capacity = text;
    else
      others += ", " + std::string(name) + " " + text;
  }
  return capacity + others;
}

std::string waiting_line(const json::object& document) {
  const std::string waiting = text_of(document, "waiting");
  std::string line = waiting + (waiting == "1" ? " request waits" : " requests wait");
  if (const std::string oldest = oldest_wait(document); oldest != "-")
    line += ", the oldest for " + oldest;
  const std::string unserved = text_of(table_of(document, "unserved"), "waiting");
  if (!unserved.empty() && unserved != "0") line += "; no pool could serve " + unserved;
  return line + "\n\n";
}

}  // namespace

std::string eta_text(const json::object& eta, const View& view) {
  return "p50 " + view.time(text_of(eta, "p50")) + ", p90 " + view.time(text_of(eta, "p90"));
}

std::string request_line(const json::object& request, const View& view) {
  const json::object verdict = table_of(request, "verdict");
  if (verdict.empty()) return "ended: " + text_of(request, "reason");
  std::string line = text_of(verdict, "kind") + ": " + text_of(verdict, "text");
  if (const json::object eta = table_of(verdict, "eta"); !eta.empty())
    line += "; ETA " + eta_text(eta, view);
  if (const std::string until = text_of(verdict, "until"); !until.empty())
    line += "; until " + view.time(until);
  if (const std::string who = text_of(verdict, "who"); !who.empty())
    line += "; who can change it: " + who;
  return line;
}

std::string show_why(const json::object& document, const View& view) {
  std::string text;
  for (const json::object& story : objects_of(document, "stories")) {
    if (!text.empty()) text += "\n";
    const json::object verdict = table_of(story, "verdict");
    const std::string kind = text_of(verdict, "kind"), words = text_of(verdict, "text");
    for (const json::value& sentence : list_of(story, "story")) {
      const std::string line = harmless(sentence.is_string() ? sentence.get_string() : "");
      const bool is_verdict = !words.empty() && line.ends_with(words.substr(1) + ".");
      text += (is_verdict ? view(verdict_look(kind), line) : line) + "\n";
    }
  }
  return text;
}

std::string show_expectations(const json::object& document, const View& view) {
  const auto number = [&](const char* name) {
    const json::value* value = document.if_contains(name);
    return value && value->is_int64() ? value->get_int64() : 0;
  };
  const std::int64_t all = number("expectations");
  std::string text = all == 0 ? "No ETA predictions have been scored yet.\n"
                              : "ETA accuracy: of the last " + count_of(all, "prediction") + ", " +
                                    std::to_string(number("keptP50") * 100 / all) +
                                    " % were met by p50 and " +
                                    std::to_string(number("keptP90") * 100 / all) + " % by p90.\n";
  if (list_of(document, "launchConfigs").empty()) return text;
  Table rows;
  rows.add_heads({"POOL", "LAUNCH CONFIGURATION", "BOOT p50 / p90", "REGISTRATION", "LEASE"});
  for (const json::object& launch_config : objects_of(document, "launchConfigs")) {
    const json::object times = table_of(launch_config, "times");
    const auto cell = [&](const char* name) -> Cell {
      const json::object measured = table_of(times, name);
      if (measured.empty()) return {"-"};
      return {text_of(measured, "p50Seconds") + " / " + text_of(measured, "p90Seconds") + " s"};
    };
    rows.add({{text_of(launch_config, "workerPoolId"), Look::bold},
              {text_of(launch_config, "launchConfigId")},
              cell("boot"),
              cell("registration"),
              cell("lease")});
  }
  return text + "\n" + rows.text(view);
}

std::string show_load(const json::object& document, const View& view) {
  Table teams;
  teams.add_heads({"TEAM", "WAITING", "OLDEST WAIT", "HELD", "MAY HOLD", "WEIGHT", "POOLS"});
  for (const json::object& team : objects_of(document, "teams")) {
    teams.add({{text_of(team, "team"), Look::bold},
               {text_of(team, "pending")},
               {oldest_wait(team)},
               {text_of(team, "held")},
               {or_none(text_of(team, "maxHeld"))},
               {text_of(team, "weight")},
               {joined(list_of(team, "workerPools"))}});
  }
  Table pools;
  pools.only_if_roomy({2, 7});
  pools.add_heads({"POOL", "WORKERS", "CAPACITY", "IN USE", "UTILISATION", "WAITING", "OLDEST WAIT",
                   "PENDING", "WOULD BE", "TEAMS"});
  for (const json::object& pool : objects_of(document, "workerPools")) {
    const json::value* dedicated = pool.if_contains("dedicated");
    const bool shared = dedicated && dedicated->is_bool() && !dedicated->get_bool();
    pools.add({{text_of(pool, "workerPoolId"), Look::bold},
               {text_of(pool, "workers")},
               {text_of(pool, "capacity")},
               {text_of(pool, "used")},
               {utilisation(pool)},
               {text_of(pool, "waiting")},
               {oldest_wait(pool)},
               {text_of(pool, "pending")},
               {text_of(pool, "wouldBe")},
               {shared ? "(shared)" : joined(list_of(pool, "teams"))}});
  }
  return waiting_line(document) + teams.text(view) + "\n" + pools.text(view);
}

std::string show_requests(const json::object& document, const View& view) {
  if (list_of(document, "requests").empty()) return "No requests.\n";
  Table rows;
  rows.add_heads({"REQUEST", "TEAM", "STATE", "AGE", "POOL", "WORKER", "WHY"});
  for (const json::object& request : objects_of(document, "requests")) {
    const json::object worker = table_of(request, "worker"), verdict = table_of(request, "verdict");
    const std::string why = text_of(request, "reason");
    rows.add(
        {{text_of(request, "requestId"), Look::bold},
         {text_of(request, "team")},
         {text_of(request, "state")},
         {view.age(text_of(request, "created"))},
         {text_of(request, "workerPoolId")},
         {worker.empty() ? "" : text_of(worker, "workerGroup") + "/" + text_of(worker, "workerId")},
         {why.empty() ? text_of(verdict, "text") : why}});
  }
  return rows.text(view);
}

std::string show_teams(const json::object& document, const View& view) {
  if (list_of(document, "teams").empty()) return "No teams.\n";
  Table rows;
  rows.add_heads({"TEAM", "WEIGHT", "HELD", "MAY HOLD", "PENDING", "MAY WAIT", "POOLS"});
  for (const json::object& team : objects_of(document, "teams"))
    rows.add({{text_of(team, "team"), Look::bold},
              {text_of(team, "weight")},
              {text_of(team, "held")},
              {or_none(text_of(team, "maxHeld"))},
              {text_of(team, "pending")},
              {or_none(text_of(team, "maxPending"))},
              {joined(list_of(team, "workerPools"))}});
  return rows.text(view);
}

std::string show_worker_pools(const json::object& document, const View& view) {
  if (list_of(document, "workerPools").empty())
    return "No pool is dedicated to teams: all workers are shared (see: muster set-worker-pool).\n";
  const auto file_of = [](const json::object& pool) {
    const std::string file = text_of(pool, "origin");
    return file.empty() ? text_of(pool, "keysOrigin") : file;
  };
  Table rows;
  rows.add_heads({"POOL", "WORKERS", "TEAMS", "KEYS", "CONFIGURED IN"});
  for (const json::object& pool : objects_of(document, "workerPools")) {
    rows.add({{text_of(pool, "workerPoolId"), Look::bold},
              {text_of(pool, "workers")},
              {joined(list_of(pool, "teams"))},
              {joined(list_of(pool, "keyFingerprints"))},
              {file_of(pool)}});
  }
  return rows.text(view);
}

}  // namespace muster::cli

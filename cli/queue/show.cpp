#include "cli/queue/show.hpp"

#include <cmath>

#include <muster/plural.hpp>

#include "cli/connection.hpp"

namespace muster::cli {
namespace {

Look look_of(const std::string& kind) {
  if (kind == "placed") return Look::green;
  return kind == "blocked" ? Look::red : Look::yellow;
}

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

std::string eta_text(const json::object& eta) {
  return "p50 " + short_time(text_of(eta, "p50")) + ", p90 " + short_time(text_of(eta, "p90"));
}

std::string verdict_line(const json::object& request) {
  const json::object verdict = table_of(request, "verdict");
  if (verdict.empty()) return "ended: " + text_of(request, "reason");
  std::string line = text_of(verdict, "kind") + ": " + text_of(verdict, "text");
  if (const json::object eta = table_of(verdict, "eta"); !eta.empty())
    line += "; ETA " + eta_text(eta);
  if (const std::string until = text_of(verdict, "until"); !until.empty())
    line += "; until " + short_time(until);
  if (const std::string who = text_of(verdict, "who"); !who.empty())
    line += "; who can change it: " + who;
  return line;
}

std::string show_why(const json::object& document, const Style& style) {
  std::string text;
  for (const json::value& item : list_of(document, "stories")) {
    const json::object& story = item.as_object();
    if (!text.empty()) text += "\n";
    const json::object verdict = table_of(story, "verdict");
    const std::string kind = text_of(verdict, "kind"), words = text_of(verdict, "text");
    for (const json::value& sentence : list_of(story, "story")) {
      const std::string line(sentence.as_string());
      const bool is_verdict = !words.empty() && line.ends_with(words.substr(1) + ".");
      text += (is_verdict ? style(look_of(kind), line) : line) + "\n";
    }
  }
  return text;
}

std::string show_expectations(const json::object& document, const Style& style) {
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
  const json::array launch_configs = list_of(document, "launchConfigs");
  if (launch_configs.empty()) return text;
  Table rows;
  rows.add({{"POOL", Look::bold},
            {"LAUNCH CONFIGURATION", Look::bold},
            {"BOOT p50 / p90", Look::bold},
            {"REGISTRATION", Look::bold},
            {"LEASE", Look::bold}});
  for (const json::value& item : launch_configs) {
    const json::object& launch_config = item.as_object();
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
  return text + "\n" + rows.text(style);
}

std::string show_load(const json::object& document, const Style& style) {
  const auto heads = [](std::initializer_list<const char*> names) {
    std::vector<Cell> row;
    for (const char* name : names) row.push_back({name, Look::bold});
    return row;
  };
  Table teams;
  teams.add(heads({"TEAM", "WAITING", "OLDEST WAIT", "HELD", "MAY HOLD", "WEIGHT", "POOLS"}));
  for (const json::value& item : list_of(document, "teams")) {
    const json::object& team = item.as_object();
    teams.add({{text_of(team, "team"), Look::bold},
               {text_of(team, "pending")},
               {oldest_wait(team)},
               {text_of(team, "held")},
               {or_none(text_of(team, "maxHeld"))},
               {text_of(team, "weight")},
               {joined(list_of(team, "workerPools"))}});
  }
  Table pools;
  pools.add(heads({"POOL", "WORKERS", "CAPACITY", "IN USE", "UTILISATION", "WAITING", "OLDEST WAIT",
                   "PENDING", "WOULD BE", "TEAMS"}));
  for (const json::value& item : list_of(document, "workerPools")) {
    const json::object& pool = item.as_object();
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
  return waiting_line(document) + teams.text(style) + "\n" + pools.text(style);
}

std::string show_worker_pools(const json::object& document, const Style& style) {
  const json::array pools = list_of(document, "workerPools");
  if (pools.empty())
    return "No pool is dedicated to teams: all workers are shared (see: muster set-worker-pool).\n";
  const auto file_of = [](const json::object& pool) {
    const std::string file = text_of(pool, "origin");
    return file.empty() ? text_of(pool, "keysOrigin") : file;
  };
  Table rows;
  rows.add({{"POOL", Look::bold},
            {"WORKERS", Look::bold},
            {"TEAMS", Look::bold},
            {"KEYS", Look::bold},
            {"CONFIGURED IN", Look::bold}});
  for (const json::value& item : pools) {
    const json::object& pool = item.as_object();
    rows.add({{text_of(pool, "workerPoolId"), Look::bold},
              {text_of(pool, "workers")},
              {joined(list_of(pool, "teams"))},
              {joined(list_of(pool, "keyFingerprints"))},
              {file_of(pool)}});
  }
  return rows.text(style);
}

}  // namespace muster::cli

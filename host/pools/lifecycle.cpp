#include "host/pools/lifecycle.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <muster/rules/problem.hpp>

#include "lib/toml/units.hpp"

namespace muster::pools {
namespace {

using std::chrono::seconds;

constexpr seconds longest = std::chrono::hours(24 * 30);
const std::vector<std::string> weekdays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

std::optional<std::chrono::minutes> time_of_day(std::string_view text) {
  int hour = 0, minute = 0;
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  const auto number = [&](std::size_t at, int& into) {
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, into);
    return error == std::errc() && end == text.data() + at + 2 && into >= 0;
  };
  if (!number(0, hour) || !number(3, minute) || minute > 59) return std::nullopt;
  if (hour > 24 || (hour == 24 && minute > 0)) return std::nullopt;
  return std::chrono::minutes(60 * hour + minute);
}

class LifecycleReader {
 public:
  explicit LifecycleReader(rules::Path at) : at_(std::move(at)) {}

  ReadLifecycle read(const json::object& table) {
    fleet::Lifecycle& into = result_.lifecycle;
    refuse_unknown(table, at_,
                   {"registrationTimeout", "reregistrationTimeout", "queueInactivityTimeout",
                    "idleTimeout", "warmCapacity", "cycling"});
    read_duration(table, "registrationTimeout", seconds(1), into.registration_timeout);
    read_duration(table, "reregistrationTimeout", seconds(1), into.reregistration_timeout);
    read_duration(table, "queueInactivityTimeout", seconds(1), into.queue_inactivity_timeout);
    read_duration(table, "idleTimeout", seconds(0), into.idle_timeout);
    if (const json::value* warm = table.if_contains("warmCapacity")) {
      if (warm->is_int64() && warm->get_int64() >= 0)
        into.warm_capacity = warm->get_int64();
      else
        wrong({"warmCapacity"}, "must be a whole number that is not negative",
              "write warmCapacity = 2");
    }
    if (const json::value* cycling = table.if_contains("cycling")) {
      if (cycling->is_object())
        read_cycling(cycling->get_object());
      else
        wrong({"cycling"}, "must be a table", "write cycling = { budget = \"10%\" }");
    }
    return std::move(result_);
  }

 private:
  void wrong(const rules::Path& below, std::string reason, std::string remedy) {
    rules::Path path = at_;
    path.insert(path.end(), below.begin(), below.end());
    result_.findings.push_back({std::move(path), std::move(reason), std::move(remedy)});
  }

  void refuse_unknown(const json::object& table, const rules::Path& path,
                      const std::vector<std::string>& known) {
    for (const auto& [key, value] : table)
      if (std::find(known.begin(), known.end(), key) == known.end())
        result_.findings.push_back(
            unknown_key(path, std::string(key), known, "unknownLifecycleKey"));
  }

  void read_duration(const json::object& table, const std::string& key, seconds least,
                     seconds& into, rules::Path path = {}) {
    const json::value* value = table.if_contains(key);
    if (!value) return;
    std::optional<seconds> read;
    if (value->is_int64()) read = seconds(value->get_int64());
    if (value->is_string()) {
      const auto parsed = config::parse_duration(std::string_view(value->get_string()));
      if (parsed && *parsed % seconds(1) == std::chrono::milliseconds(0))
        read = std::chrono::duration_cast<seconds>(*parsed);
    }
    if (read && *read >= least && *read <= longest)
      into = *read;
    else {
      path.push_back(key);
      wrong(path,
            "is " + json::write(*value) + ", but must be a time from " +
                std::to_string(least.count()) + " seconds to 30 days",
            "write whole seconds, or for example \"30m\"");
    }
  }

  void read_cycling(const json::object& table) {
    rules::Path path = at_;
    path.push_back("cycling");
    refuse_unknown(table, path, {"budget", "windows", "finishTasks"});
    read_duration(table, "finishTasks", seconds(0), result_.lifecycle.finish_tasks, {"cycling"});
    if (const json::value* budget = table.if_contains("budget")) read_budget(*budget);
    const json::value* windows = table.if_contains("windows");
    if (!windows) return;
    if (!windows->is_array()) return wrong_window("must be a list of tables");
    for (std::size_t i = 0; i < windows->get_array().size(); ++i)
      read_window(windows->get_array()[i], "windows[" + std::to_string(i) + "]");
  }

  void read_budget(const json::value& budget) {
    auto& into = result_.lifecycle.cycling_budget;
    if (budget.is_int64() && budget.get_int64() >= 1) {
      into.workers = budget.get_int64();
      return;
    }
    if (budget.is_string()) {
      const std::string_view text = budget.get_string();
      double percent = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
      const bool is_percent =
          error == std::errc() && std::string_view(end, text.data() + text.size()) == "%";
      if (is_percent && std::isfinite(percent) && percent > 0 && percent <= 100) {
        into.share = percent / 100;
        return;
      }
    }
    wrong({"cycling", "budget"},
          "is " + json::write(budget) +
              ", but must be a number of workers from 1 or a share of the pool up to 100%",
          "write for example budget = 2 or budget = \"10%\"");
  }

  void wrong_window(const std::string& reason) {
    wrong({"cycling", "windows"}, reason,
          "write for example windows = [{ days = [\"mon\", \"fri\"], from = \"22:00\", to = "
          "\"06:00\" }]");
  }

  void read_window(const json::value& value, const std::string& name) {
    if (!value.is_object()) return wrong_window(name + " must be a table");
    const json::object& table = value.get_object();
    static const std::vector<std::string> known = {"days", "from", "to"};
    for (const auto& [key, ignored] : table)
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        const std::string near = rules::nearest_name(std::string(key), known);
        wrong_window(name + " has an unknown key " + rules::in_quotes(std::string_view(key)) +
                     (near.empty() ? "" : " (did you mean " + near + "?)"));
      }
    fleet::Lifecycle::Window window;
    read_days(table, name, window);
    read_time(table, "from", name, window.from);
    read_time(table, "to", name, window.to);
    if (window.from == window.to || window.from == std::chrono::hours(24))
      wrong_window(name + " ends when it begins");
    result_.lifecycle.cycling_windows.push_back(std::move(window));
  }

  void read_days(const json::object& table, const std::string& name,
                 fleet::Lifecycle::Window& window) {
    const json::value* days = table.if_contains("days");
    if (!days) return;
    if (!days->is_array() || days->get_array().empty())
      return wrong_window(name + ".days must be a list of days");
    for (const json::value& day : days->get_array()) {
      const std::string text = day.is_string() ? std::string(day.get_string()) : json::write(day);
      const auto found = std::find(weekdays.begin(), weekdays.end(), text);
      if (found == weekdays.end()) {
        const std::string near = rules::nearest_name(text.substr(0, 3), weekdays);
        wrong_window(name + ".days has " + rules::in_quotes(text) + ", but days are " +
                     "sun, mon, tue, wed, thu, fri and sat" +
                     (near.empty() ? "" : " (did you mean " + near + "?)"));
        continue;
      }
      const int number = static_cast<int>(found - weekdays.begin());
      if (std::find(window.weekdays.begin(), window.weekdays.end(), number) ==
          window.weekdays.end())
        window.weekdays.push_back(number);
    }
    std::sort(window.weekdays.begin(), window.weekdays.end());
  }

  void read_time(const json::object& table, const char* key, const std::string& name,
                 std::chrono::minutes& into) {
    const json::value* value = table.if_contains(key);
    if (!value) return;
    const auto time = value->is_string() ? time_of_day(std::string_view(value->get_string()))
                                         : std::optional<std::chrono::minutes>();
    if (time)
      into = *time;
    else
      wrong_window(name + "." + key + " is " + json::write(*value) +
                   ", but must be a time of day from \"00:00\" to \"24:00\", in UTC");
  }

  rules::Path at_;
  ReadLifecycle result_;
};

}  // namespace

ReadLifecycle read_lifecycle(const json::object& table, const rules::Path& at) {
  return LifecycleReader(at).read(table);
}

}  // namespace muster::pools

#include "cli/fleet/show_status.hpp"

#include <muster/plural.hpp>

#include "cli/connection.hpp"

namespace muster::cli {
namespace {

// Lines with a title before each; those without a value are left out.
class Lines {
 public:
  explicit Lines(const View& view) : view_(view) {}

  void add(std::string_view title, const std::string& value, Look look = Look::plain) {
    if (value.empty()) return;
    const std::size_t width = 16;
    out_ += std::string(title) + std::string(title.size() < width ? width - title.size() : 0, ' ') +
            " " + view_(look, value) + "\n";
  }
  void add_all(const json::array& texts, std::string_view title, Look look) {
    for (const json::value& text : texts)
      add(title, text.is_string() ? std::string(text.get_string()) : json::write(text), look);
  }
  // One line for each object: what it has under `member`.
  void add_members(const json::array& objects, std::string_view member, std::string_view title,
                   Look look) {
    for (const json::value& item : objects)
      if (item.is_object()) add(title, text_of(item.get_object(), member), look);
  }
  std::string take() { return std::move(out_); }

 private:
  const View& view_;
  std::string out_;
};

std::int64_t count_in(const json::object& document, const char* key) {
  const json::value* found = document.if_contains(key);
  return found && found->is_int64() ? found->get_int64() : 0;
}

std::string uptime(const json::object& status) {
  const std::int64_t total = count_in(status, "uptimeSeconds");
  const auto days = total / 86400, hours = total / 3600 % 24, minutes = total / 60 % 60;
  if (days > 0) return std::to_string(days) + "d " + std::to_string(hours) + "h";
  if (hours > 0) return std::to_string(hours) + "h " + std::to_string(minutes) + "m";
  return minutes > 0 ? std::to_string(minutes) + "m " + std::to_string(total % 60) + "s"
                     : std::to_string(total) + "s";
}

// {"providers": [{"id", "plugin", ...}]}: one line for each.
void add_instances(Lines& lines, const json::array& instances, const char* title) {
  for (const json::value& item : instances) {
    if (!item.is_object()) continue;
    const json::object& instance = item.get_object();
    const std::string state = text_of(instance, "state");
    lines.add(title, text_of(instance, "id") + " (" + text_of(instance, "plugin") + ")" +
                         (state.empty() ? "" : " " + state));
  }
}

// The reason is left out if it is among the problems, which are shown before.
void add_held_files(Lines& lines, const json::array& files, const json::array& problems) {
  for (const json::value& item : files) {
    if (!item.is_object()) continue;
    const json::object& file = item.get_object();
    const std::string reason = text_of(file, "reason");
    bool is_shown = false;
    for (const json::value& problem : problems)
      is_shown |= problem.is_object() && text_of(problem.get_object(), "text") == reason;
    lines.add("held back",
              text_of(file, "file") +
                  (text_of(file, "inForce") == "lastGood" ? "; its last good version is in force"
                                                          : "; no version of it can serve") +
                  (is_shown ? "" : ": " + reason),
              Look::red);
  }
}

// What keeps the fleet from deciding, and what the newest worker configurations are refused for.
void add_fleet(Lines& lines, const json::object& fleet) {
  const std::string state = text_of(fleet, "state");
  if (state == "deciding")
    lines.add("fleet", count_of(count_in(fleet, "pools"), "pool") + ", " +
                           count_of(count_in(fleet, "workers"), "worker"));
  else
    lines.add("fleet", state + ": " + text_of(fleet, "reason"), Look::red);
  lines.add_all(list_of(fleet, "storeNotices"), "store", Look::red);
  const json::object workers = table_of(fleet, "workerConfigurations");
  lines.add("workers from", text_of(workers, "source"));
  lines.add("revision", text_of(workers, "revision"));
  lines.add_members(list_of(workers, "problems"), "text", "problem", Look::red);
  add_held_files(lines, list_of(workers, "heldFiles"), list_of(workers, "problems"));
  lines.add_members(list_of(workers, "waits"), "reason", "waits for", Look::yellow);
  const json::value* held = workers.if_contains("heldBack");
  lines.add(held && held->is_bool() && held->get_bool() ? "held back" : "source",
            text_of(workers, "sourceError"), Look::red);
  for (const json::value& item : list_of(fleet, "demand")) {
    if (!item.is_object()) continue;
    const json::object& source = item.get_object();
    const std::string error = text_of(source, "error"), age = text_of(source, "ageSeconds");
    lines.add("demand",
              text_of(source, "name") + " (" + text_of(source, "type") +
                  "): " + text_of(source, "pending") + " pending" +
                  (age.empty() ? "" : ", " + age + " s old") +
                  (error.empty() ? "" : ", failing: " + error),
              error.empty() ? Look::plain : Look::red);
  }
}

}  // namespace

std::string readiness_of(const json::object& status) {
  std::string state = text_of(status, "state");
  const json::object fleet = table_of(status, "fleet");
  const std::string of_fleet = text_of(fleet, "state");
  const bool up = state == "ready" || state == "notReady";
  if (!up || of_fleet.empty() || of_fleet == "deciding") return state;
  return "not ready (" + of_fleet + ": " + text_of(fleet, "reason") + ")";
}

std::string status_text(const json::object& status, const View& view) {
  Lines lines(view);
  lines.add("data directory", text_of(status, "dataDirectory"));
  const std::string file = text_of(status, "configurationFile");
  lines.add("configuration", file.empty() ? "(built-in)" : file);
  lines.add_all(list_of(status, "configurationProblems"), "refused", Look::red);
  lines.add_all(list_of(status, "restartNeeded"), "restart needed", Look::yellow);
  const std::string unread = text_of(status, "rowsSetAside");
  if (!unread.empty() && unread != "0")
    lines.add("rows set aside", unread + ", which cannot be read; see: muster set-aside",
              Look::red);
  const json::object plugins = table_of(status, "plugins");
  add_instances(lines, list_of(plugins, "providers"), "provider");
  add_instances(lines, list_of(plugins, "strategies"), "strategy");
  add_fleet(lines, table_of(status, "fleet"));
  return "musterd " + text_of(status, "version") + " is " + readiness_of(status) + " at " +
         text_of(status, "address") + " (pid " + text_of(status, "pid") + ", up " + uptime(status) +
         ")\n" + lines.take();
}

}  // namespace muster::cli

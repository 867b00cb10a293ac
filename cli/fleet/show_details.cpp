// Documents that are shown member by member, and lists about what surrounds the fleet: demand,
// webhooks, worker configurations.
#include <algorithm>

#include "cli/connection.hpp"
#include "cli/fleet/show.hpp"

namespace muster::cli {
namespace {

bool is_time(std::string_view text) {
  return text.size() >= 20 && text[4] == '-' && text[10] == 'T' && text.back() == 'Z';
}

void add_member(Table& rows, const std::string& name, const json::value& value, const View& view) {
  if (value.is_object()) {
    for (const auto& [key, below] : value.get_object())
      add_member(rows, name.empty() ? std::string(key) : name + "." + std::string(key), below,
                 view);
    return;
  }
  if (value.is_array() && !value.get_array().empty() && value.get_array()[0].is_object()) {
    std::size_t number = 0;
    for (const json::value& item : value.get_array())
      add_member(rows, name + "[" + std::to_string(number++) + "]", item, view);
    return;
  }
  std::string text = value.is_string() ? std::string(value.get_string()) : show(value);
  if (is_time(text)) text = view.time(text);
  rows.add({{name, Look::dim}, {std::move(text)}});
}

std::string problems_of(const json::object& document, const View& view) {
  std::string out;
  for (const json::object& problem : objects_of(document, "problems"))
    for (const std::string& line : folded(text_of(problem, "text"), view.columns()))
      out += view(Look::red, line) + "\n";
  return out;
}

}  // namespace

std::string show_members(const json::object& document, const View& view) {
  Table rows;
  add_member(rows, "", document, view);
  return rows.text(view);
}

std::string show_diagnosis(const json::object& document, const View& view) {
  Table rows;
  rows.add_heads({"", "CHECK", "RESULT"});
  for (const json::object& check : objects_of(document, "checks")) {
    const std::string outcome = text_of(check, "outcome"), remedy = text_of(check, "remedy");
    const Look look = outcome == "good"     ? Look::green
                      : outcome == "failed" ? Look::red
                                            : Look::yellow;
    rows.add({{outcome, look},
              {text_of(check, "subject"), Look::bold},
              {text_of(check, "message") + (remedy.empty() ? "" : "; " + remedy)}});
  }
  return list_of(document, "checks").empty() ? "Nothing was checked.\n" : rows.text(view);
}

std::string show_payload_check(const json::object& document, const View& view) {
  if (text_of(document, "valid") == "true") return "The payload is valid.\n";
  Table rows;
  rows.add_heads({"PLACE", "PROBLEM"});
  for (const json::object& each : objects_of(document, "violations")) {
    const std::string path = text_of(each, "path");
    rows.add({{path.empty() ? "/" : path, Look::bold}, {text_of(each, "message")}});
  }
  return rows.text(view);
}

std::string show_demand(const json::object& document, const View& view) {
  if (list_of(document, "sources").empty()) return "No sources of demand are configured.\n";
  Table rows;
  rows.add_heads({"SOURCE", "TYPE", "POOLS", "STALE", "PENDING", "AGE", "PROBLEM"});
  for (const json::object& source : objects_of(document, "sources"))
    rows.add({{text_of(source, "name"), Look::bold},
              {text_of(source, "type")},
              {text_of(source, "pools")},
              {text_of(source, "stalePools")},
              {text_of(source, "pending")},
              {view.age(text_of(source, "answered"))},
              {text_of(source, "error"), Look::red}});
  return rows.text(view);
}

std::string show_webhooks(const json::object& document, const View& view) {
  if (list_of(document, "webhooks").empty()) return "No webhooks are configured.\n";
  Table rows;
  rows.add_heads({"WEBHOOK", "URL", "SENT", "FAILED", "GIVEN UP", "LAG", "PROBLEM"});
  rows.only_if_roomy({1});
  for (const json::object& webhook : objects_of(document, "webhooks"))
    rows.add({{text_of(webhook, "name"), Look::bold},
              {text_of(webhook, "url")},
              {text_of(webhook, "sent")},
              {text_of(webhook, "failed")},
              {text_of(webhook, "givenUp")},
              {text_of(webhook, "lag")},
              {text_of(webhook, "problem"), Look::red}});
  return rows.text(view);
}

std::string show_dead_letters(const json::object& document, const View& view) {
  if (list_of(document, "deadLetters").empty()) return "No dead letters.\n";
  Table rows;
  rows.add_heads({"NUMBER", "AGE", "ATTEMPTS", "EVENT", "PROBLEM"});
  for (const json::object& letter : objects_of(document, "deadLetters"))
    rows.add({{text_of(letter, "number"), Look::bold},
              {view.age(text_of(letter, "at"))},
              {text_of(letter, "attempts")},
              {text_of(table_of(letter, "event"), "kind")},
              {text_of(letter, "problem"), Look::red}});
  return rows.text(view);
}

namespace {

// "4 (build.toml:12)"; "not set".
std::string side_text(const json::object& change, const char* name) {
  const json::value* side = change.if_contains(name);
  if (!side || !side->is_object()) return "not set";
  const json::object& object = side->get_object();
  const json::value* value = object.if_contains("value");
  return (value ? json::write(*value) : "") + " (" + text_of(object, "file") + ":" +
         text_of(object, "line") + ")";
}

}  // namespace

std::string show_configuration_difference(const json::object& document, const View& view) {
  if (text_of(document, "previousRevision").empty())
    return "The worker configurations did not change since the host started.\n";
  Table rows;
  rows.add_heads({"POOL", "KEY", "BEFORE", "NOW"});
  for (const json::object& change : objects_of(document, "changes")) {
    const bool changed = text_of(change, "what") == "changed";
    rows.add({{text_of(change, "workerPoolId"), Look::bold},
              {changed ? text_of(change, "key") : text_of(change, "what")},
              {changed ? side_text(change, "before") : ""},
              {changed ? side_text(change, "after") : ""}});
  }
  if (objects_of(document, "changes").empty()) return "No value of any pool is another.\n";
  std::string out = rows.text(view);
  if (const std::string more = text_of(document, "more"); more != "0")
    out += "and " + more + " more changes\n";
  return out;
}

std::string show_configuration_files(const json::object& document, const View& view) {
  Table rows;
  rows.add_heads({"CONFIGURATION", "FILE", "BYTES", "WORKER TYPES"});
  for (const json::object& file : objects_of(document, "files")) {
    std::string types;
    for (const json::value& type : list_of(file, "workerTypes"))
      if (type.is_string()) types += (types.empty() ? "" : ", ") + std::string(type.get_string());
    rows.add({{text_of(file, "configurationId"), Look::bold},
              {text_of(file, "file")},
              {text_of(file, "bytes")},
              {types}});
  }
  const std::string revision = text_of(document, "revision");
  return (revision.empty() ? "" : "revision " + revision + "\n") + rows.text(view);
}

std::string show_configuration_text(const json::object& document, const View&) {
  const json::value* text = document.if_contains("text");
  return text && text->is_string() ? harmless(text->get_string(), NewLines::kept) : "";
}

bool has_configuration_errors(const json::object& status) {
  const json::object workers = table_of(table_of(status, "fleet"), "workerConfigurations");
  const auto problems = objects_of(workers, "problems");
  return !list_of(status, "configurationProblems").empty() ||
         !text_of(workers, "sourceError").empty() || text_of(workers, "heldBack") == "true" ||
         std::ranges::any_of(problems, [](const json::object& problem) {
           return text_of(problem, "severity") != "warning";
         });
}

std::string show_configuration_problems(const json::object& status, const View& view) {
  std::string out;
  for (const json::value& problem : list_of(status, "configurationProblems"))
    out +=
        "host configuration: " +
        view(Look::red, problem.is_string() ? std::string(problem.get_string()) : show(problem)) +
        "\n";
  const json::object workers = table_of(table_of(status, "fleet"), "workerConfigurations");
  out += problems_of(workers, view);
  if (const std::string error = text_of(workers, "sourceError"); !error.empty())
    out += view(Look::red, error) + "\n";
  if (text_of(workers, "heldBack") == "true")
    out += view(Look::yellow,
                "held back: worker configurations are gone, and the last ones stay in force; put "
                "them back, or use: muster config accept-empty") +
           "\n";
  for (const json::object& wait : objects_of(workers, "waits"))
    out += "waits for provider " + text_of(wait, "providerId") + ": " + text_of(wait, "reason") +
           "; pools keep what they have of it\n";
  return out.empty() ? "No problems.\n" : out;
}

}  // namespace muster::cli

// What was decided and what went wrong, the newest last.
#include <algorithm>
#include <map>

#include <muster/plural.hpp>

#include "cli/connection.hpp"
#include "cli/fleet/show.hpp"

namespace muster::cli {
namespace {

bool is_zero(const json::object& outputs, const char* key) {
  const json::value* found = outputs.if_contains(key);
  return found && found->is_int64() && found->get_int64() == 0;
}

std::string offer_line(const json::object& offer) {
  return "    bid " + text_of(offer, "bidId") + ": " + text_of(offer, "instances") + " of " +
         text_of(offer, "launchConfigId") + " by " + text_of(offer, "providerId") + " at " +
         text_of(offer, "pricePerCapacityHour") + "/h, weight " + two_digits(offer, "weight") +
         " (" + text_of(offer, "arithmetic") + ")";
}

// Lines that are too long go on below, indented.
std::string wrapped(const std::string& line, const View& view) {
  std::string out;
  const std::size_t columns =
      view.columns() == View::no_limit ? View::no_limit : view.columns() - 6;
  for (const std::string& part : folded(line, columns))
    out += (out.empty() ? "" : "      ") + part + "\n";
  return out;
}

}  // namespace

json::array decisions_that_changed(const json::array& newest_first) {
  json::array kept;
  std::map<std::string, std::string> last;  // reason of each kind
  for (auto item = newest_first.rbegin(); item != newest_first.rend(); ++item) {
    if (!item->is_object()) continue;
    const json::object& decision = item->get_object();
    const std::string kind = text_of(decision, "kind"), reason = text_of(decision, "reason");
    if (std::exchange(last[kind], reason) == reason) continue;
    const json::object outputs = table_of(table_of(decision, "document"), "outputs");
    if (kind == "size" && is_zero(outputs, "capacity")) continue;
    kept.push_back(*item);
  }
  return kept;
}

std::string show_decisions(const json::object& document, const View& view) {
  std::string out;
  for (const json::object& decision : objects_of(document, "decisions")) {
    out += wrapped(view.time(text_of(decision, "at")) + "  " + text_of(decision, "kind") + "  " +
                       text_of(decision, "reason") + "  [" + text_of(decision, "digest") + "]",
                   view);
    const json::object inputs = table_of(table_of(decision, "document"), "inputs");
    for (const json::object& offer : objects_of(inputs, "offers"))
      out += wrapped(offer_line(offer), view);
    for (const json::value& problem : list_of(inputs, "problems"))
      if (problem.is_string())
        out += wrapped("    no bid: " + harmless(problem.get_string()), view);
  }
  return out.empty() ? "No decisions that changed anything; --all shows the others.\n" : out;
}

std::string show_errors(const json::object& document, const View& view) {
  std::string out;
  std::vector<json::object> errors = objects_of(document, "errors");
  std::reverse(errors.begin(), errors.end());
  for (const json::object& error : errors) {
    out +=
        view(Look::dim, view.time(text_of(error, "at"))) + "  " +
        view(Look::red, text_of(error, "kind")) + "  " +
        view(Look::plain, text_of(error, "title") + ": " + text_of(error, "description")) + "  " +
        view(Look::dim, text_of(error, "workerPoolId") + " " + text_of(error, "launchConfigId")) +
        "\n";
  }
  return out.empty() ? "No errors.\n" : out;
}

std::string show_error_counts(const json::object& document, const View& view) {
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
    rows.add_heads({title, "ERRORS"});
    for (const auto& [count, name] : sorted) rows.add({{name}, {std::to_string(-count)}});
    out += "\n" + rows.text(view);
  }
  return out;
}

}  // namespace muster::cli

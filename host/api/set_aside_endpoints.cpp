// Rows of the store that cannot be read: listed, shown, corrected and discarded.
#include <charconv>

#include "host/api/handlers.hpp"
#include "host/store/checks.hpp"
#include "host/store/row.hpp"
#include "lib/base/log_line.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;
using store::SetAside;

constexpr std::string_view hidden = "(hidden)";
constexpr std::string_view read_at_start = "it was written anew and is read at the next start";

json::value to_json(const store::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return json::value(*text);
  return nullptr;
}

// Nothing if the column does not hold such a value.
std::optional<store::Value> from_json(const json::value& given, store::ColumnType type) {
  if (given.is_null()) return store::Value();
  if (type == store::ColumnType::text && given.is_string())
    return store::Value(std::string(given.get_string()));
  if (type == store::ColumnType::integer && given.is_int64())
    return store::Value(given.get_int64());
  if (type == store::ColumnType::real && given.is_number())
    return store::Value(given.to_number<double>());
  return std::nullopt;
}

json::object to_json(const SetAside::Entry& entry, bool whole) {
  json::object key, row;
  for (std::size_t i = 0; i < entry.row.size() && i < entry.table->columns.size(); ++i) {
    const std::string_view name = entry.table->columns[i].name;
    if (i < entry.key_columns) key[name] = to_json(entry.row[i]);
    row[name] = names_a_secret(name) ? json::value(hidden) : to_json(entry.row[i]);
  }
  json::object document{{"number", entry.number},
                        {"table", entry.table->name},
                        {"key", std::move(key)},
                        {"reason", entry.reason}};
  if (whole) document["row"] = std::move(row);
  return document;
}

std::vector<store::Value> key_of(const SetAside::Entry& entry) {
  return {entry.row.begin(), entry.row.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                     entry.key_columns, entry.row.size()))};
}

// Something else may have written the row since, or erased it: then it is set aside no more.
bool is_still_there(const store::Store& store, const SetAside::Entry& entry) {
  bool same = false;
  const auto scanned = store.scan({.table = entry.table, .prefix = key_of(entry)},
                                  [&](std::span<const store::Value> values) {
                                    same = std::ranges::equal(values, entry.row);
                                    return !same;
                                  });
  return !scanned || same;
}

Answer list_set_aside(const Call& call) {
  const store::Store& store = *services_of(call).store;
  json::array rows;
  for (const SetAside::Entry& entry : store.set_aside().list())
    if (is_still_there(store, entry))
      rows.push_back(to_json(entry, false));
    else
      store.set_aside().forget(entry.number);
  return json_answer(json::object{{"rows", std::move(rows)}, {"total", store.set_aside().size()}});
}

Result<SetAside::Entry> entry_of(const Call& call) {
  const std::string& text = call.parameter("number");
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  auto found = services_of(call).store->set_aside().find(number);
  if (!found)
    return Error::not_found("no row with the number " + text +
                            " is set aside; see: muster set-aside");
  return std::move(*found);
}

Answer show_set_aside(const Call& call) {
  const auto entry = entry_of(call);
  if (!entry) return to_failure(entry.error());
  return json_answer(to_json(*entry, true));
}

// The row with the columns that the body corrects; those of the key stay.
Result<std::vector<store::Value>> corrected(const Call& call, const SetAside::Entry& entry) {
  std::vector<store::Value> row = entry.row;
  const json::value* given = call.body().if_contains("row");
  if (!given || !given->is_object()) return row;
  for (const auto& [name, value] : given->get_object()) {
    const auto& columns = entry.table->columns;
    const auto column = std::ranges::find(columns, std::string_view(name),
                                          [](const auto& one) { return one.name; });
    const auto at = static_cast<std::size_t>(column - columns.begin());
    if (at >= row.size())
      return Error::invalid("the table " + std::string(entry.table->name) + " has no column `" +
                            std::string(name) + "`");
    if (at < entry.key_columns)
      return Error::invalid("`" + std::string(name) +
                            "` is of the key, which stays: discard the "
                            "row instead");
    auto read = from_json(value, column->type);
    if (!read) return Error::invalid("`" + std::string(name) + "` is of another type");
    row[at] = std::move(*read);
  }
  return row;
}

FleetChangeOrFailure retry_set_aside(const Call& call) {
  const auto entry = entry_of(call);
  if (!entry) return to_failure(entry.error());
  auto row = corrected(call, *entry);
  if (!row) return to_failure(row.error());
  if (const auto readable = entry->check(*row); !readable)
    return conflict("it still cannot be read: " + readable.error().message +
                    "; correct columns with `row`, or discard it");
  if (const auto fits = store::check(store::Change(store::Put{entry->table, *row})); !fits)
    return conflict("it cannot be written: " + fits.error().message);
  return FleetChange([store = services_of(call).store, entry = *entry, row = std::move(*row)](
                         Fleet& fleet, Now) -> Answer {
    store->set_aside().replace(entry.number, row, std::string(read_at_start));
    fleet.change_row(store::Put{entry.table, row}, store->set_aside());
    return json_answer(json::object{{"number", entry.number}, {"outcome", read_at_start}});
  });
}

FleetChangeOrFailure discard_set_aside(const Call& call) {
  const auto entry = entry_of(call);
  if (!entry) return to_failure(entry.error());
  const store::Erase erase{entry->table, key_of(*entry)};
  if (const auto fits = store::check(store::Change(erase)); !fits)
    return conflict("its key cannot be named: " + fits.error().message +
                    "; erase it with sqlite3 while the host is stopped");
  return FleetChange(
      [erase, store = services_of(call).store, entry = *entry](Fleet& fleet, Now) -> Answer {
        store->set_aside().forget(entry.number);
        fleet.change_row(erase, store->set_aside());
        return json_answer(json::object{});
      });
}

}  // namespace

std::vector<Endpoint> set_aside_endpoints() {
  return {
      {.name = "listSetAside",
       .method = "GET",
       .path = base + "/set-aside",
       .scopes = all_of({"muster:get:set-aside"}),
       .handler = OnWorkerThreadWithFleet{list_set_aside},
       .output = "SetAsideList",
       .errors = {unavailable},
       .category = "host",
       .title = "Rows of the store that cannot be read: nothing acts on them"},
      {.name = "getSetAside",
       .method = "GET",
       .path = base + "/set-aside/{number}",
       .scopes = all_of({"muster:manage-set-aside"}),
       .handler = OnWorkerThreadWithFleet{show_set_aside},
       .output = "SetAsideRow",
       .errors = {bad_input, missing, unavailable},
       .category = "host",
       .title = "One of them, with all its columns but secrets"},
      {.name = "retrySetAside",
       .method = "POST",
       .path = base + "/set-aside/{number}/retry",
       .scopes = all_of({"muster:manage-set-aside"}),
       .handler = retry_set_aside,
       .input = "SetAsideRequest",
       .input_required = false,
       .audit = audited(),
       .output = "SetAsideOutcome",
       .errors = {bad_input, missing, conflicting, unavailable},
       .category = "host",
       .title = "Write it anew, with corrected columns, to be read at the next start"},
      {.name = "discardSetAside",
       .method = "DELETE",
       .path = base + "/set-aside/{number}",
       .scopes = all_of({"muster:manage-set-aside"}),
       .handler = discard_set_aside,
       .audit = audited(),
       .output = "Empty",
       .errors = {missing, unavailable},
       .category = "host",
       .title = "Erase it",
       .description = "An instance that belonged to a worker discarded so is adopted or ended when "
                      "its provider lists it next."},
  };
}

}  // namespace muster::api

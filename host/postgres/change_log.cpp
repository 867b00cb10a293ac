#include "host/postgres/change_log.hpp"

#include <algorithm>

#include <muster/json.hpp>

#include "host/postgres/values.hpp"
#include "host/store/checks.hpp"

namespace muster::postgres {

using store::Table;
using store::Value;

namespace {

const Table* find_table(FollowedTables tables, std::string_view name) {
  const auto found = std::ranges::find(tables, name, &Table::name);
  return found == tables.end() ? nullptr : *found;
}

// Texts as the database takes them: any bytes are possible in a value.
json::value to_json(const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return json::value(escaped(*text));
  return nullptr;
}

std::optional<Value> to_value(const json::value& from, store::ColumnType type) {
  if (from.is_null()) return Value();
  if (const auto* text = from.if_string())
    return Value(unescaped(std::string_view(text->data(), text->size())));
  if (type == store::ColumnType::real && from.is_number()) return Value(from.to_number<double>());
  if (const auto* number = from.if_int64()) return Value(*number);
  return std::nullopt;
}

json::array begin(const char* kind, const Table& table) {
  return {kind, std::string(table.name)};
}

json::array written(const store::Put& put) {
  json::array out = begin("put", *put.table);
  for (const Value& value : put.row) out.push_back(to_json(value));
  return out;
}
json::array written(const store::Erase& erase) {
  json::array out = begin("erase", *erase.table);
  for (const Value& value : erase.key) out.push_back(to_json(value));
  return out;
}
json::array written(const store::EraseBelow& erase) {
  json::array out = begin("eraseBelow", *erase.table);
  out.push_back(json::value(std::string(erase.column)));
  out.push_back(erase.bound);
  return out;
}

std::optional<std::vector<Value>> values_of(const json::array& from, const Table& table) {
  std::vector<Value> values;
  if (from.size() - 2 > table.columns.size()) return std::nullopt;
  for (std::size_t i = 2; i < from.size(); ++i) {
    auto value = to_value(from[i], table.columns[i - 2].type);
    if (!value) return std::nullopt;
    values.push_back(std::move(*value));
  }
  return values;
}

std::optional<store::Change> change_of(const json::array& from, const Table& table) {
  const json::string& kind = from[0].get_string();
  if (kind == "eraseBelow") {
    const auto* column = from.size() == 4 ? from[2].if_string() : nullptr;
    const auto index = column ? store::index_of(table, *column) : std::nullopt;
    if (!index || !from[3].is_int64()) return std::nullopt;
    return store::EraseBelow{&table, table.columns[*index].name, from[3].get_int64()};
  }
  auto values = values_of(from, table);
  if (!values) return std::nullopt;
  if (kind == "put") return store::Put{&table, std::move(*values)};
  if (kind == "erase") return store::Erase{&table, std::move(*values)};
  return std::nullopt;
}

}  // namespace

const char* const prune_changes =
    "DELETE FROM muster_changes WHERE number < $1::bigint - 64 AND "
    "at < clock_timestamp() - interval '30 seconds'";

std::string to_text(const store::Batch& batch, FollowedTables tables) {
  json::array list;
  for (const store::Change& change : batch)
    std::visit(
        [&](const auto& one) {
          if (find_table(tables, one.table->name)) list.push_back(written(one));
        },
        change);
  return json::write(json::value(std::move(list)));
}

Result<store::Batch> from_text(std::string_view text, FollowedTables tables) {
  const Error bad = Error::invalid("the changes of a commit cannot be read");
  const auto parsed = json::parse(text);
  if (!parsed || !parsed->is_array()) return bad;
  store::Batch batch;
  for (const json::value& item : parsed->get_array()) {
    const auto* one = item.if_array();
    if (!one || one->size() < 2 || !(*one)[0].is_string() || !(*one)[1].is_string()) return bad;
    const Table* table = find_table(tables, (*one)[1].get_string());
    if (!table) continue;
    auto change = change_of(*one, *table);
    if (!change || !store::check(*change)) return bad;
    batch.push_back(std::move(*change));
  }
  return batch;
}

}  // namespace muster::postgres

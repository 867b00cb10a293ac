// From structs to rows and back, made from the same fields() that documents are made from. A row
// says
//   static constexpr std::string_view table = "holds";
//   static constexpr std::size_t key_columns = 2;       // its first fields
// Numbers, booleans and times are integers; enums are their names; JSON is its text; an empty
// optional is NULL.
#pragma once

#include <array>
#include <concepts>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>

#include <muster/codec.hpp>
#include <muster/context.hpp>
#include <muster/enum_name.hpp>
#include <muster/fields.hpp>
#include <muster/ids.hpp>
#include <muster/json.hpp>
#include <muster/utf8.hpp>

#include "host/store/store.hpp"

namespace muster::store {

// For a column that may be NULL: Time{} is no time.
inline std::optional<Time> known_time(Time time) {
  return time == Time{} ? std::nullopt : std::optional(time);
}

namespace detail {

template <class T>
struct ColumnOf;

template <std::integral T>
struct ColumnOf<T> {
  static constexpr ColumnType type = ColumnType::integer;
  static Value write(T value) { return static_cast<std::int64_t>(value); }
  static bool read(const Value& value, T& out) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number) out = static_cast<T>(*number);
    return number;
  }
};

template <>
struct ColumnOf<double> {
  static constexpr ColumnType type = ColumnType::real;
  static Value write(double value) { return value; }
  static bool read(const Value& value, double& out) {
    if (const auto* real = std::get_if<double>(&value)) return out = *real, true;
    if (const auto* number = std::get_if<std::int64_t>(&value))
      return out = static_cast<double>(*number), true;
    return false;
  }
};

template <>
struct ColumnOf<std::string> {
  static constexpr ColumnType type = ColumnType::text;
  static Value write(const std::string& value) { return value; }
  static bool read(const Value& value, std::string& out) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text || !is_utf8(*text)) return false;
    return out = *text, true;
  }
};

template <>
struct ColumnOf<Time> {
  static constexpr ColumnType type = ColumnType::integer;
  static Value write(Time value) { return std::int64_t{value.time_since_epoch().count()}; }
  static bool read(const Value& value, Time& out) {
    const auto* number = std::get_if<std::int64_t>(&value);
    if (number) out = Time(std::chrono::milliseconds(*number));
    return number;
  }
};

template <class Tag>
struct ColumnOf<Id<Tag>> {
  static constexpr ColumnType type = ColumnType::text;
  static Value write(const Id<Tag>& value) { return value.str(); }
  static bool read(const Value& value, Id<Tag>& out) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text || !is_plain_text(*text)) return false;
    return out = Id<Tag>(*text), true;
  }
};

template <class E>
requires std::is_enum_v<E>
struct ColumnOf<E> {
  static constexpr ColumnType type = ColumnType::text;
  static Value write(E value) { return name_of(value); }
  static bool read(const Value& value, E& out) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return false;
    const auto names = enum_names(E{});
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == *text) return out = static_cast<E>(i), true;
    return false;
  }
};

template <class T>
requires(std::same_as<T, json::object> || std::same_as<T, json::array> ||
         std::same_as<T, json::value>) struct ColumnOf<T> {
  static constexpr ColumnType type = ColumnType::text;
  static Value write(const T& value) { return json::write(value); }
  static bool read(const Value& value, T& out) {
    const auto* text = std::get_if<std::string>(&value);
    if (!text) return false;
    auto parsed = json::parse(*text);
    if (!parsed) return false;
    if constexpr (std::same_as<T, json::value>) return out = std::move(*parsed), true;
    if constexpr (std::same_as<T, json::object>)
      return parsed->is_object() && (out = std::move(parsed->as_object()), true);
    if constexpr (std::same_as<T, json::array>)
      return parsed->is_array() && (out = std::move(parsed->as_array()), true);
  }
};

template <class T>
struct ColumnOf<std::optional<T>> {
  static constexpr ColumnType type = ColumnOf<T>::type;
  static Value write(const std::optional<T>& value) {
    return value ? ColumnOf<T>::write(*value) : Value{};
  }
  static bool read(const Value& value, std::optional<T>& out) {
    if (std::holds_alternative<std::monostate>(value)) return out.reset(), true;
    return ColumnOf<T>::read(value, out.emplace());
  }
};

template <class Struct, class Member>
constexpr Column column_of(const Field<Struct, Member>& field) {
  return {field.name, ColumnOf<Member>::type};
}

template <class Row>
inline constexpr auto columns_of = Row::fields([](const auto&... field) {
  return std::array<Column, sizeof...(field)>{column_of(field)...};
});

}  // namespace detail

template <class Row>
inline constexpr Table table_of{Row::table, detail::columns_of<Row>, Row::key_columns};

template <class Row>
Put put(const Row& row) {
  Put change{&table_of<Row>, {}};
  change.row.reserve(table_of<Row>.columns.size());
  Row::fields([&](const auto&... field) {
    (change.row.push_back(detail::ColumnOf<std::remove_cvref_t<decltype(row.*field.member)>>::write(
         row.*field.member)),
     ...);
  });
  return change;
}

template <class Row>
Erase erase(std::vector<Value> key) {
  return {&table_of<Row>, std::move(key)};
}

// Fails as `internal` and names the column if a value is not of its kind.
template <class Row>
Result<Row> from_values(std::span<const Value> values) {
  Row row;
  std::size_t column = 0;
  std::string_view wrong;
  const auto read = [&](const auto& field) {
    using Member = std::remove_cvref_t<decltype(row.*field.member)>;
    if (column >= values.size() ||
        !detail::ColumnOf<Member>::read(values[column], row.*field.member))
      wrong = field.name;
    ++column;
    return wrong.empty();
  };
  Row::fields([&](const auto&... field) { (void)(read(field) && ...); });
  if (wrong.empty()) return row;
  return Error::internal("table " + std::string(Row::table) + ": column " + std::string(wrong) +
                         " holds what does not belong there");
}

namespace detail {

template <class Row>
Result<void> check_row(std::span<const Value> values) {
  if (const auto row = from_values<Row>(values); !row) return row.error();
  return {};
}

// `take` may return a Result<void>: that the row cannot be used.
template <class Row, class Take>
Result<void> take_row(std::span<const Value> values, Take& take) {
  auto row = from_values<Row>(values);
  if (!row) return row.error();
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Take&, Row>>)
      take(std::move(*row));
    else
      return take(std::move(*row));
  } catch (const std::exception& exception) {
    return Error::internal("table " + std::string(Row::table) +
                           ": a row cannot be taken: " + exception.what());
  }
  return {};
}

}  // namespace detail

// Every row of the scan. One that cannot be read, or that `take` refuses, stays where it is and is
// entered in store.set_aside(); the others are read. `skipped`, if given, sees its values.
template <class Row, class Take>
Result<void> read_rows(const Store& store, Take&& take, Scan scan = {&table_of<Row>},
                       const std::function<void(std::span<const Value>)>& skipped = {}) {
  scan.table = &table_of<Row>;
  return store.scan(scan, [&](std::span<const Value> values) {
    const auto taken = detail::take_row<Row>(values, take);
    if (taken) return true;
    store.set_aside().add({.table = &table_of<Row>,
                           .row = std::vector<Value>(values.begin(), values.end()),
                           .key_columns = Row::key_columns,
                           .reason = taken.error().message,
                           .check = detail::check_row<Row>});
    if (skipped) skipped(values);
    return true;
  });
}

}  // namespace muster::store

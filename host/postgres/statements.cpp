#include "host/postgres/statements.hpp"

#include <algorithm>

namespace muster::postgres {
namespace {

using store::Column;
using store::Table;

std::string names_of(std::span<const Column> columns) {
  std::string names;
  for (const Column& column : columns) names += (names.empty() ? "" : ", ") + quoted(column.name);
  return names;
}

std::string parameter(std::size_t number) {
  return "$" + std::to_string(number);
}

// " WHERE "a" = $1 AND "b" = $2"
std::string where_key(const Table& table, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text +=
        (i == 0 ? " WHERE " : " AND ") + quoted(table.columns[i].name) + " = " + parameter(i + 1);
  return text;
}

std::string put_text(const Table& table) {
  std::string values, updates;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    values += (i == 0 ? "" : ", ") + parameter(i + 1);
    if (i < table.key_columns) continue;
    const std::string name = quoted(table.columns[i].name);
    updates += (updates.empty() ? "" : ", ") + name + " = excluded." + name;
  }
  return "INSERT INTO " + quoted(table.name) + " (" + names_of(table.columns) + ") VALUES (" +
         values + ") ON CONFLICT (" + names_of(table.columns.first(table.key_columns)) + ") DO " +
         (updates.empty() ? "NOTHING" : "UPDATE SET " + updates);
}

std::string scan_text(const StatementKey& key) {
  const Table& table = *key.table;
  std::string text = "SELECT " + names_of(table.columns) + " FROM " + quoted(table.name) +
                     where_key(table, key.count);
  std::size_t next = key.count + 1;
  if (key.kind == StatementKind::scan_beyond)
    text += (key.count == 0 ? " WHERE " : " AND ") + quoted(table.columns[key.count].name) +
            (key.backwards ? " < " : " > ") + parameter(next++);
  std::string order;
  for (const Column& column : table.columns.first(table.key_columns))
    order += (order.empty() ? "" : ", ") + quoted(column.name) + (key.backwards ? " DESC" : "");
  return text + " ORDER BY " + order + " LIMIT " + parameter(next) + "::bigint";
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_word_part(char c) {
  return is_letter(c) || (c >= '0' && c <= '9');
}

std::string translated_word(std::string_view word) {
  const bool is_sql =
      std::ranges::none_of(word, [](char letter) { return letter >= 'a' && letter <= 'z'; });
  if (!is_sql) return quoted(word);
  if (word == "INTEGER") return "bigint";
  if (word == "REAL") return "double precision";
  if (word == "TEXT") return "text COLLATE \"C\"";
  return std::string(word);
}

// SQLite's own, at the end of a table.
std::string_view without_table_options(std::string_view statement) {
  for (bool found = true; found;) {
    found = false;
    while (!statement.empty() &&
           std::string_view(" \t\r\n,").find(statement.back()) != std::string_view::npos)
      statement.remove_suffix(1);
    for (const std::string_view option : {"WITHOUT ROWID", "STRICT"})
      if (statement.ends_with(option)) {
        statement.remove_suffix(option.size());
        found = true;
      }
  }
  return statement;
}

std::string translated_statement(std::string_view text) {
  text = without_table_options(text);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text[i] == '\'') {
      end = text.find('\'', end);
      end = end == std::string_view::npos ? text.size() : end + 1;
      out += text.substr(i, end - i);
    } else if (is_letter(text[i])) {
      while (end < text.size() && is_word_part(text[end])) ++end;
      out += translated_word(text.substr(i, end - i));
    } else {
      out += text[i];
    }
    i = end;
  }
  return out;
}

}  // namespace

std::string quoted(std::string_view name) {
  return '"' + std::string(name) + '"';
}

std::string sql_of(const StatementKey& key) {
  const Table& table = *key.table;
  switch (key.kind) {
    case StatementKind::put:
      return put_text(table);
    case StatementKind::erase:
      return "DELETE FROM " + quoted(table.name) + where_key(table, key.count);
    case StatementKind::erase_below:
      return "DELETE FROM " + quoted(table.name) + " WHERE " +
             quoted(table.columns[key.count].name) + " < $1";
    case StatementKind::scan:
    case StatementKind::scan_beyond:
      break;
  }
  return scan_text(key);
}

std::string translated(std::string_view sqlite_step) {
  std::string out;
  while (!sqlite_step.empty()) {
    const auto end = std::min(sqlite_step.find(';'), sqlite_step.size());
    const std::string statement = translated_statement(sqlite_step.substr(0, end));
    if (std::ranges::any_of(statement, is_word_part)) out += statement + ";";
    sqlite_step.remove_prefix(std::min(end + 1, sqlite_step.size()));
  }
  return out;
}

}  // namespace muster::postgres

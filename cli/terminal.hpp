// What goes to the screen: colour only where a person looks, columns that line up, JSON for
// programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <muster/json.hpp>

namespace muster::cli {

enum class Look { plain, bold, dim, red, green, yellow, cyan };

// Colours of one stream. Off unless it is a terminal, $NO_COLOR is unset or empty and $TERM is not
// "dumb".
class Style {
 public:
  static Style of_stdout();
  static Style of_stderr();
  explicit Style(bool on) : on_(on) {}

  std::string operator()(Look look, std::string_view text) const;

 private:
  bool on_;
};

// Columns that text takes on a screen: one per code point.
std::size_t display_width(std::string_view text);

// Columns of the terminal behind stdout; 160 if there is none.
std::size_t terminal_columns();

struct Cell {
  std::string text;
  Look look = Look::plain;
};

// Rows whose columns line up, two spaces apart. Empty cells at the end of a row cost nothing.
class Table {
 public:
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  std::size_t width() const;
  std::string text(const Style& style, std::string_view indent = "") const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<std::vector<Cell>> rows_;
};

// Writes to stdout. A closed pipe (`muster ... | head`) ends the program quietly.
void print(std::string_view text);
void print_json(const json::value& document);

// A value on one line as people read it: JSON.
std::string show(const json::value& value);

}  // namespace muster::cli

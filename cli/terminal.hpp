// What goes to the screen: colour only where a person looks, columns that line up, JSON for
// programs.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <muster/context.hpp>
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

// Texts come from files and from hosts: what would move the cursor, colour the screen or reverse
// the order of letters is shown as \x1b and the like, not sent. Ends of lines are kept if wanted.
enum class NewLines { escaped, kept };
std::string harmless(std::string_view text, NewLines lines = NewLines::escaped);

// Columns that text takes on a screen: one per code point.
std::size_t display_width(std::string_view text);

// Columns of the terminal behind stdout; 160 if there is none.
std::size_t terminal_columns();

// What a person chose with -o and --no-headers.
struct ViewOptions {
  std::string format = {};  // "", "wide", "json" or "name"
  bool no_headers = false;
};

// How a document is shown: colours, how wide a table may be, and what time it is.
class View : public Style {
 public:
  // A terminal gives its width. Elsewhere it is $COLUMNS, and without it there is no limit: a row
  // is one line, for grep.
  static View of_stdout(const ViewOptions& options = {});
  View(const Style& style, std::size_t columns, Time now, bool headers = true, bool wide = false)
      : Style(style), columns_(columns), now_(now), headers_(headers), wide_(wide) {}

  static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);
  std::size_t columns() const { return wide_ ? no_limit : columns_; }
  bool has_headers() const { return headers_; }
  // Whether there is room for columns that help less.
  bool is_roomy() const { return wide_ || columns_ >= 140; }

  // "3m" since a time of the host; "in 3m" if it is still to come. Empty if it is no time, or if
  // the view has no time (Time{}).
  std::string age(const std::string& time) const;
  // "2026-01-02 03:04:05 (3m)"
  std::string time(const std::string& time) const;

 private:
  std::size_t columns_;
  Time now_;
  bool headers_, wide_;
};

struct Cell {
  std::string text;
  Look look = Look::plain;
};

// Rows whose columns line up, two spaces apart. Empty cells at the end of a row cost nothing.
class Table {
 public:
  void add_heads(std::initializer_list<const char*> names);
  void add(std::vector<Cell> row);
  // These columns are left out unless the view is roomy.
  void only_if_roomy(std::initializer_list<std::size_t> columns) { roomy_only_ = columns; }
  std::size_t width() const;
  std::string text(const Style& style, std::string_view indent = "") const;
  // As wide as the view allows: long texts go on in the next line, in their column.
  std::string text(const View& view, std::string_view indent = "") const;

 private:
  std::vector<std::size_t> widths() const;
  std::string lines_of(const std::vector<Cell>& row, const std::vector<std::size_t>& widths,
                       const Style& style, std::string_view indent) const;

  bool has_heads_ = false;
  std::vector<std::vector<Cell>> rows_;
  std::set<std::size_t> roomy_only_;
};

// The text in lines of at most `width` columns, broken between words if that is possible.
std::vector<std::string> folded(std::string_view text, std::size_t width);

// Writes to stdout. A closed pipe (`muster ... | head`) ends the program quietly.
void print(std::string_view text);
void print_json(const json::value& document);
// One line.
void print_json_line(const json::value& document);

// A line for each thing that the document is about: its name alone, for scripts.
std::string names_in(const json::object& document);

// A value on one line as people read it: JSON.
std::string show(const json::value& value);

}  // namespace muster::cli

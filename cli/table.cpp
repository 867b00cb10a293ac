#include <algorithm>
#include <array>
#include <iterator>

#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

constexpr std::size_t gap = 2;              // between two columns
constexpr std::size_t least_text = 24;      // the last column, which is prose, stays this wide
constexpr std::size_t least_of_others = 8;  // and what is folded next

std::size_t sum(const std::vector<std::size_t>& widths) {
  std::size_t total = 0;
  for (const std::size_t width : widths) total += width + (width > 0 ? gap : 0);
  return total > gap ? total - gap : 0;
}

// Takes from the last column first, then from the widest.
void fit(std::vector<std::size_t>& widths, std::size_t columns) {
  if (widths.empty() || sum(widths) <= columns) return;
  std::size_t& last = widths.back();
  const std::size_t excess = sum(widths) - columns;
  if (last > least_text) last = last > excess + least_text ? last - excess : least_text;
  while (sum(widths) > columns) {
    const auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= least_of_others) return;
    --*widest;
  }
}

std::size_t bytes_of_columns(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (begins && seen++ == columns) break;
  }
  return at;
}

}  // namespace

std::vector<std::string> folded(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    const std::size_t most = bytes_of_columns(text, width);
    std::size_t end = text.rfind(' ', most);
    if (end == std::string_view::npos || end == 0) end = most;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  }
  lines.emplace_back(text);
  return lines;
}

void Table::add_heads(std::initializer_list<const char*> names) {
  std::vector<Cell> row;
  for (const char* name : names) row.push_back({name, Look::bold});
  has_heads_ = true;
  rows_.insert(rows_.begin(), std::move(row));
}

void Table::add(std::vector<Cell> row) {
  for (Cell& cell : row) cell.text = harmless(cell.text);
  rows_.push_back(std::move(row));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].text));
  }
  return widths;
}

std::size_t Table::width() const {
  return sum(widths()) + gap;
}

std::string Table::lines_of(const std::vector<Cell>& row, const std::vector<std::size_t>& widths,
                            const Style& style, std::string_view indent) const {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    cells.push_back(widths[i] == 0 ? std::vector<std::string>{""} : folded(row[i].text, widths[i]));
    height = std::max(height, cells.back().size());
  }
  std::string out;
  for (std::size_t line = 0; line < height; ++line) {
    out += indent;
    std::size_t owed = 0;  // spaces, written only if more text follows
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string text = line < cells[i].size() ? cells[i][line] : "";
      if (!text.empty()) {
        out.append(owed, ' ');
        owed = 0;
        out += style(row[i].look, text);
      }
      owed += widths[i] - display_width(text) + gap;
    }
    out += "\n";
  }
  return out;
}

std::string Table::text(const Style& style, std::string_view indent) const {
  const auto columns = widths();
  std::string out;
  for (const auto& row : rows_) out += lines_of(row, columns, style, indent);
  return out;
}

std::string Table::text(const View& view, std::string_view indent) const {
  std::vector<std::size_t> columns = widths();
  if (!view.is_roomy())
    for (const std::size_t column : roomy_only_)
      if (column < columns.size()) columns[column] = 0;
  if (view.columns() != View::no_limit)
    fit(columns, view.columns() - std::min(view.columns(), indent.size()));
  std::string out;
  const std::size_t first = has_heads_ && !view.has_headers() ? 1 : 0;
  for (std::size_t i = first; i < rows_.size(); ++i)
    out += lines_of(rows_[i], columns, view, indent);
  return out;
}

// -------------------------------------------------------------------------------------------------
// Names

namespace {

struct Named {
  const char* list;                  // the member that holds them
  std::array<const char*, 3> parts;  // whose texts make up the name, with a slash between them
};

constexpr Named all_named[] = {
    {"workers", {"workerGroup", "workerId"}},
    {"launchConfigs", {"workerPoolId", "launchConfigId"}},
    {"requests", {"requestId"}},
    {"pools", {"workerPoolId"}},
    {"workerPools", {"workerPoolId"}},
    {"teams", {"team"}},
    {"holds", {"providerId"}},
    {"runs", {"taskId", "runId"}},
    {"providers", {"providerId"}},
    {"clients", {"clientId"}},
    {"plugins", {"pluginId"}},
    {"webhooks", {"name"}},
    {"contexts", {"name"}},
    {"deadLetters", {"number"}},
    {"events", {"number"}},
    {"rows", {"number"}},
    {"files", {"configurationId"}},
    {"sources", {"name"}},
    {"decisions", {"digest"}},
    {"errors", {"errorId"}},
};

std::string name_of(const json::object& thing, const Named& named) {
  std::string name;
  for (const char* part : named.parts) {
    if (!part) break;
    const json::value* value = thing.if_contains(part);
    if (!value || value->is_null()) return "";
    name += (name.empty() ? "" : "/") +
            (value->is_string() ? std::string(value->get_string()) : json::write(*value));
  }
  return harmless(name);
}

}  // namespace

std::string names_in(const json::object& document) {
  for (const Named& named : all_named)  // one thing alone
    if (const std::string name = name_of(document, named); !name.empty()) return name + "\n";
  std::string out;
  for (const Named& named : all_named) {
    const json::value* list = document.if_contains(named.list);
    if (!list || !list->is_array()) continue;
    for (const json::value& item : list->get_array()) {
      const std::string name = item.is_object() ? name_of(item.get_object(), named) : "";
      if (!name.empty()) out += name + "\n";
    }
    break;
  }
  return out;
}

}  // namespace muster::cli

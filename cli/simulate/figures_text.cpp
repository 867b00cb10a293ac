// Figures as tables.
#include <algorithm>
#include <cstdio>

#include "cli/simulate/figures.hpp"

namespace muster::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string decimals(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

std::string words_of(const std::optional<Waits>& waits, std::chrono::milliseconds Waits::*which) {
  return waits ? in_words((*waits).*which) : "-";
}

// The first column stands left, numbers stand right.
std::string table_text(Rows rows, const Style& style, std::size_t bold_rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  }
  Table table;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      std::string& text = rows[r][i];
      if (i > 0 && !text.empty()) text.insert(0, widths[i] - display_width(text), ' ');
      cells.push_back({std::move(text), r < bold_rows ? Look::bold : Look::plain});
    }
    table.add(std::move(cells));
  }
  return table.text(style);
}

std::vector<std::string> row_of(const PoolFigures& pool) {
  return {pool.name,
          std::to_string(pool.tasks),
          std::to_string(pool.done),
          std::to_string(pool.waiting),
          words_of(pool.waits, &Waits::p50),
          words_of(pool.waits, &Waits::p90),
          words_of(pool.waits, &Waits::p99),
          words_of(pool.waits, &Waits::most),
          std::to_string(pool.launches),
          std::to_string(pool.launch_errors),
          std::to_string(pool.workers_most),
          decimals(pool.machine_hours),
          decimals(pool.cost)};
}

// One line of a comparison.
struct Line {
  std::string name, first, second, difference;
};

Line counted(const char* name, std::int64_t a, std::int64_t b) {
  return {name, std::to_string(a), std::to_string(b),
          a == b ? "" : (b > a ? "+" : "") + std::to_string(b - a)};
}

Line measured(const char* name, double a, double b) {
  Line line{name, decimals(a), decimals(b), ""};
  if (line.first == line.second) return line;
  a = std::stod(line.first);  // so that the difference is that of what is shown
  b = std::stod(line.second);
  line.difference = (b > a ? "+" : "") + decimals(b - a);
  if (a > 0) {
    char share[32];
    std::snprintf(share, sizeof share, " (%+.0f %%)", (b - a) / a * 100);
    line.difference += share;
  }
  return line;
}

Line waited(const char* name, const PoolFigures& a, const PoolFigures& b,
            std::chrono::milliseconds Waits::*which) {
  Line line{name, words_of(a.waits, which), words_of(b.waits, which), ""};
  if (!a.waits || !b.waits || line.first == line.second) return line;
  const auto more = (*b.waits).*which - (*a.waits).*which;
  line.difference = (more.count() > 0 ? "+" : "") + in_words(more);
  return line;
}

void compare(const PoolFigures& a, const PoolFigures& b, Rows& rows) {
  rows.push_back({a.name});
  const Line lines[] = {counted("tasks", a.tasks, b.tasks),
                        counted("done", a.done, b.done),
                        counted("never began", a.waiting, b.waiting),
                        waited("wait p50", a, b, &Waits::p50),
                        waited("wait p90", a, b, &Waits::p90),
                        waited("wait p99", a, b, &Waits::p99),
                        waited("wait max", a, b, &Waits::most),
                        counted("launches", a.launches, b.launches),
                        counted("launch errors", a.launch_errors, b.launch_errors),
                        counted("peak workers", a.workers_most, b.workers_most),
                        measured("machine hours", a.machine_hours, b.machine_hours),
                        measured("cost", a.cost, b.cost)};
  for (const Line& line : lines)
    rows.push_back({"  " + line.name, line.first, line.second, line.difference});
}

std::string verdicts(const Figures& figures, const Style& style) {
  std::string text;
  for (const PoolFigures& pool : figures.pools)
    if (!pool.verdict.empty())
      text += style(Look::yellow, pool.name + ":") + " " + style(Look::plain, pool.verdict) + "\n";
  return text;
}

std::string cost_title(const Figures& figures) {
  return figures.currency.empty() ? "cost" : "cost " + figures.currency;
}

// Which prices the costs were counted with, and who says so.
std::string prices_text(const Figures& figures, const Style& style) {
  if (figures.prices.empty()) return {};
  Rows rows{{"price of a machine by the hour", figures.currency, "source"}};
  bool assumed = false;
  for (const UsedPrice& price : figures.prices) {
    char text[64];
    std::snprintf(text, sizeof text, "%.4g", price.per_hour);
    rows.push_back({price.provider_id + " " + price.instance_type, text, price.source});
    assumed |= price.source == "assumed";
  }
  std::string text = "\n" + table_text(std::move(rows), style, 1);
  if (assumed)
    text +=
        "Nobody says what the assumed ones cost: write them into simulation.toml, or use "
        "--prices FILE.\n";
  return text;
}

}  // namespace

std::string figures_text(const Figures& figures, const Style& style) {
  Rows rows{{"pool", "tasks", "done", "never began", "wait p50", "p90", "p99", "max", "launches",
             "errors", "peak", "hours", cost_title(figures)}};
  for (const PoolFigures& pool : figures.pools) rows.push_back(row_of(pool));
  rows.push_back(row_of(figures.total));
  std::string text = table_text(std::move(rows), style, 1);
  if (const std::string open = verdicts(figures, style); !open.empty())
    text += "\nNot satisfied at the end:\n" + open;
  return text + prices_text(figures, style);
}

std::string comparison_text(const Figures& first, const Figures& second, const Style& style) {
  Rows rows{{first.currency.empty() ? "" : "costs in " + first.currency, first.configuration,
             second.configuration, "difference"}};
  std::vector<const PoolFigures*> others;
  for (const PoolFigures& pool : second.pools) others.push_back(&pool);
  const PoolFigures none;
  for (const PoolFigures& pool : first.pools) {
    const auto other = std::find_if(others.begin(), others.end(),
                                    [&](const auto* each) { return each->name == pool.name; });
    compare(pool, other == others.end() ? none : **other, rows);
    if (other != others.end()) others.erase(other);
  }
  for (const PoolFigures* pool : others) {
    PoolFigures absent;
    absent.name = pool->name;
    compare(absent, *pool, rows);
  }
  compare(first.total, second.total, rows);
  std::string text = table_text(std::move(rows), style, 1);
  for (const Figures* figures : {&first, &second})
    if (const std::string open = verdicts(*figures, style); !open.empty())
      text += "\nNot satisfied at the end, with " + figures->configuration + ":\n" + open;
  text += prices_text(first, style);
  const auto same = [](const UsedPrice& a, const UsedPrice& b) {
    return a.provider_id == b.provider_id && a.instance_type == b.instance_type &&
           a.per_hour == b.per_hour && a.source == b.source;
  };
  if (!std::ranges::equal(first.prices, second.prices, same))
    text += "\nwith " + second.configuration + ":" + prices_text(second, style);
  return text;
}

}  // namespace muster::cli

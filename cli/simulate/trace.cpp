#include "cli/simulate/trace.hpp"

#include <algorithm>
#include <array>
#include <istream>
#include <optional>
#include <unordered_map>

#include <muster/nearest.hpp>
#include <muster/rules/problem.hpp>

#include "cli/simulate/trace_values.hpp"
#include "lib/toml/toml_document.hpp"
#include "lib/toml/toml_text.hpp"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_mistakes = 20;
constexpr std::int64_t most_tasks_of_a_row = 1'000'000;

enum Column : std::size_t { time_column, pool_column, tasks_column, seconds_column, columns };
constexpr std::array<std::string_view, columns> column_names{"time", "workerPoolId", "tasks",
                                                             "taskSeconds"};
using Row = std::array<std::optional<std::string>, columns>;

std::optional<Column> column_of(std::string_view name) {
  if (name == "workerType") return pool_column;
  for (std::size_t i = 0; i < columns; ++i)
    if (column_names[i] == name) return static_cast<Column>(i);
  return std::nullopt;
}

std::string unknown_name(std::string_view kind, std::string_view name) {
  const auto near = nearest(name, {"time", "workerPoolId", "workerType", "tasks", "taskSeconds"});
  return "there is no " + std::string(kind) + " " + rules::in_quotes(name) +
         (near ? "; did you mean " + *near + "?"
               : "; there are time, workerPoolId or workerType, tasks and taskSeconds");
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

enum class LineEnd { read, end, too_long };

// Without its end. Never keeps more than `most` bytes.
LineEnd next_line(std::streambuf& in, std::string& line, std::size_t most) {
  using Traits = std::streambuf::traits_type;
  line.clear();
  auto c = in.sbumpc();
  if (c == Traits::eof()) return LineEnd::end;
  for (; c != Traits::eof() && c != '\n'; c = in.sbumpc()) {
    if (line.size() == most) return LineEnd::too_long;
    line += static_cast<char>(c);
  }
  return LineEnd::read;
}

class Reader {
 public:
  Reader(std::istream& in, const TraceLimits& limits) : in_(*in.rdbuf()), limits_(limits) {}

  TraceReading read() {
    if (next()) {
      const char first = trimmed(line_).front();
      if (first == '[')
        read_toml();
      else if (first == '{')
        read_json_lines();
      else
        read_csv();
    } else if (reading_.mistakes.empty()) {
      complain(0,
               "the trace is empty; its first line names the columns: "
               "time,workerPoolId,tasks,taskSeconds");
    }
    finish();
    return std::move(reading_);
  }

 private:
  void complain(std::size_t line, std::string text) {
    if (reading_.mistakes.size() == most_mistakes - 1)
      text += " (reading stopped at this mistake, the " + std::to_string(most_mistakes) + "th)";
    if (reading_.mistakes.size() < most_mistakes)
      reading_.mistakes.push_back({line, std::move(text)});
  }
  bool enough() const { return reading_.mistakes.size() >= most_mistakes || stopped_; }

  // To the next line that says something.
  bool next() {
    while (!enough()) {
      const LineEnd outcome = next_line(in_, line_, limits_.line_bytes);
      if (outcome == LineEnd::end) return false;
      ++number_;
      if (outcome == LineEnd::too_long) {
        complain(number_, "the line is longer than " + std::to_string(limits_.line_bytes) +
                              " bytes; this is not a demand trace");
        return stopped_ = true, false;
      }
      if (number_ == 1 && line_.starts_with("\xEF\xBB\xBF")) line_.erase(0, 3);
      const auto text = trimmed(line_);
      if (!text.empty() && text.front() != '#') return true;
    }
    return false;
  }

  // A field may be quoted; a quote inside is doubled. False: it complained.
  bool split(std::vector<std::string>& fields) {
    fields.clear();
    std::string_view rest = trimmed(line_);
    for (;;) {
      std::string field;
      rest = trimmed(rest);
      if (rest.starts_with('"')) {
        std::size_t at = 1;
        for (;; ++at) {
          if (at >= rest.size())
            return complain(number_, "a quote is opened and not closed in this line"), false;
          if (rest[at] == '"' && !(at + 1 < rest.size() && rest[at + 1] == '"')) break;
          if (rest[at] == '"') ++at;
          field += rest[at];
        }
        rest = trimmed(rest.substr(at + 1));
        if (!rest.empty() && rest.front() != ',')
          return complain(number_,
                          "after a quoted field comes a comma, not " + rules::in_quotes(rest)),
                 false;
      } else {
        field = std::string(trimmed(rest.substr(0, rest.find(','))));
        rest.remove_prefix(std::min(rest.find(','), rest.size()));
      }
      fields.push_back(std::move(field));
      if (rest.empty()) return true;
      rest.remove_prefix(1);
    }
  }

  bool read_header(std::vector<Column>& header) {
    std::vector<std::string> names;
    if (!split(names)) return false;
    std::array<bool, columns> has{};
    bool good = true;
    for (const std::string& name : names) {
      const auto column = column_of(name);
      if (!column) {
        complain(number_, unknown_name("column", name) + (header.empty() ? "; the first line must "
                                                                           "name the columns"
                                                                         : ""));
        return false;
      }
      if (has[*column]) {
        complain(number_, "the column " + std::string(column_names[*column]) +
                              (*column == pool_column ? " (or workerType)" : "") + " occurs twice");
        good = false;
      }
      has[*column] = true;
      header.push_back(*column);
    }
    for (const Column needed : {time_column, pool_column, seconds_column})
      if (!has[needed]) {
        complain(number_, "the column " + std::string(column_names[needed]) + " is missing");
        good = false;
      }
    return good;
  }

  void read_csv() {
    std::vector<Column> header;
    if (!read_header(header)) return;
    std::vector<std::string> fields;
    while (next()) {
      if (!split(fields)) continue;
      if (fields.size() != header.size()) {
        complain(number_, "has " + std::to_string(fields.size()) +
                              " fields, but the header names " + std::to_string(header.size()) +
                              " columns");
        continue;
      }
      Row row;
      for (std::size_t i = 0; i < fields.size(); ++i)
        if (!(header[i] == tasks_column && fields[i].empty()))
          row[header[i]] = std::move(fields[i]);
      add(number_, row);
    }
  }

  void read_json_lines() {
    do {
      const auto object = json::parse_object(trimmed(line_));
      if (object) {
        add(number_, *object);
        continue;
      }
      std::string why = object.error().message;  // its own line is this one
      if (const auto at = why.find(", line 1,"); at != std::string::npos) why.erase(at + 1, 8);
      complain(number_, "is no JSON object: " + why);
    } while (next());
  }

  // All of it at once: TOML is for traces that people write.
  void read_toml() {
    std::string text(number_ - 1, '\n');  // so that lines keep their numbers
    text += line_ + "\n";
    while (text.size() <= config::max_toml_bytes) {
      const LineEnd outcome = next_line(in_, line_, config::max_toml_bytes);
      if (outcome == LineEnd::end) break;
      text += line_ + (outcome == LineEnd::read ? "\n" : "");
    }
    if (text.size() > config::max_toml_bytes)
      return complain(0,
                      "the trace is larger than 1 MiB, the most that is read as TOML; write it as "
                      "CSV or JSON lines");
    const auto parsed = config::parse_toml(text);
    if (const auto* mistake = boost::variant2::get_if<config::Mistake>(&parsed))
      return complain(mistake->position.line, mistake->reason);
    const auto& document = *boost::variant2::get_if<config::TomlDocument>(&parsed);
    const json::value* rows = document.root.if_contains("arrivals");
    for (const auto& [key, value] : document.root)
      if (key != "arrivals")
        complain(document.key_position("/" + config::pointer_part(key)).line,
                 "there is no key " + rules::in_quotes(std::string(key)) +
                     "; a trace consists of [[arrivals]]");
    if (!rows || !rows->is_array()) return complain(0, "there are no [[arrivals]]");
    for (std::size_t i = 0; i < rows->get_array().size(); ++i) {
      const auto line = document.value_position("/arrivals/" + std::to_string(i)).line;
      const json::value& row = rows->get_array()[i];
      if (row.is_object())
        add(line, row.get_object());
      else
        complain(line, "an arrival must be a table");
    }
  }

  void add(std::size_t line, const json::object& object) {
    Row row;
    for (const auto& [key, value] : object) {
      const auto column = column_of(std::string_view(key));
      if (!column) return complain(line, unknown_name("key", std::string_view(key)));
      if (row[*column]) return complain(line, "give workerPoolId or workerType, not both");
      if (!value.is_string() && !value.is_number())
        return complain(line, std::string(key) + ": must be a string or a number");
      row[*column] = value.is_string() ? std::string(value.get_string()) : json::write(value);
    }
    add(line, row);
  }

  void add(std::size_t line, const Row& row) {
    const auto missing = [&](Column column) {
      if (row[column]) return false;
      complain(line, std::string(column_names[column]) + " is missing");
      return true;
    };
    bool incomplete = missing(time_column);
    incomplete |= missing(pool_column);
    incomplete |= missing(seconds_column);
    if (incomplete) return;
    const auto wrong = [&](Column column, const auto& result) {
      if (result) return false;
      complain(line, std::string(column_names[column]) + ": " + result.error().message);
      return true;
    };
    const auto time = parse_trace_time(*row[time_column]);
    const auto pool = known_pool(line, *row[pool_column]);
    const auto tasks = row[tasks_column] ? parse_task_count(*row[tasks_column], most_tasks_of_a_row)
                                         : Result<std::int64_t>(1);
    const auto each = parse_task_seconds(*row[seconds_column]);
    bool unreadable = wrong(time_column, time);
    unreadable |= wrong(pool_column, pool);
    unreadable |= wrong(tasks_column, tasks);
    unreadable |= wrong(seconds_column, each);
    if (unreadable) return;
    if (!same_kind_of_time(line, *time)) return;
    Trace& trace = reading_.trace;
    trace.tasks += *tasks;
    trace.arrivals.push_back({time->at, *pool, *tasks, *each});
    if (trace.arrivals.size() > limits_.rows || trace.tasks > limits_.tasks) {
      complain(line, trace.tasks > limits_.tasks
                         ? "there are more than " + std::to_string(limits_.tasks) + " tasks"
                         : "there are more than " + std::to_string(limits_.rows) + " rows");
      stopped_ = true;
    }
  }

  Result<WorkerPoolId> known_pool(std::size_t line, const std::string& text) {
    if (const auto known = pools_.find(text); known != pools_.end()) return known->second;
    auto pool = parse_pool(text);
    if (!pool) return pool;
    reading_.trace.pools.try_emplace(*pool, line);
    pools_.emplace(text, *pool);
    return pool;
  }

  bool same_kind_of_time(std::size_t line, const TraceTime& time) {
    if (!dates_) {
      dates_ = time.is_date;
      first_ = line;
    }
    if (*dates_ == time.is_date) return true;
    complain(line, time.is_date ? "time: is a date, but line " + std::to_string(first_) +
                                      " gives a time since the start"
                                : "time: is a time since the start, but line " +
                                      std::to_string(first_) + " gives a date");
    return false;
  }

  void finish() {
    Trace& trace = reading_.trace;
    if (!reading_.mistakes.empty()) return;
    if (trace.arrivals.empty()) return complain(0, "the trace has no rows");
    const auto earlier = [](const auto& a, const auto& b) { return a.at < b.at; };
    std::stable_sort(trace.arrivals.begin(), trace.arrivals.end(), earlier);
    if (*dates_) {
      const milliseconds start = trace.arrivals.front().at;
      trace.begins = Time(start);
      for (auto& arrival : trace.arrivals) arrival.at -= start;
    }
    trace.last = trace.arrivals.back().at;
    if (trace.last > limits_.length)
      complain(0, "the last row is more than a year after the first");
  }

  std::streambuf& in_;
  const TraceLimits limits_;
  TraceReading reading_;
  std::string line_;
  std::size_t number_ = 0;
  bool stopped_ = false;
  std::optional<bool> dates_;
  std::size_t first_ = 0;
  std::unordered_map<std::string, WorkerPoolId> pools_;
};

}  // namespace

std::string to_string(const TraceMistake& mistake, const std::string& name) {
  return name + (mistake.line ? ":" + std::to_string(mistake.line) : "") + ": " + mistake.text;
}

TraceReading read_trace(std::istream& in, const TraceLimits& limits) {
  return Reader(in, limits).read();
}

std::vector<TraceMistake> unknown_pools(const Trace& trace,
                                        const std::vector<WorkerPoolId>& known) {
  std::vector<std::string> names;
  for (const WorkerPoolId& pool : known) names.push_back(pool.str());
  std::vector<TraceMistake> mistakes;
  for (const auto& [pool, line] : trace.pools) {
    if (std::find(known.begin(), known.end(), pool) != known.end()) continue;
    const std::string near = rules::nearest_name(pool.str(), names);
    mistakes.push_back({line, "workerPoolId: there is no worker pool " +
                                  rules::in_quotes(pool.str()) +
                                  (near.empty() ? "" : "; did you mean " + near + "?")});
  }
  std::sort(mistakes.begin(), mistakes.end(),
            [](const auto& a, const auto& b) { return a.line < b.line; });
  return mistakes;
}

}  // namespace muster::cli

#include "cli/fleet/watch.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <sys/ioctl.h>
#include <unistd.h>

#include <muster/plural.hpp>

#include "cli/connection.hpp"
#include "cli/fleet/events.hpp"
#include "cli/fleet/show.hpp"
#include "cli/fleet/show_status.hpp"
#include "cli/fleet/stop_signals.hpp"

namespace muster::cli {
namespace {

constexpr int pause = 1'000;  // milliseconds
constexpr std::size_t most_pools = 20, most_with_workers = 10, most_workers = 50, most_events = 200;
constexpr std::size_t events_on_screen = 8;

std::size_t terminal_rows() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) return size.ws_row;
  return 24;
}

bool has_workers(const json::object& pool) {
  for (const auto& [name, count] : table_of(pool, "capacity"))
    if (count.is_int64() && count.get_int64() > 0) return true;
  return false;
}

// Those where something is going on come first.
void choose_pools(const json::array& all, Snapshot& snapshot) {
  const auto busy = [](const json::value& item) {
    const json::object& pool = item.as_object();
    return has_workers(pool) || text_of(pool, "pending") != "0";
  };
  for (const bool wanted : {true, false})
    for (const json::value& item : all) {
      if (!item.is_object() || busy(item) != wanted) continue;
      if (snapshot.pools.size() < most_pools)
        snapshot.pools.push_back(item);
      else
        ++snapshot.others;
    }
}

// Fills the snapshot; the events are those behind `last`, which moves on.
Result<Snapshot> read_snapshot(HostClient& host, std::int64_t& last) {
  Snapshot snapshot;
  auto status = host.get(api_path + "status");
  if (!status) return status.error();
  if (status->is_object()) snapshot.status = status->get_object();
  auto pools = host.get(api_path + "pools?limit=1000");
  if (!pools) return pools.error();
  if (pools->is_object()) choose_pools(list_of(pools->get_object(), "pools"), snapshot);
  std::size_t asked = 0;
  for (const json::value& pool : snapshot.pools) {
    if (!has_workers(pool.as_object()) || ++asked > most_with_workers) continue;
    auto workers =
        host.get(api_path + "pools/" + path_segment(text_of(pool.as_object(), "workerPoolId")) +
                 "/workers?limit=" + std::to_string(most_workers));
    if (!workers) {
      if (workers.error().error_class == ErrorClass::not_found) continue;  // it has just gone
      return workers.error();
    }
    if (!workers->is_object()) continue;
    for (const json::value& worker : list_of(workers->get_object(), "workers"))
      snapshot.workers.push_back(worker);
  }
  auto events = host.get(
      api_path + "events?limit=" + std::to_string(most_events) +
      (last < 0 ? "&last=" + std::to_string(events_on_screen) : "&after=" + std::to_string(last)));
  if (!events) return events.error();
  if (events->is_object()) snapshot.events = list_of(events->get_object(), "events");
  for (const json::value& event : snapshot.events)
    if (event.is_object() && event.get_object().contains("number") &&
        event.get_object().at("number").is_int64())
      last = std::max(last, event.get_object().at("number").get_int64());
  return snapshot;
}

// What is wider than the screen would wrap into lines that are not counted.
std::string cut(std::string_view line, std::size_t columns) {
  std::string out;
  std::size_t width = 0;
  bool escape = false;
  for (const char c : line) {
    escape = escape || c == '\x1b';
    const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (!escape && begins && width++ >= columns)
      return out + (out.find('\x1b') != std::string::npos ? "\x1b[0m" : "");
    out += c;
    if (escape && c == 'm') escape = false;
  }
  return out;
}

// Words that do not fit go on in the next line.
std::string wrapped(std::string_view text, std::size_t columns) {
  std::string out;
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const std::size_t wide = display_width(word);
    if (width > 0 && width + 1 + wide > columns) {
      out += "\n  ";
      width = 2;
    } else if (width > 0) {
      out += ' ';
      ++width;
    }
    out += word;
    width += wide;
    at = end + 1;
  }
  return out + "\n";
}

// What changes, as lines.
class WatchedLines {
 public:
  WatchedLines(bool as_json, const View& view) : as_json_(as_json), view_(view) {}

  void add(const Snapshot& snapshot) {
    if (as_json_) return add_json(snapshot);
    if (first_) {
      print(show_pools({{"pools", snapshot.pools}}, view_));
      if (!snapshot.workers.empty()) print(show_workers({{"workers", snapshot.workers}}, view_));
    } else {
      for (const json::value& event : snapshot.events)
        if (event.is_object()) print(event_line(event.get_object(), view_));
    }
    for (const json::value& item : snapshot.pools) {
      const std::string line = verdict_line(item.as_object(), view_);
      std::string& before = verdicts_[text_of(item.as_object(), "workerPoolId")];
      if (!first_ && before != line) print(line + "\n");
      before = line;
    }
    first_ = false;
    std::fflush(stdout);
  }

 private:
  void add_json(const Snapshot& snapshot) {
    json::object document{
        {"pools", snapshot.pools}, {"workers", snapshot.workers}, {"events", snapshot.events}};
    if (document == last_) return;
    print_json_line(document);
    last_ = std::move(document);
    std::fflush(stdout);
  }

  bool as_json_;
  View view_;
  bool first_ = true;
  std::map<std::string, std::string> verdicts_;
  json::object last_;
};

}  // namespace

std::string verdict_line(const json::object& pool, const View& view) {
  const json::object capacity = table_of(pool, "capacity");
  const json::object verdict = table_of(pool, "verdict");
  return view(Look::bold, text_of(pool, "workerPoolId")) + ": " + text_of(verdict, "kind") + ", " +
         text_of(pool, "pending") + " pending, " + text_of(capacity, "requested") + " requested, " +
         text_of(capacity, "running") + " running, " + text_of(capacity, "stopping") +
         " stopping: " + text_of(verdict, "text");
}

std::string screen_of(const Snapshot& snapshot, std::size_t rows, std::size_t columns,
                      const View& view) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  };
  add("musterd is " + readiness_of(snapshot.status) + " at " + text_of(snapshot.status, "address") +
      view(Look::dim, "   Ctrl-C ends this view"));
  const json::object workers = table_of(table_of(snapshot.status, "fleet"), "workerConfigurations");
  for (const json::value& problem : list_of(workers, "problems"))
    if (problem.is_object()) add(view(Look::red, text_of(problem.get_object(), "text")));
  lines.emplace_back();
  // Why something waits is worth lines of its own.
  json::array pools = snapshot.pools;
  std::string waits;
  for (json::value& item : pools) {
    json::object verdict = table_of(item.as_object(), "verdict");
    const std::string kind = text_of(verdict, "kind");
    if (kind == "placed") continue;
    waits += wrapped(
        text_of(item.as_object(), "workerPoolId") + " is " + kind + ": " + text_of(verdict, "text"),
        columns);
    verdict["text"] = "";
    item.as_object()["verdict"] = std::move(verdict);
  }
  add(show_pools({{"pools", std::move(pools)}}, view));
  add(waits);
  if (snapshot.others > 0) add("and " + count_of(snapshot.others, "pool") + " more");
  lines.emplace_back();
  if (!snapshot.workers.empty()) add(show_workers({{"workers", snapshot.workers}}, view));
  // The newest events stay below, whatever there is above.
  const std::size_t shown = std::min(snapshot.events.size(), events_on_screen);
  const std::size_t room = rows > shown + 2 ? rows - shown - 2 : 1;
  if (lines.size() > room) lines.resize(room);
  lines.emplace_back();
  for (std::size_t i = snapshot.events.size() - shown; i < snapshot.events.size(); ++i)
    if (snapshot.events[i].is_object()) add(event_line(snapshot.events[i].get_object(), view));
  std::string out;
  for (const std::string& line : lines) out += cut(line, columns) + "\n";
  return out;
}

void draw(const std::string& screen) {
  const std::size_t rows = terminal_rows(), columns = terminal_columns();
  // ANSI: to the corner, each line to its end, then whatever is left of the last drawing.
  std::string out = "\x1b[H";
  std::size_t drawn = 0;
  for (std::size_t at = 0; at < screen.size() && drawn + 1 < rows; ++drawn) {
    const std::size_t end = std::min(screen.find('\n', at), screen.size());
    out += cut(std::string_view(screen).substr(at, end - at), columns) + "\x1b[K\n";
    at = end + 1;
  }
  print(out + "\x1b[J");
  std::fflush(stdout);
}

void watch(bool drawn, const std::function<Result<void>()>& step) {
  const FileDescriptor stop = stop_signals();
  std::string trouble;
  bool answered = false;
  if (drawn) print("\x1b[2J");
  do {
    const auto looked = step();
    if (looked) {
      answered = true;
      trouble.clear();
      continue;
    }
    if (!answered || looked.error().error_class != ErrorClass::transient) fail(looked.error());
    if (trouble != looked.error().message)
      std::fprintf(stderr, "muster: %s; trying again\n", harmless(looked.error().message).c_str());
    trouble = looked.error().message;
  } while (pause_unless_stopped(pause, stop.get()));
  if (drawn) print("\n");
}

void watch_status(const FleetOptions& options) {
  const bool drawn = ::isatty(STDOUT_FILENO) == 1 && !options.as_json;
  const View view = View::of_stdout();
  WatchedLines lines(options.as_json, view);
  json::array recent;
  std::int64_t last = -1;
  HostClient host = connect(options.host);
  watch(drawn, [&]() -> Result<void> {
    auto snapshot = read_snapshot(host, last);
    if (!snapshot) return snapshot.error();
    if (!drawn) {
      lines.add(*snapshot);
      return {};
    }
    for (const json::value& event : snapshot->events) recent.push_back(event);
    while (recent.size() > events_on_screen) recent.erase(recent.begin());
    snapshot->events = recent;
    draw(screen_of(*snapshot, terminal_rows(), terminal_columns(), view));
    return {};
  });
}

}  // namespace muster::cli

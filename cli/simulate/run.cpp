#include "cli/simulate/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <unistd.h>

#include <muster/codec.hpp>
#include <muster/plural.hpp>

#include "cli/exit_code.hpp"
#include "cli/rules/target.hpp"
#include "cli/simulate/figures.hpp"
#include "cli/simulate/html_page.hpp"
#include "cli/simulate/plot.hpp"
#include "cli/simulate/subject.hpp"
#include "cli/simulate/trace.hpp"
#include "host/simulation/world.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto longest_tail = 24h;     // after the last arrival, by default
constexpr auto steps_per_check = 512;  // of the invariants over the whole fleet

simulation::Faults faults_named(const std::string& name) {
  simulation::Faults faults;
  if (name == "none") return faults;
  const double much = name == "many" ? 1 : 0.1;
  faults.call_fails = 0.1 * much;
  faults.answer_lost = 0.05 * much;
  faults.effect_late = 0.02 * much;
  faults.call_slow = 0.2 * much;
  faults.listing_lies = 0.05 * much;
  faults.crashes_per_hour = 0.5 * much;
  faults.clock_jumps_per_hour = 0.02 * much;
  faults.notice_repeated = 0.2 * much;
  faults.never_registers = 0.05 * much;
  faults.dies_per_hour = 0.05 * much;
  faults.provider_outages_per_hour = 0.2 * much;
  return faults;
}

[[noreturn]] void stop(const std::vector<TraceMistake>& mistakes, const SimulateOptions& options) {
  const std::string name = options.demand == "-" ? "<stdin>" : tidy(options.demand);
  if (options.json) {
    json::array problems;
    for (const TraceMistake& mistake : mistakes)
      problems.push_back(json::object{
          {"severity", "error"}, {"file", name}, {"line", mistake.line}, {"reason", mistake.text}});
    print_json({{"problems", std::move(problems)}});
  } else {
    const auto style = Style::of_stderr();
    for (const TraceMistake& mistake : mistakes)
      std::fprintf(stderr, "%s\n", style(Look::plain, to_string(mistake, name)).c_str());
  }
  throw Exit{exit_failed};
}

Trace demand_of(const SimulateOptions& options) {
  std::ifstream file;
  if (options.demand != "-") {
    std::error_code code;
    if (!fs::exists(options.demand, code))
      fail(exit_usage, "There is no demand trace " + options.demand + ".", options.json);
    if (fs::is_directory(options.demand, code))
      fail(exit_usage, options.demand + " is a folder, not a demand trace.", options.json);
    file.open(options.demand, std::ios::binary);
    if (!file) fail(exit_failed, "Cannot read " + options.demand + ".", options.json);
  }
  std::ios::sync_with_stdio(false);  // reading from standard input is quick without it
  auto reading = read_trace(options.demand == "-" ? std::cin : file);
  if (!reading.mistakes.empty()) stop(reading.mistakes, options);
  return std::move(reading.trace);
}

// On stderr, if a person looks: how far the simulation is.
class Progress {
 public:
  Progress(std::string name, milliseconds end)
      : on_(::isatty(STDERR_FILENO) == 1), name_(std::move(name)), end_(end) {}
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void operator()(milliseconds now) {
    const auto wall = std::chrono::steady_clock::now();
    if (!on_ || wall < next_) return;
    next_ = wall + 200ms;
    shown_ = true;
    std::fprintf(stderr, "\r\x1b[Ksimulating %s: %s of at most %s", name_.c_str(),
                 in_words(now).c_str(), in_words(end_).c_str());
    std::fflush(stderr);
  }

 private:
  bool on_, shown_ = false;
  std::string name_;
  milliseconds end_;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + 500ms;
};

simulation::Report run(const SimulateOptions& options, const Subject& subject, const Trace& trace) {
  simulation::Scenario scenario;
  scenario.seed = options.seed;
  scenario.duration = options.hours > 0 ? milliseconds(std::llround(options.hours * 3600 * 1000))
                                        : trace.last + milliseconds(longest_tail);
  scenario.ends_when_done = options.hours <= 0;
  scenario.ends_by_draining = false;
  scenario.check_every = steps_per_check;
  scenario.settings = subject.settings;
  scenario.providers = subject.providers;
  scenario.configurations = {{0ms, subject.configuration}};
  scenario.arrivals = trace.arrivals;
  scenario.faults = faults_named(options.faults);
  Progress progress(subject.name, scenario.duration);
  simulation::World world(std::move(scenario), subject.strategies->by_name());
  return world.run([&](milliseconds now) { progress(now); });
}

std::string shell_quoted(const std::string& text) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '/' || c == ',' || c == '=';
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string replay_command(const SimulateOptions& options, const std::string& configuration) {
  std::string command = "muster simulate " + shell_quoted(configuration) + " --demand " +
                        shell_quoted(options.demand) + " --seed " + std::to_string(options.seed);
  if (options.hours > 0) {
    char hours[32];
    std::snprintf(hours, sizeof hours, " --hours %.6g", options.hours);
    command += hours;
  }
  if (!options.strategy.empty()) command += " --strategy " + shell_quoted(options.strategy);
  if (options.faults != "none") command += " --faults " + options.faults;
  if (!options.prices.empty()) command += " --prices " + shell_quoted(options.prices);
  return command;
}

struct Simulated {
  std::string path;
  simulation::Report report;
  Figures figures;
};

json::object document_of(const SimulateOptions& options, const std::vector<Simulated>& all) {
  json::object document{{"demand", options.demand},
                        {"seed", options.seed},
                        {"faults", options.faults},
                        {"strategy", options.strategy}};
  if (all.size() == 1) {
    for (auto& [key, value] : figures_json(all[0].figures, all[0].report)) document[key] = value;
    return document;
  }
  json::array configurations;
  for (const Simulated& each : all)
    configurations.push_back(figures_json(each.figures, each.report));
  document["configurations"] = std::move(configurations);
  document["difference"] = comparison_json(all[0].figures, all[1].figures);
  return document;
}

std::string heading(const SimulateOptions& options, const Trace& trace,
                    const std::vector<Simulated>& all) {
  std::string text = count_of(trace.tasks, "task") + " of " +
                     (options.demand == "-" ? "standard input" : tidy(options.demand));
  if (trace.begins) text += " from " + format_time(*trace.begins);
  for (const Simulated& each : all)
    text += (&each == &all.front() ? ", simulated for " : " and ") + in_words(each.figures.end);
  text += ", seed " + std::to_string(options.seed);
  if (options.faults != "none") text += ", " + options.faults + " faults";
  if (!options.strategy.empty()) text += ", strategy " + options.strategy;
  std::int64_t late = 0;
  for (const simulation::Arrival& arrival : trace.arrivals)
    if (arrival.at > all.front().figures.end) late += arrival.tasks;
  if (late > 0) text += "; " + count_of(late, "task") + " arrive later";
  return text + "\n\n";
}

std::vector<PlotPool> plot_pools(const Figures& figures) {
  std::vector<PlotPool> pools;
  for (const PoolFigures& pool : figures.pools) {
    if (pool.tasks == 0 && pool.launches == 0) continue;
    PlotPool& shown = pools.emplace_back();
    shown.name = pool.name;
    shown.cost = pool.cost;
    char cost[64];
    std::snprintf(cost, sizeof cost, "%.2f %s", pool.cost, figures.currency.c_str());
    shown.cost_text = cost;
    if (!pool.waits) continue;
    shown.wait_seconds = static_cast<double>(pool.waits->p90.count()) / 1000;
    shown.wait_text = "p50 " + in_words(pool.waits->p50) + ", p90 " + in_words(pool.waits->p90) +
                      ", max " + in_words(pool.waits->most);
  }
  return pools;
}

void write_plot(const SimulateOptions& options, const std::vector<Simulated>& all) {
  if (options.svg.empty()) return;
  std::vector<PlotPanel> panels;
  for (const Simulated& each : all)
    panels.push_back({each.figures.configuration, each.report.samples, plot_pools(each.figures)});
  if (const auto written = write_file_atomically(options.svg, plot_svg(panels)); !written)
    fail(exit_failed, "Cannot write the plot: " + written.error().message + ".", options.json);
}

void write_page(const SimulateOptions& options, const std::vector<Simulated>& all) {
  if (options.html.empty()) return;
  const auto written = write_file_atomically(options.html, html_page(document_of(options, all)));
  if (!written)
    fail(exit_failed, "Cannot write the page: " + written.error().message + ".", options.json);
}

void report_violations(const SimulateOptions& options, const std::vector<Simulated>& all) {
  bool any = false;
  for (const Simulated& each : all) {
    if (each.figures.violations.empty()) continue;
    any = true;
    std::fprintf(stderr, "muster: an invariant was violated, with %s; this is a bug:\n",
                 each.path.c_str());
    for (const std::string& violation : each.figures.violations)
      std::fprintf(stderr, "  %s\n", violation.c_str());
    std::fprintf(stderr, "replay it with:\n  %s\n", replay_command(options, each.path).c_str());
  }
  if (any) throw Exit{exit_failed};
}

}  // namespace

void simulate(const SimulateOptions& options) {
  std::vector<std::string> paths{options.configuration};
  if (!options.compare.empty()) paths.push_back(options.compare);
  // Reports all errors before anything takes time.
  std::error_code code;
  for (const std::string& file : {options.svg, options.html})
    if (const fs::path folder = fs::path(file).parent_path();
        !folder.empty() && !fs::is_directory(folder, code))
      fail(exit_usage, "There is no folder " + folder.string() + " for the plot.", options.json);
  std::vector<Subject> subjects;
  for (const std::string& path : paths)
    subjects.push_back(load_subject(
        {path, options.strategy, options.seed, options.json, options.prices, options.host}));
  if (subjects.front().currency != subjects.back().currency)
    fail(exit_failed,
         "The prices of " + paths.front() + " are in " + subjects.front().currency +
             " and those of " + paths.back() + " in " + subjects.back().currency +
             ", so their costs cannot be compared; give both in one currency.",
         options.json);
  const Trace trace = demand_of(options);
  for (const Subject& subject : subjects) {
    std::vector<WorkerPoolId> known;
    for (const auto& [id, pool] : subject.configuration->pools) known.push_back(id);
    auto mistakes = unknown_pools(trace, known);
    for (TraceMistake& mistake : mistakes) mistake.text += " (" + subject.name + ")";
    if (!mistakes.empty()) stop(mistakes, options);
  }
  std::vector<Simulated> all;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    std::fputs(subjects[i].warnings.c_str(), stderr);
    auto report = run(options, subjects[i], trace);
    auto figures = figures_of(subjects[i].name, report);
    figures.currency = subjects[i].currency;
    figures.prices = subjects[i].prices;
    all.push_back({paths[i], std::move(report), std::move(figures)});
  }
  write_plot(options, all);
  write_page(options, all);
  if (options.json) {
    print_json(document_of(options, all));
  } else {
    const auto style = Style::of_stdout();
    print(heading(options, trace, all));
    print(all.size() == 1 ? figures_text(all[0].figures, style)
                          : comparison_text(all[0].figures, all[1].figures, style));
  }
  report_violations(options, all);
}

}  // namespace muster::cli

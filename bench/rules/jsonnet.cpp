#include "jsonnet.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>

#include "tests/support/temporary_folder.hpp"

namespace muster::rules::bench {
namespace {

// Every table of a rule's values merges (`+:`), which is jsonnet's own and fastest way to layer.
std::string object_text(const json::object& object) {
  std::string text = "{";
  for (const auto& [key, value] : object) {
    text += json::write(json::string(key));
    text += value.is_object() ? "+: " + object_text(value.get_object()) : ": " + json::write(value);
    text += ", ";
  }
  return text + "}";
}

std::string condition_text(const json::object& conditions) {
  std::string text;
  for (const auto& [name, value] : conditions) {
    std::string pattern(value.as_string());
    text += text.empty() ? "" : " && ";
    if (pattern.ends_with('*')) {
      pattern.pop_back();
      text +=
          "std.startsWith(f." + std::string(name) + ", " + json::write(json::string(pattern)) + ")";
    } else {
      text += "f." + std::string(name) + " == " + json::write(json::string(pattern));
    }
  }
  return text.empty() ? "true" : text;
}

std::string program(const Workload& workload, std::size_t count) {
  std::string text = "local evaluate(f) = {}";
  for (const json::value& rule : workload.rules)
    text += "\n  + (if " + condition_text(rule.at("conditions").as_object()) + " then " +
            object_text(rule.at("values").as_object()) + " else {})";
  text += ";\n[evaluate(f) for f in [\n";
  for (std::size_t i = 0; i < count; ++i) {
    text += "{";
    for (const auto& [name, value] : workload.facts[i * 7919 % workload.facts.size()])
      text += name + ": \"" + value + "\", ";
    text += "},\n";
  }
  return text + "]]\n";
}

// Processor time of finished children.
double children_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double timed_run(const std::string& command) {
  const double begin = children_seconds();
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  return children_seconds() - begin;
}

}  // namespace

std::optional<JsonnetRun> run_jsonnet(const Workload& workload, std::size_t count) {
  if (std::system("jsonnet --version >/dev/null 2>&1") != 0) return std::nullopt;
  const muster::testing::TemporaryFolder folder;
  std::ofstream(folder / "none.jsonnet") << program(workload, 0);
  std::ofstream(folder / "some.jsonnet") << program(workload, count);
  const std::string command = "jsonnet -o " + (folder / "out.json").string() + " ";
  double empty = 1e9, full = 1e9;
  for (int i = 0; i < 3; ++i) {
    empty = std::min(empty, timed_run(command + (folder / "none.jsonnet").string()));
    full = std::min(full, timed_run(command + (folder / "some.jsonnet").string()));
  }
  std::ostringstream out;
  out << std::ifstream(folder / "out.json").rdbuf();
  JsonnetRun run;
  run.seconds_per_evaluation = (full - empty) / static_cast<double>(count);
  const json::value documents = json::parse(out.str()).value();
  run.documents.assign(documents.as_array().begin(), documents.as_array().end());
  return run;
}

}  // namespace muster::rules::bench

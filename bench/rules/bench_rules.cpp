// Prints what evaluating and checking worker configurations costs on one core. Each figure is the
// best of several runs: what the machine can do, not what its neighbours do.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <malloc.h>
#include <unordered_set>

#include <muster/rules/compiled.hpp>
#include <muster/rules/configuration_set.hpp>
#include <muster/rules/content_hash.hpp>
#include <muster/rules/evaluate.hpp>
#include <muster/rules/evaluator.hpp>

#include "jsonnet.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workload.hpp"

namespace muster::rules::bench {
namespace {

// Of all threads' processor time, so that neighbours on the machine count as little as possible.
double seconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double begin = now();
  work();
  return now() - begin;
}

// `prepare` is not timed.
double best(int runs, const std::function<void()>& prepare, const std::function<void()>& work) {
  double least = 1e9;
  for (int i = 0; i < runs; ++i) prepare(), least = std::min(least, seconds(work));
  return least;
}

std::shared_ptr<const Document> parsed(const std::string& toml) {
  Limits limits;
  limits.max_rules = 100'000;
  limits.max_file_bytes = 100'000'000;
  const Parsed result = parse_toml(toml, "build.toml", limits);
  if (!result.document) throw std::runtime_error(to_string(result.problems.front()));
  return result.document;
}

void print(const char* what, double value, const char* unit) {
  std::printf("%-78s %12.2f %s\n", what, value, unit);
}

void evaluate_all(Evaluator& evaluator, const Workload& workload) {
  for (const Facts& facts : workload.facts)
    if (!evaluator.evaluate("build", facts)) throw std::runtime_error("no document");
}

void bench_evaluation(const char* name, const Workload& workload) {
  std::printf("\n%s: %zu rules, %zu fact sets\n", name, workload.rules.size(),
              workload.facts.size());
  const auto document = parsed(workload.toml);
  const auto count = static_cast<double>(workload.facts.size());
  Evaluator evaluator;
  const auto renew = [&] { evaluator = Evaluator(), evaluator.update(document); };
  print("evaluations, nothing known before",
        count / best(7, renew, [&] { evaluate_all(evaluator, workload); }) / 1e3, "thousand/s");
  print("  different documents among them", static_cast<double>(evaluator.statistics().results),
        "");
  print("evaluations, all known",
        count /
            best(
                7, [] {}, [&] { evaluate_all(evaluator, workload); }) /
            1e3,
        "thousand/s");
  print("plain evaluations with provenance, nothing remembered",
        count /
            best(
                2, [] {},
                [&] {
                  for (const Facts& facts : workload.facts) evaluate(*document, facts);
                }) /
            1e3,
        "thousand/s");
}

// Everything that happens between the edited text and the new documents.
void bench_edit(const char* what, const std::function<Workload(int)>& make) {
  Workload workload = make(0);
  Evaluator evaluator;
  evaluator.update(parsed(workload.toml));
  std::vector<std::shared_ptr<const Evaluated>> before, after;
  for (const Facts& facts : workload.facts) before.push_back(evaluator.evaluate("build", facts));
  after.resize(before.size());
  std::size_t changed = 0;
  int edition = 0;
  const double least = best(
      9,
      [&] {
        workload = make(++edition);
        if (after[0]) before = after;
      },
      [&] {
        changed = 0;
        evaluator.update(parsed(workload.toml));
        for (std::size_t i = 0; i < before.size(); ++i) {
          after[i] = evaluator.evaluate("build", workload.facts[i]);
          changed += after[i] != before[i];
        }
      });
  print(what, least * 1e3, "ms");
  print("  launch documents that changed", static_cast<double>(changed), "");
}

void bench_edits() {
  std::printf("\nan edit: parse the text, update, evaluate 10 000 launch documents again\n");
  bench_edit("edit of one image rule of a usual fleet",
             [](int edition) { return fleet(50, edition, 4); });
  bench_edit("edit of the first rule of a usual fleet, which all documents hold",
             [](int edition) { return fleet(50, edition, 0); });
  bench_edit("edit of a zone rule, no two fact sets alike",
             [](int edition) { return all_different(50, edition, 2); });
  bench_edit("edit of the first rule, no two fact sets alike",
             [](int edition) { return all_different(50, edition, 0); });
}

void bench_jsonnet() {
  const Workload workload = fleet(50);
  const auto run = run_jsonnet(workload, 300);
  if (!run) return void(std::printf("\njsonnet is not installed: no comparison\n"));
  std::printf("\nagainst jsonnet, the same 50 rules\n");
  const auto document = parsed(workload.toml);
  for (std::size_t i = 0; i < run->documents.size(); ++i)
    if (json::canonical(run->documents[i]) !=
        json::canonical(
            evaluate(*document, workload.facts[i * 7919 % workload.facts.size()]).document))
      throw std::runtime_error("jsonnet's documents differ from ours");
  Evaluator evaluator;
  const auto renew = [&] { evaluator = Evaluator(), evaluator.update(document); };
  const auto count = static_cast<double>(workload.facts.size());
  const double cold = best(7, renew, [&] { evaluate_all(evaluator, workload); }) / count;
  const double plain =
      best(
          2, [] {},
          [&] {
            for (const Facts& facts : workload.facts)
              evaluate_rules(*document, members(CompiledRules(document).match(facts)));
          }) /
      count;
  print("jsonnet, time for one evaluation", run->seconds_per_evaluation * 1e6, "us");
  print("times faster, nothing known before", run->seconds_per_evaluation / cold, "x");
  print("times faster, indexing and evaluating anew for each fact set",
        run->seconds_per_evaluation / plain, "x");
}

void bench_index() {
  std::printf("\nmatching as rules grow that cannot match (the same fact sets)\n");
  for (const std::size_t count : {50u, 500u, 5'000u}) {
    Workload workload = fleet(50);
    for (std::size_t i = 50; i < count; ++i)
      workload.toml += "[[rules]]\nruleId = \"other-" + std::to_string(i) +
                       "\"\nconditions = { workerType = \"other-" + std::to_string(i) +
                       "\" }\nvalues.x = 1\n";
    Evaluator evaluator;
    evaluator.update(parsed(workload.toml));
    evaluate_all(evaluator, workload);
    const double least = best(
        7, [] {}, [&] { evaluate_all(evaluator, workload); });
    print((std::to_string(count) + " rules, one evaluation, known").c_str(),
          least / static_cast<double>(workload.facts.size()) * 1e9, "ns");
  }
}

void bench_memory() {
  const Workload workload = all_different(50);
  const auto document = parsed(workload.toml);
  Evaluator evaluator;
  evaluator.update(document);
  const auto before = mallinfo2().uordblks;
  evaluate_all(evaluator, workload);
  const auto bytes = static_cast<double>(mallinfo2().uordblks - before);
  const auto results = evaluator.statistics().results;
  std::printf("\nmemory\n");
  print("for each remembered document, all included", bytes / static_cast<double>(results),
        "bytes");
  print("  its JSON text",
        static_cast<double>(
            json::write(evaluator.evaluate("build", workload.facts[77])->document).size()),
        "bytes");
}

void bench_check() {
  std::printf("\nchecking a folder\n");
  const muster::testing::TemporaryFolder folder;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::string text = repository_file(i, 50);
    bytes += text.size();
    std::ofstream(folder / ("file" + std::to_string(i) + ".toml")) << text;
  }
  std::ofstream(folder / "facts.toml") << repository_facts();
  print("text", static_cast<double>(bytes) / 1e6, "MB");
  std::size_t problems = 0;
  std::optional<ConfigurationSet> set;
  double elapsed = 1e9;
  print("reading and parsing 1000 files of 50 rules, processor time of all cores",
        best(
            3, [] {}, [&] { set = load_folder(folder.path()).value(); }) *
            1e3,
        "ms");
  print("checking them: settings, reach, overwritten rules, secrets, likewise",
        best(
            3, [] {}, [&] { problems = check(*set).size(); }) *
            1e3,
        "ms");
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    check(load_folder(folder.path()).value());
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    elapsed = std::min(elapsed, time.count());
  }
  print("both, on the clock", elapsed * 1e3, "ms");
  print("  problems found", static_cast<double>(problems), "");
}

void bench_hash() {
  const Workload workload = fleet(50);
  const auto document = evaluate(*parsed(workload.toml), workload.facts[0]).document;
  const json::object placement = {{"region", "region-0"}, {"availabilityZone", "region-0-0"}};
  std::string id;
  std::printf("\nnames of launch configurations\n");
  print("one launch configuration id",
        best(
            5, [] {},
            [&] {
              for (int i = 0; i < 1000; ++i)
                id = launch_config_id("worker-manager/t", "ec2", placement, document);
            }) *
            1e3,
        "us");
}

}  // namespace
}  // namespace muster::rules::bench

// Without arguments all; else those named: evaluation edit jsonnet index memory hash check.
int main(int count, char** arguments) {
  using namespace muster::rules::bench;
  const auto wanted = [&](std::string_view name) {
    return count < 2 || std::find(arguments + 1, arguments + count, name) != arguments + count;
  };
  if (wanted("evaluation")) {
    bench_evaluation("a usual fleet", fleet(50));
    bench_evaluation("no two fact sets alike", all_different(50));
  }
  if (wanted("edit")) bench_edits();
  if (wanted("jsonnet")) bench_jsonnet();
  if (wanted("index")) bench_index();
  if (wanted("memory")) bench_memory();
  if (wanted("hash")) bench_hash();
  if (wanted("check")) bench_check();
}

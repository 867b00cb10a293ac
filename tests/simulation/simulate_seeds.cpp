// Runs random scenarios: simulate_seeds [--seed N] [--count N] [--seconds N] [--verbose]. Every
// fourth runs twice, for the same seed must give the same bytes. Ends with 1 at the first seed that
// violates an invariant, and prints the command that replays it.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host/simulation/world.hpp"
#include "tests/simulation/random_scenario.hpp"
#include "tests/simulation/strategies.hpp"

using namespace muster::simulation;

namespace {

struct Arguments {
  std::uint64_t seed = 1, count = 1;
  double seconds = 1e9;
  bool verbose = false;
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&] { return i + 1 < argc ? std::strtod(argv[++i], nullptr) : 0; };
    if (!std::strcmp(argv[i], "--seed"))
      arguments.seed = static_cast<std::uint64_t>(number());
    else if (!std::strcmp(argv[i], "--count"))
      arguments.count = static_cast<std::uint64_t>(number());
    else if (!std::strcmp(argv[i], "--seconds"))
      arguments.seconds = number();
    else if (!std::strcmp(argv[i], "--verbose"))
      arguments.verbose = true;
    else {
      std::printf("usage: simulate_seeds [--seed N] [--count N] [--seconds N] [--verbose]\n");
      std::exit(2);
    }
  }
  return arguments;
}

void print(const Report& report) {
  std::printf("  %lld steps, %lld commits, %lld crashes, %lld calls, digest %s\n",
              static_cast<long long>(report.steps), static_cast<long long>(report.commits),
              static_cast<long long>(report.crashes), static_cast<long long>(report.calls),
              report.digest.c_str());
  for (const auto& [kind, count] : report.happenings)
    std::printf("  %-32s %lld\n", kind.c_str(), static_cast<long long>(count));
  for (const auto& [pool, of] : report.pools)
    std::printf("  %s: %lld of %lld tasks done, %.2f machine hours; %s\n", pool.str().c_str(),
                static_cast<long long>(of.done), static_cast<long long>(of.tasks), of.machine_hours,
                of.verdict.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  ShippedStrategies strategies;
  const auto start = std::chrono::steady_clock::now();
  std::uint64_t ran = 0;
  std::int64_t steps = 0, crashes = 0, done = 0;
  double hours = 0;
  for (std::uint64_t seed = arguments.seed; seed < arguments.seed + arguments.count; ++seed) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >
        arguments.seconds)
      break;
    const Report report = World(random_scenario(seed), strategies.by_name()).run();
    if (arguments.verbose) {
      std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
      print(report);
    }
    std::vector<std::string> wrong = report.violations;
    if (seed % 4 == 1 &&
        World(random_scenario(seed), strategies.by_name()).run().digest != report.digest)
      wrong.push_back("two runs of the same seed differ");
    if (!wrong.empty()) {
      std::printf("seed %llu violates what must hold:\n", static_cast<unsigned long long>(seed));
      for (const std::string& violation : wrong) std::printf("  %s\n", violation.c_str());
      std::printf("replay it with:\n  %s --seed %llu --verbose\n", argv[0],
                  static_cast<unsigned long long>(seed));
      return 1;
    }
    ++ran;
    steps += report.steps;
    hours += std::chrono::duration<double, std::ratio<3600>>(report.end).count();
    crashes += report.crashes;
    for (const auto& [pool, of] : report.pools) done += of.done;
  }
  std::printf(
      "%llu seeds from %llu: %.0f simulated hours, %lld steps, %lld crashes, %lld tasks done, "
      "nothing violated\n",
      static_cast<unsigned long long>(ran), static_cast<unsigned long long>(arguments.seed), hours,
      static_cast<long long>(steps), static_cast<long long>(crashes), static_cast<long long>(done));
  return ran > 0 ? 0 : 1;
}

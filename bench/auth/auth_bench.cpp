// What it costs to know who asks: the host's share of every request of every worker.
#include <benchmark/benchmark.h>

#include "host/auth/authority.hpp"
#include "lib/base/clock.hpp"
#include "lib/hawk/hawk.hpp"

namespace {

using namespace muster;
using namespace std::chrono_literals;

const SystemClock machine_clock;

auth::Authority& authority() {
  static auth::Authority shared(machine_clock);
  static const bool filled = [] {
    auth::Client me{"me", auth::ClientKind::hawk, {}, {"worker-manager:*"}};
    me.keys.push_back({Secret("my-key-which-is-long-enough")});
    shared.put(me);
    auth::Client token{"ci", auth::ClientKind::token, {}, {"muster:get"}};
    const Sha256 digest = sha256("token");
    token.keys.push_back(
        {Secret(std::string(reinterpret_cast<const char*>(digest.data()), digest.size()))});
    shared.put(token);
    return true;
  }();
  (void)filled;
  return shared;
}

http::Request request(const std::string& authorization) {
  http::Request made;
  made.method = "GET";
  made.path =
      "/api/worker-manager/v1/worker-pool/pp%2Fww/group/i-0123456789abcdef0/should-terminate";
  made.peer = "192.0.2.7:4711";
  made.headers = {{"Host", "fleet.example:8600"},
                  {"User-Agent", "taskcluster-client-go"},
                  {"Authorization", authorization}};
  return made;
}

http::Request signed_by(const hawk::Credentials& credentials) {
  http::Request made = request("");
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(machine_clock.now()).time_since_epoch().count();
  made.headers.back().value = hawk::authorization(
      credentials, {"GET", made.path, "fleet.example", 8600}, seconds, "nonce1");
  return made;
}

http::Request of_a_worker() {
  const std::string pool = "pp/ww", worker = "us-west-2/i-0123456789abcdef0";
  std::vector<std::string> scopes;
  for (const char* scope :
       {"assume:worker-type:", "assume:worker-pool:", "assume:worker-id:", "queue:worker-id:",
        "secrets:get:worker-type:", "secrets:get:worker-pool:", "queue:claim-work:",
        "worker-manager:remove-worker:", "worker-manager:reregister-worker:",
        "worker-manager:should-worker-terminate:"})
    scopes.push_back(scope + pool + "/" + worker);
  const auto issued = authority().issue("worker/aws/" + pool + "/" + worker, scopes,
                                        machine_clock.now() - 15min, machine_clock.now() + 96h);
  return signed_by({issued.client_id, Secret(issued.access_token), issued.certificate});
}

void run(benchmark::State& state, const http::Request& asked) {
  for (auto _ : state) {
    const auto caller = authority().authenticate(asked);
    if (!caller) {
      state.SkipWithError(caller.error().message.c_str());
      break;
    }
    benchmark::DoNotOptimize(caller);
  }
}

void worker(benchmark::State& state) {
  static const http::Request asked = of_a_worker();
  run(state, asked);
}
BENCHMARK(worker)->ThreadRange(1, 2)->UseRealTime();

void permanent(benchmark::State& state) {
  static const http::Request asked = signed_by({"me", Secret("my-key-which-is-long-enough")});
  run(state, asked);
}
BENCHMARK(permanent);

void bearer(benchmark::State& state) {
  static const http::Request asked = request("Bearer token");
  run(state, asked);
}
BENCHMARK(bearer);

// A certificate that nobody has seen: JSON, two more HMACs, and the scopes.
void new_worker(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    const http::Request asked = of_a_worker();
    state.ResumeTiming();
    if (!authority().authenticate(asked)) state.SkipWithError("refused");
  }
}
BENCHMARK(new_worker);

void issue(benchmark::State& state) {
  const auto now = machine_clock.now();
  for (auto _ : state)
    benchmark::DoNotOptimize(authority().issue("worker/w", {"a", "b", "c"}, now, now + 96h));
}
BENCHMARK(issue);

}  // namespace

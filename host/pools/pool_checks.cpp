#include "host/pools/pool_checks.hpp"

#include <algorithm>

#include <muster/json_schema.hpp>

#include "host/pools/lifecycle.hpp"
#include "host/pools/queue_section.hpp"

namespace muster::pools {
namespace {

void append(Findings& to, Findings more) {
  std::ranges::move(more, std::back_inserter(to));
}

std::vector<queue::Strategy> read_placement_strategies(const rules::PoolSettings& settings,
                                                       Findings& findings) {
  constexpr auto names = enum_names(queue::Strategy{});
  const std::vector<std::string> known(names.begin(), names.end());
  std::vector<queue::Strategy> chain;
  for (const std::string& name : settings.placement_strategies) {
    const auto strategy = queue::strategy_from(name);
    if (strategy) {
      chain.push_back(*strategy);
      continue;
    }
    const std::string nearest = rules::nearest_name(name, known);
    findings.push_back({{"placementStrategies"},
                        rules::in_quotes(name) + " is not a placement strategy",
                        nearest.empty() ? "known are random, fewest-active, locality, spread, pack"
                                        : "did you mean " + nearest + "?",
                        "unknownStrategy"});
  }
  return chain;
}

// "#/properties/a~1b" → payloadSchema, properties, a/b.
rules::Path path_in_payload_schema(std::string_view pointer) {
  rules::Path path{"payloadSchema"};
  while (!pointer.empty()) {
    const std::size_t slash = pointer.find('/');
    if (slash == std::string_view::npos) break;
    pointer.remove_prefix(slash + 1);
    std::string key(pointer.substr(0, pointer.find('/')));
    for (const auto& [escaped, plain] : {std::pair("~1", "/"), std::pair("~0", "~")})
      for (std::size_t at = 0; (at = key.find(escaped, at)) != std::string::npos; ++at)
        key.replace(at, 2, plain);
    path.push_back(std::move(key));
  }
  return path;
}

void check_payload_schema(const json::object& schema, Findings& findings) {
  if (schema.empty()) return;
  if (const auto compiled = json::Schema::compile(schema); !compiled)
    findings.push_back({path_in_payload_schema(compiled.error().code),
                        "is no valid JSON Schema: " + compiled.error().message,
                        "correct it; `muster pool validate-payload` tries a payload"});
}

// Without a host, a name may be that of a strategy of its own: that is a warning, as long as any
// strategy is known.
void check_strategy(const rules::PoolSettings& settings, const ProviderContext& context,
                    Findings& findings) {
  const auto& known = context.strategies;
  if (settings.strategy.empty() ||
      std::find(known.begin(), known.end(), settings.strategy) != known.end())
    return;
  if (!context.knows_all_strategies && known.empty()) return;
  const std::string nearest = rules::nearest_name(settings.strategy, known);
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  const char* where_others_are =
      context.knows_all_strategies ? "" : "; name the folder of others with --plugins";
  const auto* written = settings.document.if_contains("strategy");
  findings.push_back(
      {written && written->is_object() ? rules::Path{"strategy", "name"} : rules::Path{"strategy"},
       rules::in_quotes(settings.strategy) + (context.knows_all_strategies
                                                  ? " is not a strategy of this host"
                                                  : " is not a strategy that comes with muster"),
       nearest.empty() ? "known strategies are " + all + where_others_are
                       : "did you mean " + nearest + "?",
       "unknownStrategy",
       context.knows_all_strategies ? rules::Severity::error : rules::Severity::warning});
}

}  // namespace

ReadPool read_pool(const rules::PoolSettings& settings, const ProviderContext& provider_context) {
  ReadPool read;
  fleet::PoolSpec& pool = read.pool;
  pool.owner = settings.owner;
  pool.description = settings.description;
  pool.email_on_error = settings.email_on_error;
  pool.settings = {settings.min_capacity, settings.max_capacity, settings.scaling_ratio,
                   settings.strategy_settings};
  for (const std::string& id : settings.providers) pool.providers.emplace_back(id);
  pool.teams = settings.teams;
  pool.public_worker_keys = settings.public_worker_keys;
  append(read.findings, check_worker_keys(settings.document));
  pool.placement_strategies = read_placement_strategies(settings, read.findings);
  pool.payload_schema = settings.payload_schema;
  check_payload_schema(pool.payload_schema, read.findings);
  pool.strategy = settings.strategy.empty() ? provider_context.default_strategy : settings.strategy;
  check_strategy(settings, provider_context, read.findings);
  auto lifecycle = read_lifecycle(settings.lifecycle);
  const json::value* most = settings.document.if_contains("maxCapacity");
  if (most && most->is_int64() && lifecycle.lifecycle.warm_capacity > most->get_int64())
    lifecycle.findings.push_back({{"lifecycle", "warmCapacity"},
                                  "is " + std::to_string(lifecycle.lifecycle.warm_capacity) +
                                      ", more than maxCapacity, which is " +
                                      std::to_string(most->get_int64())});
  append(read.findings, std::move(lifecycle.findings));
  pool.lifecycle = std::move(lifecycle.lifecycle);
  return read;
}

}  // namespace muster::pools

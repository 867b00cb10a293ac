// Payloads of tasks: the schema that a pool has for them, and what is wrong with one.
#include "host/api/handlers.hpp"
#include "host/api/payloads.hpp"

namespace muster::api {

Result<std::vector<json::Violation>> validate_payload(fleet::Service& fleet,
                                                      const WorkerPoolId& pool,
                                                      const json::object& payload) {
  std::shared_ptr<const fleet::PoolSpec> spec;
  fleet.read([&](const fleet::Fleet& state, fleet::Now) {
    if (const fleet::Pool* found = state.find_pool(pool)) spec = found->spec;
  });
  if (!spec) return Error::not_found("there is no worker pool " + pool.str());
  if (spec->payload_schema.empty()) return std::vector<json::Violation>();
  const auto schema = json::Schema::compile(spec->payload_schema);
  // Of a pool that was configured before its schema was checked.
  if (!schema)
    return Error::invalid("the payloadSchema of pool " + pool.str() +
                          " is no valid JSON Schema: " + schema.error().message);
  return schema->validate(payload);
}

std::optional<Failure> refuse_payload(fleet::Service& fleet, const WorkerPoolId& pool,
                                      const json::object& payload) {
  constexpr std::size_t most_told = 5;
  if (pool.str().empty())
    return input_error("a request with a `payload` needs `workerPoolId`, whose schema checks it");
  const auto violations = validate_payload(fleet, pool, payload);
  if (!violations) return to_failure(violations.error());
  if (violations->empty()) return std::nullopt;
  std::string text = "the payload does not fit the payloadSchema of pool " + pool.str() + ": ";
  for (std::size_t i = 0; i < std::min(violations->size(), most_told); ++i)
    text += (i ? "; " : "") + to_string((*violations)[i]);
  if (violations->size() > most_told)
    text += "; and " + std::to_string(violations->size() - most_told) + " more";
  return input_error(text);
}

namespace {

WorkerPoolId pool_of(const Call& call) {
  return WorkerPoolId(call.parameter("workerPoolId"));
}

Answer show_payload_schema(const Call& call, const fleet::Fleet& fleet, fleet::Now) {
  const fleet::Pool* pool = fleet.find_pool(pool_of(call));
  if (!pool || !pool->spec) return no_pool(call);
  return json_answer(json::object{{"payloadSchema", pool->spec->payload_schema}});
}

Answer check_payload(const Call& call) {
  const auto violations = validate_payload(*call.host().fleet, pool_of(call), call.body());
  if (!violations) return to_failure(violations.error());
  json::array listed;
  for (const json::Violation& each : *violations)
    listed.push_back(json::object{
        {"path", each.path}, {"message", each.message}, {"schemaPath", each.schema_path}});
  return json_answer(
      json::object{{"valid", violations->empty()}, {"violations", std::move(listed)}});
}

}  // namespace

std::vector<Endpoint> payload_endpoints() {
  return {
      {.name = "getPayloadSchema",
       .method = "GET",
       .path = base + "/pools/{workerPoolId}/payload-schema",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = show_payload_schema,
       .output = "PayloadSchema",
       .errors = {missing, unavailable},
       .category = "pools",
       .title = "The JSON Schema of the payloads of a pool's tasks; empty: each payload fits"},
      {.name = "validatePayload",
       .method = "POST",
       .path = base + "/pools/{workerPoolId}/validate-payload",
       .scopes = all_of({"muster:get:pool:<workerPoolId>"}),
       .handler = OnWorkerThreadWithFleet{check_payload},
       .input = "Payload",
       .audit = not_audited("it changes nothing"),
       .output = "PayloadCheck",
       .errors = {bad_input, missing, unavailable},
       .category = "pools",
       .title = "What is wrong with a payload for a pool's workers",
       .payload = endpoints::Payload::omitted},
  };
}

}  // namespace muster::api

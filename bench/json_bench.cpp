// Reading, writing, hashing material and checking of a document of the size of a launch
// configuration.
#include <string>

#include <benchmark/benchmark.h>

#include <muster/json.hpp>
#include <muster/json_schema.hpp>

namespace muster::json {
namespace {

std::string document_text() {
  std::string text = R"({"provider": "ec2", "region": "us-east-1", "capacity": 4, "weight": 0.85,
                         "instanceTypes": [)";
  for (int i = 0; i < 20; ++i)
    text += (i ? ", " : "") + std::string(R"({"name": "m5.)") + std::to_string(i) +
            R"(xlarge", "price": )" + std::to_string(0.017 * (i + 1)) + R"(, "spot": true})";
  return text + "]}";
}

value schema_document() {
  return parse(R"({
    "type": "object", "required": ["provider", "region", "instanceTypes"],
    "additionalProperties": false,
    "properties": {
      "provider": {"type": "string"},
      "region": {"type": "string", "pattern": "^[a-z]+-[a-z]+-[0-9]$"},
      "capacity": {"type": "integer", "minimum": 1},
      "weight": {"type": "number", "minimum": 0, "maximum": 1},
      "instanceTypes": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/instanceType"}}
    },
    "$defs": {"instanceType": {
      "type": "object", "required": ["name"], "additionalProperties": false,
      "properties": {"name": {"type": "string", "pattern": "^[a-z0-9]+\\.[a-z0-9]+$"},
                     "price": {"type": "number", "exclusiveMinimum": 0},
                     "spot": {"type": "boolean"}}}}})")
      .value();
}

void read(benchmark::State& state) {
  const std::string text = document_text();
  for (auto _ : state) benchmark::DoNotOptimize(parse(text));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read);

void write_compact(benchmark::State& state) {
  const value document = parse(document_text()).value();
  for (auto _ : state) benchmark::DoNotOptimize(write(document));
}
BENCHMARK(write_compact);

void write_canonical(benchmark::State& state) {
  const value document = parse(document_text()).value();
  for (auto _ : state) benchmark::DoNotOptimize(canonical(document));
}
BENCHMARK(write_canonical);

void compile_schema(benchmark::State& state) {
  const value document = schema_document();
  for (auto _ : state) benchmark::DoNotOptimize(Schema::compile(document));
}
BENCHMARK(compile_schema);

void validate_a_good_document(benchmark::State& state) {
  const auto schema = Schema::compile(schema_document());
  const value document = parse(document_text()).value();
  if (!schema->validate(document).empty()) state.SkipWithError("the document is not valid");
  for (auto _ : state) benchmark::DoNotOptimize(schema->validate(document));
}
BENCHMARK(validate_a_good_document);

}  // namespace
}  // namespace muster::json

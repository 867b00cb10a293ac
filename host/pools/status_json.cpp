#include <muster/codec.hpp>
#include <muster/rules/problem_json.hpp>

#include "host/pools/service.hpp"

namespace muster::pools {
namespace {

json::object with_text(const rules::Problem& problem) {
  json::object document = rules::to_json(problem);
  document["text"] = rules::to_string(problem);
  return document;
}

}  // namespace

json::object to_json(const Status& status) {
  json::array problems, waits;
  for (const rules::Problem& problem : status.problems) problems.push_back(with_text(problem));
  for (const Wait& wait : status.waits)
    waits.push_back(json::object{{"providerId", wait.provider_id.str()}, {"reason", wait.reason}});
  json::object document = {
      {"source", status.source},         {"files", status.files},
      {"pools", status.pools},           {"launchConfigs", status.launch_configs},
      {"problems", std::move(problems)}, {"waits", std::move(waits)},
      {"heldBack", status.held_back}};
  const auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) document[key] = value;
  };
  const auto time = [&](const char* key, const std::optional<Time>& value) {
    if (value) document[key] = format_time(*value);
  };
  text("revision", status.revision);
  time("loadedAt", status.loaded_at);
  text("refusedRevision", status.refused_revision);
  time("refusedAt", status.refused_at);
  text("sourceError", status.source_error);
  time("sourceFailedAt", status.source_failed_at);
  return document;
}

}  // namespace muster::pools

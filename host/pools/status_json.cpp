#include <muster/codec.hpp>
#include <muster/rules/problem_json.hpp>

#include "host/pools/service.hpp"

namespace muster::pools {
namespace {

json::array to_json(const rules::Problems& problems) {
  json::array all;
  for (const rules::Problem& problem : problems) {
    json::object document = rules::to_json(problem);
    document["text"] = rules::to_string(problem);
    all.push_back(std::move(document));
  }
  return all;
}

json::array to_json(const std::vector<Wait>& waits) {
  json::array all;
  for (const Wait& wait : waits)
    all.push_back(json::object{{"providerId", wait.provider_id.str()}, {"reason", wait.reason}});
  return all;
}

}  // namespace

json::array to_json(const std::vector<HeldFile>& files) {
  json::array all;
  for (const HeldFile& file : files)
    all.push_back(json::object{{"file", file.file},
                               {"reason", file.reason},
                               {"inForce", file.serves ? "lastGood" : "nothing"}});
  return all;
}

json::object to_json(const Outcome& outcome) {
  return {{"ok", outcome.configuration != nullptr},
          {"problems", to_json(outcome.problems)},
          {"waits", to_json(outcome.waits)}};
}

json::object to_json(const Status& status) {
  json::array problems = to_json(status.problems), waits = to_json(status.waits);
  json::object document = {{"source", status.source},
                           {"files", status.files},
                           {"pools", status.pools},
                           {"launchConfigs", status.launch_configs},
                           {"problems", std::move(problems)},
                           {"waits", std::move(waits)},
                           {"heldFiles", to_json(status.held_files)},
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

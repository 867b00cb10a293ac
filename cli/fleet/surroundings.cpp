// What surrounds the fleet: worker configurations, demand, webhooks, the message broker, and the
// API itself.
#include "cli/fleet/actions.hpp"
#include "cli/fleet/show.hpp"

namespace muster::cli {

void show_configurations(const FleetOptions& options) {
  const std::string query = query_of({{"refused", options.refused ? "true" : ""}});
  if (options.name.empty())
    return ask_and_show(options, "worker-configurations/files" + query, show_configuration_files);
  ask_and_show(options, "worker-configurations/files/" + path_segment(options.name) + query,
               show_configuration_text);
}

void show_configuration_changes(const FleetOptions& options) {
  ask_and_show(options, "worker-configurations/difference", show_configuration_difference);
}

void list_configuration_problems(const FleetOptions& options) {
  const json::value status = answer_of(connect(options.host).get(api_path + "status"));
  if (!status.is_object()) fail(Error::internal("the host's answer cannot be read"));
  const json::object& document = status.get_object();
  if (options.as_json)
    print_json(
        {{"configurationProblems", list_of(document, "configurationProblems")},
         {"workerConfigurations", table_of(table_of(document, "fleet"), "workerConfigurations")}});
  else
    put_out(status, false, options.view, show_configuration_problems);
  if (has_configuration_errors(document)) throw Exit{exit_failed};
}

void reload_configurations(const FleetOptions& options) {
  const json::value answer =
      answer_of(connect(options.host).post(api_path + "worker-configurations/reload"));
  say(options, answer,
      "the host reads the worker configurations again; see: muster config problems");
}

void accept_empty_configurations(const FleetOptions& options) {
  const json::value answer = answer_of(
      connect(options.host).post(api_path + "worker-configurations/accept-empty", json::object{}));
  say(options, answer,
      "accepted: what the source of the worker configurations holds now counts; pools that are no "
      "longer there end. See: muster status");
}

namespace {

std::string evaluation_query(const FleetOptions& options) {
  std::string query = query_of({{"workerPoolId", with_provisioner(options.pool)},
                                {"launchConfigId", options.launch_config},
                                {"key", options.name},
                                {"refused", options.refused ? "true" : ""}});
  for (const std::string& fact : options.facts) query += "&fact=" + path_segment(fact);
  return query;
}

std::string dead_letter_path(const FleetOptions& options) {
  return api_path + "webhooks/" + path_segment(options.name) + "/dead-letters/" +
         path_segment(options.row);
}

}  // namespace

void evaluate_configurations(const FleetOptions& options) {
  ask_and_show(options, "worker-configurations/evaluate" + evaluation_query(options), show_members);
}

void explain_configurations(const FleetOptions& options) {
  ask_and_show(options, "worker-configurations/explain" + evaluation_query(options), show_members);
}

void list_demand(const FleetOptions& options) {
  ask_and_show(options, "demand", show_demand);
}

void list_webhooks(const FleetOptions& options) {
  ask_and_show(options, "webhooks", show_webhooks);
}

void show_webhook(const FleetOptions& options) {
  ask_and_show(options, "webhooks/" + path_segment(options.name), show_members);
}

void list_dead_letters(const FleetOptions& options) {
  HostClient host = connect(options.host);
  put_out(all_pages(host, api_path + "webhooks/" + path_segment(options.name) + "/dead-letters",
                    "deadLetters", "after"),
          options.as_json, options.view, show_dead_letters);
}

void retry_dead_letter(const FleetOptions& options) {
  say(options, answer_of(connect(options.host).post(dead_letter_path(options) + "/retry")),
      "dead letter " + options.row + " is sent again");
}

void discard_dead_letter(const FleetOptions& options) {
  say(options, answer_of(connect(options.host).remove(dead_letter_path(options))),
      "dead letter " + options.row + " is erased");
}

void show_broker(const FleetOptions& options) {
  ask_and_show(options, "amqp", show_members);
}

void call_api(const FleetOptions& options) {
  const json::object body = options.file.empty() ? json::object() : document_in(options.file);
  // A path of muster's own API may be written from there on.
  const std::string path =
      options.path.starts_with("/api/") || options.path == "/healthz" || options.path == "/readyz"
          ? options.path
          : api_path.substr(0, api_path.size() - 1) + (options.path.starts_with('/') ? "" : "/") +
                options.path;
  HostClient host = connect(options.host);
  if (options.method == "GET") return print_json(answer_of(host.get(path)));
  if (options.method == "DELETE") return print_json(answer_of(host.remove(path)));
  print_json(answer_of(options.method == "PUT" ? host.put(path, body) : host.post(path, body)));
}

}  // namespace muster::cli

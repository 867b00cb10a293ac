// muster client create|list|show|roles|set|revoke|rotate|disable|enable: who may use the host.
#include <optional>

#include "cli/client/lockout.hpp"
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

constexpr const char* clients_path = "/api/muster/v1/clients";

struct ClientOptions {
  HostOptions host;
  ViewOptions view;
  bool as_json = false, replay_protection = false, now = false, yes = false, no_scopes = false;
  std::string client_id, expires, kind = "hawk";
  std::optional<std::string> description;
  std::vector<std::string> scopes;

  std::string path(const char* below = "") const {
    return std::string(clients_path) + "/" + path_segment(client_id) + below;
  }
};

json::object client_answer(Result<json::value> answer) {
  const json::value document = answer_of(std::move(answer));
  return document.is_object() ? document.get_object() : json::object();
}

std::vector<std::string> client_texts(const json::object& document, std::string_view key) {
  std::vector<std::string> all;
  const auto* found = document.if_contains(key);
  if (found && found->is_array())
    for (const json::value& item : found->get_array())
      if (item.is_string()) all.emplace_back(item.get_string());
  return all;
}

std::string client_state(const json::object& client) {
  return text_of(client, "disabled") == "true" ? "disabled" : "";
}

std::string show_clients(const json::object& document, const View& style) {
  Table rows;
  rows.add_heads({"CLIENT", "KIND", "FROM", "EXPIRES", "", "SCOPES"});
  for (const json::object& client : objects_of(document, "clients")) {
    const auto scopes = client_texts(client, "scopes");
    std::string shown = scopes.empty() ? "" : scopes.front();
    if (scopes.size() > 1) shown += " and " + std::to_string(scopes.size() - 1) + " more";
    rows.add({{text_of(client, "clientId"), Look::bold},
              {text_of(client, "kind")},
              {text_of(client, "origin")},
              {style.time(text_of(client, "expires"))},
              {client_state(client), Look::yellow},
              {shown}});
  }
  std::string out = rows.text(style);
  if (const std::string problem = text_of(document, "problem"); !problem.empty())
    out += style(Look::yellow, problem) + "\n";
  return out;
}

std::string show_roles(const json::object& document, const View& style) {
  Table rows;
  rows.add_heads({"ROLE", "SCOPES"});
  for (const json::object& role : objects_of(document, "roles")) {
    std::string name = text_of(role, "role");
    for (const std::string& scope : client_texts(role, "scopes")) {
      rows.add({{name, Look::bold}, {scope}});
      name.clear();
    }
  }
  if (objects_of(document, "roles").empty())
    return "No roles: the host's configuration has no auth.roles.\n";
  return rows.text(style);
}

std::string show_client(const json::object& client, const View& style) {
  Table rows;
  const auto line = [&](const char* name, const std::string& value) {
    if (!value.empty()) rows.add({{name, Look::dim}, {value}});
  };
  line("kind", text_of(client, "kind"));
  line("from", text_of(client, "origin"));
  line("state", client_state(client));
  line("description", text_of(client, "description"));
  line("created", style.time(text_of(client, "created")));
  line("changed", style.time(text_of(client, "lastModified")));
  line("expires", style.time(text_of(client, "expires")));
  line("old secret until", style.time(text_of(client, "oldSecretUntil")));
  line("replay protection", text_of(client, "replayProtection") == "true" ? "on" : "");
  for (const std::string& scope : client_texts(client, "scopes")) line("scope", scope);
  return style(Look::bold, text_of(client, "clientId")) + "\n" + rows.text(style, "  ");
}

// The secret is shown only once.
std::string show_secret(const json::object& client, const View& style) {
  std::string out = show_client(client, style) + "\n";
  if (const std::string token = text_of(client, "token"); !token.empty())
    return out + "The token, which is not shown again:\nexport MUSTER_TOKEN=" + token + "\n";
  return out + "The secret, which is not shown again:\nexport TASKCLUSTER_CLIENT_ID=" +
         text_of(client, "clientId") +
         "\nexport TASKCLUSTER_ACCESS_TOKEN=" + text_of(client, "accessToken") + "\n";
}

using ClientWork = std::function<json::object(const ClientOptions&)>;

CLI::App* add_client_verb(CLI::App& group, const char* name, const char* description,
                          bool about_one, const std::shared_ptr<ClientOptions>& options,
                          ClientWork work, Shown shown) {
  CLI::App* command = group.add_subcommand(name, description);
  add_host_options(*command, options->host);
  add_output_options(*command, options->as_json, options->view);
  if (about_one)
    command->add_option("clientId", options->client_id, "The client's name")->required();
  command->callback([options, work = std::move(work), shown] {
    put_out(work(*options), options->as_json, options->view, shown);
  });
  return command;
}

json::object create_client(const ClientOptions& options) {
  json::object body{{"kind", options.kind},
                    {"description", options.description.value_or("")},
                    {"replayProtection", options.replay_protection}};
  json::array scopes;
  for (const std::string& scope : options.scopes) scopes.emplace_back(scope);
  body["scopes"] = std::move(scopes);
  if (!options.expires.empty()) body["expires"] = options.expires;
  return client_answer(connect(options.host).put(options.path(), body));
}

void add_client_create(CLI::App& group) {
  auto options = std::make_shared<ClientOptions>();
  CLI::App* command = add_client_verb(group, "create", "Create a client; its secret is shown once",
                                      true, options, create_client, show_secret);
  command->add_option("--scope", options->scopes, "Scope that it gets; may be repeated")
      ->type_name("SCOPE")
      ->allow_extra_args(false);
  command
      ->add_option("--kind", options->kind,
                   "hawk: it signs its requests; token: a bearer token for people and scripts")
      ->check(CLI::IsMember({"hawk", "token"}))
      ->capture_default_str();
  command->add_option("--description", options->description, "What it is for");
  command
      ->add_option("--expires", options->expires, "When it expires, such as 2027-01-31T00:00:00Z")
      ->type_name("TIME");
  command->add_flag("--replay-protection", options->replay_protection, "Refuse repeated requests");
}

// What is not given stays.
json::object change_client(const ClientOptions& options) {
  json::object body;
  if (options.description) body["description"] = *options.description;
  if (options.expires == "never")
    body["expires"] = nullptr;
  else if (!options.expires.empty())
    body["expires"] = options.expires;
  if (!options.scopes.empty() || options.no_scopes)
    body["scopes"] = json::array(options.scopes.begin(), options.scopes.end());
  if (body.empty())
    fail(Error::invalid("say what to change: --scope, --no-scopes, --description or --expires"));
  HostClient host = connect(options.host);
  if (body.contains("scopes"))
    confirm_lockout(host, options.client_id, options.scopes, options.yes);
  return client_answer(host.post(options.path(), body));
}

void add_client_set(CLI::App& group) {
  auto options = std::make_shared<ClientOptions>();
  CLI::App* command =
      add_client_verb(group, "set", "Change a client's scopes, description or end; the rest stays",
                      true, options, change_client, show_client);
  auto* scopes = command->add_option("--scope", options->scopes,
                                     "A scope that it has from now on; may be repeated");
  scopes->type_name("SCOPE")->allow_extra_args(false);
  command->add_flag("--no-scopes", options->no_scopes, "It has no scopes from now on")
      ->excludes(scopes);
  command->add_option("--description", options->description, "What it is for");
  command->add_option("--expires", options->expires, "When it expires; `never`: it does not")
      ->type_name("TIME");
  command->add_flag("--yes", options->yes, "Do not ask, even if nobody could manage clients then");
}

void add_client_rotate(CLI::App& group) {
  auto options = std::make_shared<ClientOptions>();
  CLI::App* command = add_client_verb(
      group, "rotate", "Give a client a new secret; the old one stays valid for an hour", true,
      options,
      [](const ClientOptions& given) {
        return client_answer(connect(given.host).post(given.path("/rotate"), {{"now", given.now}}));
      },
      show_secret);
  command->add_flag("--now", options->now, "The old secret becomes invalid at once");
}

void add_client_disable(CLI::App& group) {
  auto options = std::make_shared<ClientOptions>();
  CLI::App* command = add_client_verb(
      group, "disable", "Refuse a client until it is enabled", true, options,
      [](const ClientOptions& given) {
        HostClient host = connect(given.host);
        confirm_lockout(host, given.client_id, {}, given.yes);
        return client_answer(host.post(given.path("/disable")));
      },
      show_client);
  command->add_flag("--yes", options->yes, "Do not ask, even if nobody could manage clients then");
}

void add_client_revoke(CLI::App& group, const char* name) {
  auto options = std::make_shared<ClientOptions>();
  CLI::App* command = add_client_verb(
      group, name, "Remove a client and all credentials that it issued", true, options,
      [](const ClientOptions& given) {
        HostClient host = connect(given.host);
        confirm_lockout(host, given.client_id, {}, given.yes);
        client_answer(host.remove(given.path()));
        return json::object{{"revoked", given.client_id}};
      },
      [](const json::object& document, const View&) {
        return "revoked " + text_of(document, "revoked") + "\n";
      });
  command->add_flag("--yes", options->yes, "Do not ask, even if nobody could manage clients then");
  if (std::string_view(name) != "revoke") mark_as_spelling_of(*command, "client revoke");
}

}  // namespace

void add_client_commands(CLI::App& app) {
  CLI::App& group =
      add_noun(app, "client", "Clients, who may use the host with which scopes: list, create, ...");
  group.require_subcommand(1);
  for (const auto& [parent, name] : {std::pair{&group, "list"}, std::pair{&app, "clients"}}) {
    CLI::App* command = add_client_verb(
        *parent, name, "List clients and tokens", false, std::make_shared<ClientOptions>(),
        [](const ClientOptions& given) {
          return client_answer(connect(given.host).get(clients_path));
        },
        show_clients);
    if (parent == &app) mark_as_spelling_of(*command, "client list");
  }
  add_client_verb(
      group, "show", "Show one client", true, std::make_shared<ClientOptions>(),
      [](const ClientOptions& given) {
        return client_answer(connect(given.host).get(given.path()));
      },
      show_client);
  add_client_verb(
      group, "roles", "List the roles of the host's configuration", false,
      std::make_shared<ClientOptions>(),
      [](const ClientOptions& given) {
        return client_answer(connect(given.host).get("/api/muster/v1/roles"));
      },
      show_roles);
  add_client_create(group);
  add_client_set(group);
  add_client_rotate(group);
  add_client_disable(group);
  add_client_verb(
      group, "enable", "Enable a disabled client", true, std::make_shared<ClientOptions>(),
      [](const ClientOptions& given) {
        return client_answer(connect(given.host).post(given.path("/enable")));
      },
      show_client);
  add_client_revoke(group, "revoke");
  add_client_revoke(group, "delete");
}

}  // namespace muster::cli

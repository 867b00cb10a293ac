// Clients: shown, made, changed; the caller itself; and what Taskcluster's auth service answers.
#include <algorithm>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "host/api/handlers.hpp"
#include "host/auth/client_store.hpp"
#include "host/auth/guard.hpp"
#include "lib/http/answer.hpp"

namespace muster::api {
namespace {

using auth::ClientKind;
using auth::ClientRow;
using auth::ClientStore;

constexpr std::chrono::hours usual_grace{1};

json::array texts_json(const std::vector<std::string>& texts) {
  json::array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

json::object to_json(const ClientRow& row, const auth::Authority& authority) {
  std::vector<std::string> scopes;
  for (const json::value& scope : row.scopes) scopes.emplace_back(scope.as_string());
  json::object document{{"clientId", row.client_id},
                        {"kind", name_of(row.kind)},
                        {"origin", row.client_id == auth::host_client_id ? "host" : "api"},
                        {"description", row.description},
                        {"scopes", row.scopes},
                        {"expandedScopes", texts_json(authority.expand(scopes).list())},
                        {"disabled", row.disabled},
                        {"replayProtection", row.replay_protection},
                        {"created", format_time(row.created)},
                        {"lastModified", format_time(row.last_modified)}};
  if (row.expires) document["expires"] = format_time(*row.expires);
  if (row.replaced_until) document["oldSecretUntil"] = format_time(*row.replaced_until);
  return document;
}

json::object to_json(const auth::Client& client, const auth::Authority& authority) {
  json::object document{{"clientId", client.client_id},
                        {"kind", name_of(client.kind)},
                        {"origin", "configuration"},
                        {"scopes", texts_json(client.scopes)},
                        {"expandedScopes", texts_json(authority.expand(client.scopes).list())},
                        {"disabled", client.disabled},
                        {"replayProtection", client.replay_protection}};
  if (client.expires) document["expires"] = format_time(*client.expires);
  return document;
}

json::object with_secret(const ClientStore::Made& made, const auth::Authority& authority) {
  json::object document = to_json(made.row, authority);
  document[made.row.kind == ClientKind::hawk ? "accessToken" : "token"] = made.secret.reveal();
  return document;
}

ClientStore& store_of(const Call& call) {
  return *services_of(call).clients;
}

ClientStore::Actor actor_of(const Call& call) {
  return {*call.caller(), endpoints::audit_event(call)};
}

Answer shown(const Call& call, const Result<ClientRow>& row) {
  return row ? json_answer(to_json(*row, *call.host().authority)) : to_failure(row.error());
}

Answer shown(const Call& call, const Result<ClientStore::Made>& made) {
  return made ? json_answer(with_secret(*made, *call.host().authority)) : to_failure(made.error());
}

// What may be said of a client; all of it is optional.
Result<ClientStore::Wanted> wanted_from(const json::object& body, ClientStore::Wanted wanted) {
  for (const auto& [key, value] : body) {
    if (key == "kind" && value.is_string() &&
        (value.as_string() == "hawk" || value.as_string() == "token")) {
      wanted.kind = value.as_string() == "hawk" ? ClientKind::hawk : ClientKind::token;
    } else if (key == "description" && value.is_string()) {
      wanted.description = value.as_string();
    } else if (key == "replayProtection" && value.is_bool()) {
      wanted.replay_protection = value.as_bool();
    } else if (key == "expires" && value.is_null()) {
      wanted.expires.reset();
    } else if (key == "expires" && value.is_string()) {
      wanted.expires = parse_time(std::string_view(value.as_string()));
      if (!wanted.expires)
        return Error::invalid("`expires` must be a time such as 2027-01-31T00:00:00Z");
    } else if (key == "scopes" && value.is_array()) {
      wanted.scopes.clear();
      for (const json::value& scope : value.as_array()) {
        if (!scope.is_string()) return Error::invalid("`scopes` must be a list of strings");
        wanted.scopes.emplace_back(scope.as_string());
      }
    } else {
      return Error::invalid(
          "`" + std::string(key) +
          "` is not known here or has a wrong type; a client has kind (\"hawk\" or "
          "\"token\"), description, scopes, expires and replayProtection");
    }
  }
  if (wanted.description.size() > 10'000)
    return Error::invalid("a description has 10000 characters at most");
  return wanted;
}

Answer list_clients(const Call& call) {
  const Services& services = services_of(call);
  json::array list;
  for (const auth::Client& client : services.authority->configured())
    list.push_back(to_json(client, *services.authority));
  if (services.clients)
    for (const ClientRow& row : services.clients->list())
      list.push_back(to_json(row, *services.authority));
  std::sort(list.begin(), list.end(), [](const json::value& a, const json::value& b) {
    return a.at("clientId").as_string() < b.at("clientId").as_string();
  });
  json::object document{{"clients", std::move(list)}};
  if (!services.clients) document["problem"] = services.no_clients;
  return json_answer(document);
}

Answer list_roles(const Call& call) {
  const auth::Authority& authority = *services_of(call).authority;
  json::array list;
  for (const auto& [role, scopes] : authority.roles()->list())
    list.push_back(json::object{{"role", role},
                                {"scopes", texts_json(scopes)},
                                {"expandedScopes", texts_json(authority.expand(scopes).list())}});
  return json_answer(json::object{{"roles", std::move(list)}});
}

std::optional<Failure> refuse_without_store(const Call& call) {
  if (services_of(call).clients) return std::nullopt;
  return Failure{"NoClients", services_of(call).no_clients};
}

Answer show_client(const Call& call) {
  const std::string& id = call.parameter("clientId");
  for (const auth::Client& client : call.host().authority->configured())
    if (client.client_id == id) return json_answer(to_json(client, *call.host().authority));
  if (auto refusal = refuse_without_store(call)) return *refusal;
  return shown(call, store_of(call).find(id));
}

Answer create_client(const Call& call) {
  if (auto refusal = refuse_without_store(call)) return *refusal;
  const auto wanted = wanted_from(call.body(), {});
  if (!wanted) return to_failure(wanted.error());
  return shown(call, store_of(call).create(call.parameter("clientId"), *wanted, actor_of(call)));
}

Answer change_client(const Call& call) {
  if (auto refusal = refuse_without_store(call)) return *refusal;
  const std::string& id = call.parameter("clientId");
  ClientStore::Wanted was;
  if (const auto row = store_of(call).find(id)) {
    was.kind = row->kind;
    was.description = row->description;
    was.expires = row->expires;
    was.replay_protection = row->replay_protection;
    for (const json::value& scope : row->scopes) was.scopes.emplace_back(scope.as_string());
  }
  const auto wanted = wanted_from(call.body(), was);
  if (!wanted) return to_failure(wanted.error());
  if (wanted->kind != was.kind)
    return input_error("a client stays what it is, hawk or token; make another one");
  return shown(call, store_of(call).change(id, *wanted, actor_of(call)));
}

Answer rotate_client(const Call& call) {
  if (auto refusal = refuse_without_store(call)) return *refusal;
  const json::value* flag = call.body().if_contains("now");
  const bool now = flag && flag->as_bool();
  return shown(call,
               store_of(call).rotate(call.parameter("clientId"),
                                     now ? std::chrono::hours(0) : usual_grace, actor_of(call)));
}

Answer set_disabled(const Call& call, bool disabled) {
  if (auto refusal = refuse_without_store(call)) return *refusal;
  return shown(call,
               store_of(call).set_disabled(call.parameter("clientId"), disabled, actor_of(call)));
}

Answer disable_client(const Call& call) {
  return set_disabled(call, true);
}

Answer enable_client(const Call& call) {
  return set_disabled(call, false);
}

Answer remove_client(const Call& call) {
  if (auto refusal = refuse_without_store(call)) return *refusal;
  const auto removed = store_of(call).remove(call.parameter("clientId"), actor_of(call));
  return removed ? json_answer(json::object()) : to_failure(removed.error());
}

json::object caller_json(const auth::Caller& caller) {
  return {{"clientId", caller.client_id},
          {"scopes", texts_json(caller.scopes.list())},
          {"expires", format_time(caller.expires)}};
}

Answer show_caller(const Call& call) {
  return json_answer(caller_json(*call.caller()));
}

// -------------------------------------------------------------------------------------------------
// Taskcluster's auth service

// What the caller may do.
void current_scopes(const CallPtr& call) {
  const auto caller = call->host().authority->authenticate(call->request());
  if (!caller) return call->respond(auth::unauthenticated(call->request(), caller.error()));
  call->set_caller(*caller);
  call->finish(json_answer(json::object{{"scopes", texts_json((*caller)->scopes.list())}}));
}

boost::system::result<auth::Authority::SignedRequest, Failure> signed_request(const Call& call) {
  const auto body = http::parse_object_body(call.request().body);
  if (!body) return input_error("the request's body: " + body.error().message);
  const auto text = [&](const char* key) {
    const auto* found = body->if_contains(key);
    return found && found->is_string() ? std::string(found->get_string()) : std::string();
  };
  auth::Authority::SignedRequest described;
  described.method = text("method");
  described.resource = text("resource");
  described.host = text("host");
  described.authorization = text("authorization");
  const auto* port = body->if_contains("port");
  const bool good_port =
      port && port->is_int64() && port->as_int64() >= 0 && port->as_int64() < 65536;
  if (described.method.empty() || described.resource.empty() || described.host.empty() ||
      !good_port)
    return input_error("the body has method, resource, host, port and perhaps authorization");
  for (char& c : described.method)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  described.port = static_cast<std::uint16_t>(port->as_int64());
  described.sender = call.request().client_address();
  return described;
}

// Whether a request that another service got may come in.
void authenticate_hawk(const CallPtr& call) {
  const auto described = signed_request(*call);
  if (!described) return call->fail(described.error());
  const auto judged = call->host().authority->judge(*described);
  if (!judged && judged.error().error_class == ErrorClass::throttle)
    return call->respond(auth::unauthenticated(call->request(), judged.error()));
  if (!judged)
    return call->finish(
        json_answer(json::object{{"status", "auth-failed"}, {"message", judged.error().message}}));
  json::object answer = caller_json(*judged->caller);
  const bool nobody = judged->caller->client_id.empty();
  if (nobody) answer.erase("clientId");
  answer["status"] = nobody ? "no-auth" : "auth-success";
  answer["scheme"] = nobody ? "none" : "hawk";
  if (!judged->hash.empty()) answer["hash"] = judged->hash;
  call->finish(json_answer(answer));
}

// The members of a client's body that the audit log shows; none of them is a secret.
const std::vector<std::string_view> shown_of_client{"kind", "description", "scopes", "expires",
                                                    "replayProtection"};

}  // namespace

std::vector<Endpoint> client_endpoints() {
  return {
      {.name = "rotateClient",
       .method = "POST",
       .path = base + "/clients/{*clientId}/rotate",
       .scopes = all_of({"muster:manage-clients:<clientId>"}),
       .handler = OnWorkerThread{rotate_client},
       .input = "RotateRequest",
       .input_required = false,
       .audit = audited_by_handler({"now"}),
       .output = "ClientWithSecret",
       .errors = {bad_input, missing, conflicting, unavailable},
       .category = "clients",
       .title = "Give a client a new secret; the old one counts for another hour"},
      {.name = "disableClient",
       .method = "POST",
       .path = base + "/clients/{*clientId}/disable",
       .scopes = all_of({"muster:manage-clients:<clientId>"}),
       .handler = OnWorkerThread{disable_client},
       .audit = audited_by_handler(),
       .output = "Client",
       .errors = {missing, conflicting, unavailable},
       .category = "clients",
       .title = "Let a client in no more"},
      {.name = "enableClient",
       .method = "POST",
       .path = base + "/clients/{*clientId}/enable",
       .scopes = all_of({"muster:manage-clients:<clientId>"}),
       .handler = OnWorkerThread{enable_client},
       .audit = audited_by_handler(),
       .output = "Client",
       .errors = {missing, conflicting, unavailable},
       .category = "clients",
       .title = "Let a disabled client in again"},
      {.name = "createClient",
       .method = "PUT",
       .path = base + "/clients/{*clientId}",
       .scopes = all_of({"muster:manage-clients:<clientId>"}),
       .handler = OnWorkerThread{create_client},
       .input = "ClientRequest",
       .audit = audited_by_handler(shown_of_client),
       .output = "ClientWithSecret",
       .errors = {bad_input, conflicting, unavailable},
       .category = "clients",
       .title = "Make a client; nobody can give scopes that he lacks"},
      {.name = "changeClient",
       .method = "POST",
       .path = base + "/clients/{*clientId}",
       .scopes = all_of({"muster:manage-clients:<clientId>"}),
       .handler = OnWorkerThread{change_client},
       .input = "ClientRequest",
       .audit = audited_by_handler(shown_of_client),
       .output = "Client",
       .errors = {bad_input, missing, conflicting, unavailable},
       .category = "clients",
       .title = "Change what is said of a client; what is left out stays"},
      {.name = "removeClient",
       .method = "DELETE",
       .path = base + "/clients/{*clientId}",
       .scopes = all_of({"muster:manage-clients:<clientId>"}),
       .handler = OnWorkerThread{remove_client},
       .audit = audited_by_handler(),
       .output = "Empty",
       .errors = {missing, conflicting, unavailable},
       .category = "clients",
       .title = "Remove a client, and with it all credentials that it has issued"},
      {.name = "listRoles",
       .method = "GET",
       .path = base + "/roles",
       .scopes = all_of({"muster:list-clients"}),
       .handler = list_roles,
       .output = "RoleList",
       .category = "clients",
       .title = "The roles of the host's configuration, and what they are worth"},
      {.name = "listClients",
       .method = "GET",
       .path = base + "/clients",
       .scopes = all_of({"muster:list-clients"}),
       .handler = list_clients,
       .output = "ClientList",
       .category = "clients",
       .title = "All clients and tokens"},
      {.name = "getClient",
       .method = "GET",
       .path = base + "/clients/{*clientId}",
       .scopes = all_of({"muster:list-clients"}),
       .handler = show_client,
       .output = "Client",
       .errors = {missing, unavailable},
       .category = "clients",
       .title = "A client"},
      {.name = "whoami",
       .method = "GET",
       .path = base + "/whoami",
       .scopes = any_caller("tells callers who they are, also those without credentials"),
       .handler = show_caller,
       .output = "Caller",
       .category = "clients",
       .title = "Who asks, and what he may do"},
      {.name = "currentScopes",
       .method = "GET",
       .path = "/api/auth/v1/scopes/current",
       .scopes =
           open_to_all("checks the credentials by itself, as Taskcluster's auth service does"),
       .handler = current_scopes,
       .category = "clients",
       .described = false,
       .title = "The scopes of the caller"},
      {.name = "authenticateHawk",
       .method = "POST",
       .path = "/api/auth/v1/authenticate-hawk",
       .scopes = open_to_all("checks the credentials that another service was shown"),
       .handler = authenticate_hawk,
       .audit = not_audited("it changes nothing: it judges a request for another service"),
       .category = "clients",
       .described = false,
       .title = "Check a signed request that another service got"},
  };
}

}  // namespace muster::api

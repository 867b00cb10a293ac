#include "host/api/client_routes.hpp"

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "lib/http/answer.hpp"

namespace muster {
namespace {

using auth::ClientKind;
using auth::ClientRow;
using auth::ClientStore;
using http::error_answer;
using http::json_answer;
using http::Request;
using http::Response;

constexpr std::chrono::hours usual_grace{1};

json::array texts_json(const std::vector<std::string>& texts) {
  json::array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return list;
}

json::object to_json(const ClientRow& row, HostAuth& auth) {
  std::vector<std::string> scopes;
  for (const json::value& scope : row.scopes) scopes.emplace_back(scope.as_string());
  json::object document{{"clientId", row.client_id},
                        {"kind", name_of(row.kind)},
                        {"origin", row.client_id == auth::host_client_id ? "host" : "api"},
                        {"description", row.description},
                        {"scopes", row.scopes},
                        {"expandedScopes", texts_json(auth.authority().expand(scopes).list())},
                        {"disabled", row.disabled},
                        {"replayProtection", row.replay_protection},
                        {"created", format_time(row.created)},
                        {"lastModified", format_time(row.last_modified)}};
  if (row.expires) document["expires"] = format_time(*row.expires);
  if (row.replaced_until) document["oldSecretUntil"] = format_time(*row.replaced_until);
  return document;
}

json::object to_json(const auth::Client& client, HostAuth& auth) {
  json::object document{
      {"clientId", client.client_id},
      {"kind", name_of(client.kind)},
      {"origin", "configuration"},
      {"scopes", texts_json(client.scopes)},
      {"expandedScopes", texts_json(auth.authority().expand(client.scopes).list())},
      {"disabled", client.disabled},
      {"replayProtection", client.replay_protection}};
  if (client.expires) document["expires"] = format_time(*client.expires);
  return document;
}

json::object with_secret(const ClientStore::Made& made, HostAuth& auth) {
  json::object document = to_json(made.row, auth);
  document[made.row.kind == ClientKind::hawk ? "accessToken" : "token"] = made.secret.reveal();
  return document;
}

Response failed(const Request& request, const Error& error) {
  if (error.code == "RequestConflict") return error_answer(request, 409, error.code, error.message);
  return error_answer(request, error);
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

Response list_clients(const Request&, HostAuth& auth) {
  json::array list;
  for (const auth::Client& client : auth.authority().configured())
    list.push_back(to_json(client, auth));
  if (auth.book())
    for (const ClientRow& row : auth.book()->list()) list.push_back(to_json(row, auth));
  std::sort(list.begin(), list.end(), [](const json::value& a, const json::value& b) {
    return a.at("clientId").as_string() < b.at("clientId").as_string();
  });
  json::object document{{"clients", std::move(list)}};
  if (!auth.book()) document["problem"] = auth.why_store_unavailable();
  return json_answer(document);
}

Response show_client(const Request& request, HostAuth& auth) {
  const std::string& id = request.path_parameter("clientId");
  for (const auth::Client& client : auth.authority().configured())
    if (client.client_id == id) return json_answer(to_json(client, auth));
  if (!auth.book()) return error_answer(request, 503, "NoClients", auth.why_store_unavailable());
  const auto row = auth.book()->find(id);
  return row ? json_answer(to_json(*row, auth)) : failed(request, row.error());
}

Response create_client(const Request& request, HostAuth& auth, ClientStore& book) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const auto wanted = wanted_from(*body, {});
  if (!wanted) return failed(request, wanted.error());
  const auto made = book.create(request.path_parameter("clientId"), *wanted, *request.caller);
  return made ? json_answer(with_secret(*made, auth)) : failed(request, made.error());
}

Response change_client(const Request& request, HostAuth& auth, ClientStore& book) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const std::string& id = request.path_parameter("clientId");
  ClientStore::Wanted was;
  if (const auto row = book.find(id)) {
    was.kind = row->kind;
    was.description = row->description;
    was.expires = row->expires;
    was.replay_protection = row->replay_protection;
    for (const json::value& scope : row->scopes) was.scopes.emplace_back(scope.as_string());
  }
  const auto wanted = wanted_from(*body, was);
  if (!wanted) return failed(request, wanted.error());
  if (wanted->kind != was.kind)
    return error_answer(request, 400, "InputError",
                        "a client stays what it is, hawk or token; make another one");
  const auto row = book.change(id, *wanted, *request.caller);
  return row ? json_answer(to_json(*row, auth)) : failed(request, row.error());
}

Response rotate_client(const Request& request, HostAuth& auth, ClientStore& book) {
  bool now = false;
  if (!request.body.empty()) {
    const auto body = http::json_body(request);
    if (!body) return body.error();
    const auto* flag = body->if_contains("now");
    if (flag && !flag->is_bool())
      return error_answer(request, 400, "InputError", "`now` must be true or false");
    now = flag && flag->as_bool();
  }
  const auto made = book.rotate(request.path_parameter("clientId"),
                                now ? std::chrono::hours(0) : usual_grace, *request.caller);
  return made ? json_answer(with_secret(*made, auth)) : failed(request, made.error());
}

Response set_disabled(const Request& request, HostAuth& auth, ClientStore& book, bool disabled) {
  const auto row = book.set_disabled(request.path_parameter("clientId"), disabled, *request.caller);
  return row ? json_answer(to_json(*row, auth)) : failed(request, row.error());
}

Response remove_client(const Request& request, HostAuth&, ClientStore& book) {
  const auto removed = book.remove(request.path_parameter("clientId"), *request.caller);
  return removed ? json_answer(json::object()) : failed(request, removed.error());
}

json::object caller_json(const auth::Caller& caller) {
  return {{"clientId", caller.client_id},
          {"scopes", texts_json(caller.scopes.list())},
          {"expires", format_time(caller.expires)}};
}

// Taskcluster's auth service: what the caller may do.
Response current_scopes(const Request& request, auth::Authority& authority) {
  const auto caller = authority.authenticate(request);
  if (!caller) return auth::unauthenticated(request, caller.error());
  Response answer = json_answer(json::object{{"scopes", texts_json((*caller)->scopes.list())}});
  answer.client_id = (*caller)->client_id;
  return answer;
}

// Taskcluster's auth service: whether a request that another service got may come in.
Response authenticate_hawk(const Request& request, auth::Authority& authority) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
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
    return error_answer(request, 400, "InputError",
                        "the body has method, resource, host, port and perhaps authorization");
  for (char& c : described.method)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  described.port = static_cast<std::uint16_t>(port->as_int64());
  described.peer = request.peer;
  const auto judged = authority.judge(described);
  if (!judged && judged.error().error_class == ErrorClass::throttle)
    return auth::unauthenticated(request, judged.error());
  if (!judged)
    return json_answer(
        json::object{{"status", "auth-failed"}, {"message", judged.error().message}});
  json::object answer = caller_json(*judged->caller);
  const bool nobody = judged->caller->client_id.empty();
  if (nobody) answer.erase("clientId");
  answer["status"] = nobody ? "no-auth" : "auth-success";
  answer["scheme"] = nobody ? "none" : "hawk";
  if (!judged->hash.empty()) answer["hash"] = judged->hash;
  return json_answer(answer);
}

}  // namespace

void add_client_routes(http::Router& router, http::WorkerThreads& workers, HostAuth& auth) {
  const std::string clients = "/api/muster/v1/clients";
  const auto change = [&](const char* method, const std::string& below, auto handler) {
    router.add(method, clients + "/{*clientId}" + below,
               later(workers, [&auth, handler](const Request& request) {
                 if (!auth.book())
                   return error_answer(request, 503, "NoClients", auth.why_store_unavailable());
                 return handler(request, auth, *auth.book());
               }));
  };
  const auto view = [&](const std::string& path, auto handler) {
    router.add("GET", path, http::now([&auth, handler](const Request& request) {
                 return handler(request, auth);
               }));
  };
  change("POST", "/rotate", rotate_client);
  change("POST", "/disable", [](const Request& request, HostAuth& all, ClientStore& book) {
    return set_disabled(request, all, book, true);
  });
  change("POST", "/enable", [](const Request& request, HostAuth& all, ClientStore& book) {
    return set_disabled(request, all, book, false);
  });
  change("PUT", "", create_client);
  change("POST", "", change_client);
  change("DELETE", "", remove_client);
  view(clients, list_clients);
  view(clients + "/{*clientId}", show_client);
  view("/api/muster/v1/whoami",
       [](const Request& request, HostAuth&) { return json_answer(caller_json(*request.caller)); });
  const auto open = [&](const char* method, const char* path, auto handler) {
    router.add(method, path, http::now([&auth, handler](const Request& request) {
                 return handler(request, auth.authority());
               }),
               http::Access::open);
  };
  open("GET", "/api/auth/v1/scopes/current", current_scopes);
  open("POST", "/api/auth/v1/authenticate-hawk", authenticate_hawk);
}

}  // namespace muster

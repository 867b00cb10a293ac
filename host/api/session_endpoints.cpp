// Log-in and log-out of the dashboard: a token, or a client and its access token, is exchanged for
// a session, so that no page keeps a secret.
#include "host/api/handlers.hpp"
#include "host/api/json_members.hpp"
#include "host/auth/authority.hpp"

namespace muster::api {
namespace {

json::object session_document(const auth::Caller& caller, const std::string& csrf_token,
                              Time expires) {
  json::object document{{"clientId", caller.client_id},
                        {"scopes", codec::to_value(caller.scopes.list())}};
  if (csrf_token.empty()) return document;
  document["csrfToken"] = csrf_token;
  document["expires"] = format_time(expires);
  return document;
}

http::Response session_response(const Call& call, const json::object& document,
                                std::string set_cookie) {
  http::Response response = call.api().answer(call, json::write(document) + "\n");
  response.headers.push_back({"Set-Cookie", std::move(set_cookie)});
  return response;
}

// A page of another site cannot send this header without asking first, and is not allowed to. It
// keeps strangers from logging a person in as somebody else.
std::optional<Failure> refuse_other_pages(const Call& call) {
  if (call.request().header("X-Muster-Csrf") && auth::Authority::is_from_own_page(call.request()))
    return std::nullopt;
  return input_error(
      "a log-in comes from a page of this host and has the header X-Muster-Csrf, with any value");
}

void open_session(const CallPtr& call) {
  if (!call->host().authority)
    return call->fail({"ServiceUnavailable", "nobody can log in at this host"});
  run_on_worker(call, [call] {
    const auto member = [&](std::string_view name) {
      return call->body().contains(name) ? call->text(name) : std::string();
    };
    const auth::Authority::Login login{member("token"), member("clientId"),
                                       Secret(member("accessToken"))};
    if (login.token.empty() == login.client_id.empty())
      return call->fail(
          input_error("a log-in has either `token`, or `clientId` and `accessToken`"));
    const auto opened = call->host().authority->open_session(call->request(), login);
    if (!opened) return call->fail_authentication(opened.error());
    call->host().log.info("a session of the dashboard begins",
                          {{"client", opened->caller->client_id}, {"request", call->request().id}});
    call->respond(session_response(
        *call, session_document(*opened->caller, opened->csrf_token, opened->expires),
        opened->set_cookie));
  });
}

Answer show_session(const Call& call) {
  const auth::Authority& authority = *call.host().authority;
  return json_answer(session_document(*call.caller(), authority.csrf_token(call.request()),
                                      authority.session_expires(call.request()).value_or(Time{})));
}

void close_session(const CallPtr& call) {
  run_on_worker(call, [call] {
    const std::string set_cookie = call->host().authority->close_session(call->request());
    http::Response response = call->api().answer(*call, "");
    response.headers.push_back({"Set-Cookie", set_cookie});
    call->respond(std::move(response));
  });
}

}  // namespace

std::vector<Endpoint> session_endpoints() {
  return {
      {.name = "openSession",
       .method = "POST",
       .path = base + "/session",
       .scopes = open_to_all("checks the credentials in its body, and locks out who guesses"),
       .handler = open_session,
       .input = "SessionRequest",
       .audit = not_audited("it changes nothing of the fleet; the log has it"),
       .output = "Session",
       .errors = {bad_input, "AuthenticationFailed", "TooManyRequests"},
       .category = "clients",
       .title = "Log in: a cookie stands for the client for 8 hours, or until its secret is gone",
       .refuse_at_once = refuse_other_pages},
      {.name = "getSession",
       .method = "GET",
       .path = base + "/session",
       .scopes = any_caller("tells callers who they are, also those without credentials"),
       .handler = show_session,
       .output = "Session",
       .category = "clients",
       .title = "Who asks, and what a page needs to change something"},
      {.name = "closeSession",
       .method = "DELETE",
       .path = base + "/session",
       .scopes = any_caller("ends the caller's own session"),
       .handler = close_session,
       .audit = not_audited("it changes nothing of the fleet"),
       .status = 204,
       .category = "clients",
       .title = "Log out"},
  };
}

}  // namespace muster::api

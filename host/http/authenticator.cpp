#include "host/http/authenticator.hpp"

#include <strings.h>

#include "host/http/answer.hpp"

namespace muster::http {
namespace {

constexpr std::string_view scheme = "Bearer ";
constexpr std::size_t longest_token = 4096;

std::optional<std::string_view> bearer_token(const Request& request) {
  const auto header = request.header("Authorization");
  if (!header || header->size() <= scheme.size() ||
      ::strncasecmp(header->data(), scheme.data(), scheme.size()) != 0)
    return std::nullopt;
  std::string_view token = header->substr(scheme.size());
  while (!token.empty() && token.front() == ' ') token.remove_prefix(1);
  if (token.empty() || token.size() > longest_token) return std::nullopt;
  return token;
}

}  // namespace

void Authenticator::replace_tokens(std::vector<KnownToken> tokens) {
  auto fresh = std::make_shared<const std::vector<KnownToken>>(std::move(tokens));
  const std::lock_guard guard(mutex_);
  tokens_ = std::move(fresh);
}

std::shared_ptr<const std::vector<KnownToken>> Authenticator::tokens() const {
  const std::lock_guard guard(mutex_);
  return tokens_;
}

std::optional<std::string> Authenticator::authenticate(const Request& request) const {
  const auto token = bearer_token(request);
  if (!token) return std::nullopt;
  const Sha256 digest = sha256(*token);
  const auto known = tokens();
  const KnownToken* found = nullptr;
  for (const KnownToken& candidate : *known)  // all of them, wherever the right one stands
    if (equal_in_constant_time(candidate.digest, digest)) found = &candidate;
  if (!found) return std::nullopt;
  return found->name;
}

std::optional<Response> Authenticator::turn_away(const Request& request) const {
  if (authenticate(request)) return std::nullopt;
  const bool tried = request.header("Authorization").has_value();
  Response response = error_answer(
      request, 401, "AuthenticationFailed",
      tried ? "the token in the Authorization header is not known here; the admin's is in the file "
              "admin-token of the host's data directory"
            : "this needs the header `Authorization: Bearer <token>`; the admin's token is in the "
              "file admin-token of the host's data directory");
  response.headers.push_back({"WWW-Authenticate", "Bearer realm=\"muster\""});
  return response;
}

}  // namespace muster::http

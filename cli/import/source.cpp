#include "cli/import/source.hpp"

#include <iostream>
#include <iterator>
#include <set>

#include "cli/import/documents.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/http_client/client.hpp"
#include "lib/url/url.hpp"
#include "lib/yaml/yaml_document.hpp"

namespace muster::importing {
namespace {

constexpr std::size_t most_bytes_of_source = 32 << 20;
constexpr int most_pages = 1000;

Result<std::string> read_text(const std::string& name) {
  if (name != "-") return read_file(name, most_bytes_of_source);
  std::string text;
  char buffer[65536];
  while (std::cin.read(buffer, sizeof buffer), std::cin.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > most_bytes_of_source)
      return Error::invalid("standard input has more than " + std::to_string(most_bytes_of_source) +
                            " bytes");
  }
  return text;
}

// What the service says of a refusal.
std::string said_by(const http_client::Response& answer) {
  const auto document = json::parse(answer.body);
  const std::string message =
      document && document->is_object() ? text_in(document->get_object(), "message") : "";
  return message.substr(0, message.find('\n')).substr(0, 500);
}

Error refusal(const Source& source, const http_client::Response& answer) {
  const std::string status = "status " + std::to_string(answer.status);
  if (answer.status == 401 || answer.status == 403)
    return Error::auth(source.name + " refuses (" + status + "): " + said_by(answer) +
                       "\nThe scope worker-manager:list-worker-pools is needed; set "
                       "TASKCLUSTER_CLIENT_ID and TASKCLUSTER_ACCESS_TOKEN, or --client-id and "
                       "--access-token-file");
  if (answer.status >= 300 && answer.status < 400)
    return Error::invalid(source.name + " leads elsewhere (" + status +
                          "); name the root URL that it leads to");
  return Error::invalid(source.name + " answers with " + status + ": " + said_by(answer) +
                        "; is it the root URL of a Taskcluster deployment?");
}

Result<json::object> page(http_client::Client& client, const Source& source,
                          const std::string& token) {
  std::string url = source.name;
  while (url.ends_with('/')) url.pop_back();
  url += "/api/worker-manager/v1/worker-pools?limit=200";
  if (!token.empty()) url += "&continuationToken=" + encode_segment(token);
  http_client::Request request{.url = std::move(url), .retry = {.attempts = 3}};
  if (source.credentials)
    request.authorization = http_client::HawkSignature{*source.credentials, true};
  const http_client::Answer answer = client.send(std::move(request));
  if (!answer)
    return Error::transient(source.name + " cannot be asked: " + answer.error().description());
  if (!answer->is_success()) return refusal(source, *answer);
  auto document = json::parse_object(answer->body);
  if (!document)
    return Error::invalid(source.name +
                          " answers with no JSON object; is it the root URL of a Taskcluster "
                          "deployment?");
  return document;
}

Result<std::vector<TaskclusterPool>> ask(const Source& source, Report& report) {
  if (const auto url = parse_http_url(source.name); !url)
    return Error::invalid("the root URL " + url.error().message);
  http_client::Client client({.max_concurrent = 1,
                              .max_body_bytes = most_bytes_of_source,
                              .timeout = std::chrono::seconds(60),
                              .ca_file = source.ca_file});
  std::vector<TaskclusterPool> pools;
  std::set<std::string> seen;
  std::string token;
  for (int pages = 0; pages < most_pages; ++pages) {
    const auto document = page(client, source, token);
    if (!document) return document.error();
    if (const auto added = add_pools(*document, pools, report); !added)
      return Error::invalid(source.name + ": " + added.error().message);
    token = text_in(*document, "continuationToken");
    if (token.empty()) return pools;
    if (!seen.insert(token).second)
      return Error::invalid(source.name + " gives the same page again and again");
  }
  return Error::invalid(source.name + " has more than " + std::to_string(most_pages) + " pages");
}

}  // namespace

Result<json::value> parse_document(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == text.npos) return Error::invalid("it is empty");
  if (text[begin] == '{' || text[begin] == '[') {
    auto parsed = json::parse(text);
    if (!parsed) return Error::invalid("it is no JSON: " + parsed.error().message);
    return parsed;
  }
  auto parsed = config::parse_yaml_value(text);
  if (const auto* mistake = boost::variant2::get_if<config::Mistake>(&parsed))
    return Error::invalid("line " + std::to_string(mistake->position.line) + ", column " +
                          std::to_string(mistake->position.column) + ": " + mistake->reason);
  return boost::variant2::get<json::value>(std::move(parsed));
}

Result<std::vector<TaskclusterPool>> read_pools(const Source& source, Report& report) {
  if (source.is_url()) return ask(source, report);
  const auto text = read_text(source.name);
  if (!text) return text.error();
  const auto document = parse_document(*text);
  if (!document) return Error::invalid(source.name + ": " + document.error().message);
  std::vector<TaskclusterPool> pools;
  if (const auto added = add_pools(*document, pools, report); !added)
    return Error::invalid(source.name + ": " + added.error().message);
  return pools;
}

}  // namespace muster::importing

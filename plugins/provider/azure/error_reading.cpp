#include "plugins/provider/azure/error_reading.hpp"

#include <charconv>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/redaction.hpp"
#include "plugins/provider/azure/documents.hpp"

namespace muster::azure {
namespace {

using cloud::CloudError;
using cloud::table_of;
using cloud::text_of;

constexpr int deepest_error = 8;

// Codes that say only that something below went wrong.
bool is_vague(std::string_view code) {
  for (const std::string_view vague :
       {"", "DeploymentFailed", "ResourceDeploymentFailure", "InvalidTemplateDeployment",
        "Conflict", "BadRequest", "Failed", "ResourceOperationFailure", "MultipleErrorsOccurred"})
    if (code == vague) return true;
  return false;
}

CloudError read(const json::object& error, int depth) {
  CloudError found{.code = text_of(error, "code"), .message = text_of(error, "message")};
  if (depth == 0 || !is_vague(found.code)) return found;
  std::optional<CloudError> below;
  const auto look = [&](const json::object& inner) {
    if (below) return;
    CloudError read_below = read(inner, depth - 1);
    if (!is_vague(read_below.code)) below = std::move(read_below);
  };
  cloud::for_each_of(error, "details", look);
  if (const json::object* inner = table_of(error, "innererror")) look(*inner);
  // Some services write the inner error as JSON into the message.
  if (!below && found.message.starts_with('{'))
    if (const auto document = json::parse_object(found.message)) {
      const json::object* inner = table_of(*document, "error");
      look(inner ? *inner : *document);
    }
  return below ? *below : found;
}

// "AADSTS7000215: Invalid client secret" → "AADSTS7000215"
CloudError read_login_error(const json::object& document) {
  CloudError found{.code = text_of(document, "error"),
                   .message = text_of(document, "error_description")};
  if (found.message.starts_with("AADSTS"))
    found.code = found.message.substr(0, found.message.find_first_of(": \r\n"));
  return found;
}

bool is_about_quota(std::string_view message) {
  return message.find("uota") != std::string_view::npos;
}

bool is_spot(const ErrorScope& about) {
  return about.instance_type && about.instance_type->ends_with("/spot");
}

}  // namespace

CloudError innermost_error(const json::object& document) {
  if (const json::object* error = table_of(document, "error")) return read(*error, deepest_error);
  if (document.contains("error")) return read_login_error(document);
  return read(document, deepest_error);
}

std::optional<std::int64_t> number_after(std::string_view message, std::string_view label) {
  const std::size_t at = message.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  message.remove_prefix(at + label.size());
  message.remove_prefix(std::min(message.size(), message.find_first_not_of(": ")));
  std::int64_t number = 0;
  const auto [end, error] =
      std::from_chars(message.data(), message.data() + message.size(), number);
  if (error != std::errc()) return std::nullopt;
  return number;
}

ErrorReader::ErrorReader()
    : table_(cloud::ErrorTable::read(documents.read("errors").as_object()).value()) {}

bool ErrorReader::is_refusal(const std::string& code) const {
  const cloud::ErrorRow* row = table_.find(code);
  return row && row->refused;
}

Error ErrorReader::classify(const std::string& call, CloudError said,
                            const ErrorScope& about) const {
  const std::string code = said.code;
  if (code == "OperationNotAllowed" && is_about_quota(said.message)) said.code = "QuotaExceeded";
  if (said.code == "QuotaExceeded" && number_after(said.message, "Current Limit") == 0)
    said.code = "QuotaExceeded/none";
  if (is_spot(about) && table_.find(said.code + "/spot")) said.code += "/spot";
  // HTTP's own words, where a gateway gives no code.
  if (said.code.empty() && said.status == 429) said.code = "TooManyRequests";
  if (said.code.empty() && said.status == 404) said.code = "NotFound";
  said.message = cloud::printable(said.message, 1000);
  Error error = table_.classify(call, said, about);
  error.code = error.code.substr(0, error.code.find('/'));
  return error;
}

}  // namespace muster::azure

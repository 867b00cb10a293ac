#include "plugins/provider/google/google_errors.hpp"

#include <vector>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::for_each_of;
using cloud::table_of;
using cloud::text_of;

const char* const quota_page = "https://console.cloud.google.com/iam-admin/quotas";

std::string text_between(std::string_view text, std::string_view before, std::string_view after) {
  const auto begin = text.find(before);
  if (begin == text.npos) return {};
  const auto end = text.find(after, begin + before.size());
  return std::string(text.substr(begin + before.size(), end - begin - before.size()));
}

// "Quota 'CPUS' exceeded.  Limit: 24.0 in region us-central1." and its like, with the numbers that
// an operation has beside it.
struct ExceededQuota {
  std::string metric, limit;
};
ExceededQuota quota_in(std::string_view message) {
  ExceededQuota quota{text_between(message, "Quota '", "'"), text_between(message, "Limit: ", " ")};
  while (quota.limit.ends_with('.')) quota.limit.pop_back();
  if (quota.limit.ends_with(".0")) quota.limit.resize(quota.limit.size() - 2);
  return quota;
}

// Google's words about details of an error, where the message alone says too little.
std::string details_of(const json::object& error) {
  std::string words;
  for_each_of(error, "errorDetails", [&](const json::object& detail) {
    if (const json::object* quota = table_of(detail, "quotaInfo")) {
      words += " Quota '" + text_of(*quota, "metricName") + "' exceeded.";
      const json::value* limit = quota->if_contains("limit");
      if (limit && limit->is_number()) words += "  Limit: " + json::write(*limit) + " ";
    }
    if (const json::object* message = table_of(detail, "localizedMessage"))
      words += " " + text_of(*message, "message");
  });
  return words;
}

}  // namespace

cloud::ErrorTable error_table() {
  return cloud::ErrorTable::read(documents.read("errors").as_object()).value();
}

std::string describe_body(std::string_view body) {
  const auto begin = body.find_first_not_of(" \r\n\t");
  if (begin == body.npos) return "nothing";
  if (body[begin] == '<') return "a web page";
  return body[begin] == '{' ? "JSON that ends too early or is damaged"
                            : "something that is not JSON";
}

cloud::CloudError read_error(const cloud::ErrorTable& table, int status, std::string_view body) {
  cloud::CloudError said{.code = {}, .status = status};
  const auto document = json::parse_object(body);
  const json::object* error = document ? table_of(*document, "error") : nullptr;
  if (!error) return said;
  said.message = text_of(*error, "message");
  std::vector<std::string> codes;
  for_each_of(*error, "details", [&](const json::object& detail) {
    codes.push_back(text_of(detail, "reason"));
    if (const std::string id = text_of(detail, "requestId"); !id.empty()) said.request_id = id;
  });
  for_each_of(*error, "errors",
              [&](const json::object& each) { codes.push_back(text_of(each, "reason")); });
  codes.push_back(text_of(*error, "status"));
  for (const std::string& code : codes) {
    if (code.empty()) continue;
    if (said.code.empty()) said.code = code;
    if (!table.find(code)) continue;
    said.code = code;
    break;
  }
  if (said.code.empty()) said.code = "HTTP " + std::to_string(status);
  return said;
}

std::optional<cloud::CloudError> error_of_operation(const json::object& operation) {
  const json::object* error = table_of(operation, "error");
  if (!error) return std::nullopt;
  cloud::CloudError said{
      .code = "OPERATION_FAILED",
      .message = text_of(operation, "httpErrorMessage"),
      .status = static_cast<int>(cloud::number_of(operation, "httpErrorStatusCode"))};
  bool first = true;
  for_each_of(*error, "errors", [&](const json::object& each) {
    if (!std::exchange(first, false)) return;
    if (const std::string code = text_of(each, "code"); !code.empty()) said.code = code;
    said.message = text_of(each, "message") + details_of(each);
  });
  return said;
}

Error classify(const cloud::ErrorTable& table, const std::string& call,
               const cloud::CloudError& said, const ErrorScope& about) {
  Error error = table.classify(call, said, about);
  if (error.error_class != ErrorClass::quota) return error;
  const ExceededQuota quota = quota_in(said.message);
  if (quota.metric.empty()) return error;
  // A quota of the project counts in all regions, for machines of the type.
  const bool is_global = quota.metric.find("ALL_REGIONS") != std::string::npos;
  if (is_global) error.scope.region.reset();
  error.message =
      "the quota " + quota.metric +
      (is_global ? std::string(" of all regions") : " in " + about.region.value_or("the region")) +
      " is used up" + (quota.limit.empty() ? "" : ": it is " + quota.limit) + "; raise it at " +
      quota_page + ". Google says: " + error.message;
  return error;
}

}  // namespace muster::google

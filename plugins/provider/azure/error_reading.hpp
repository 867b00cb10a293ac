// What Azure's errors mean. They nest: a failed deployment says "DeploymentFailed" and has the
// reason somewhere below, and one code ("OperationNotAllowed") is for quotas and for anything else.
#pragma once

#include <string>

#include "plugins/cloud/error_table.hpp"

namespace muster::azure {

// The most exact error of Resource Manager's {"code", "message", "details", "innererror"}, of
// Entra's {"error", "error_description"}, or of a whole answer {"error": {...}}. Its code is empty
// for a document that is no error.
cloud::CloudError innermost_error(const json::object& document);

// THREADS: any; it does not change.
class ErrorReader {
 public:
  ErrorReader();

  // `call` begins the message. `about` is all that is known of what the call was about.
  Error classify(const std::string& call, cloud::CloudError said, const ErrorScope& about) const;
  // Whether a new token could help.
  bool is_refusal(const std::string& code) const;

 private:
  cloud::ErrorTable table_;
};

// Of the message of a quota error: "Current Limit: 10" → 10; nothing if it is not there.
std::optional<std::int64_t> number_after(std::string_view message, std::string_view label);

}  // namespace muster::azure

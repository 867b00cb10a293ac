// What a cloud's error codes mean, as data: one table for each cloud.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>
#include <muster/fields.hpp>
#include <muster/json.hpp>

namespace muster::cloud {

// One row of the table, as its document has it.
struct ErrorRow {
  std::vector<std::string> codes;  // exact, or with one `*` at the end: "InvalidAMIID.*"
  std::string error_class;         // as to_string(ErrorClass) writes it
  // What is held, of "region", "zone", "instanceType" and "launchConfig"; empty: the whole
  // provider.
  std::vector<std::string> scope = {};
  std::optional<std::int64_t> hold_seconds = {};
  std::string advice = {};  // what to do; a sentence for the operator
  // The signature or the credentials were refused, and so the call had no effect: it may succeed
  // with the right time or with new credentials.
  bool refused = false;

  static constexpr auto fields(auto visit) {
    return visit(required("codes", &ErrorRow::codes), required("class", &ErrorRow::error_class),
                 optional("scope", &ErrorRow::scope),
                 optional("holdSeconds", &ErrorRow::hold_seconds),
                 optional("advice", &ErrorRow::advice), optional("refused", &ErrorRow::refused));
  }
};

// What a cloud said.
struct CloudError {
  std::string code;
  std::string message = {};     // the cloud's own words; redacted by the caller
  int status = 0;               // of HTTP
  std::string request_id = {};  // what the cloud's support asks for
};

// THREADS: any; it does not change.
class ErrorTable {
 public:
  // {"rows": [...]}. `invalid` for a row that is wrong or a code that is there twice.
  static Result<ErrorTable> read(const json::object& document);

  // `where` is all that is known of what the call was about; the row picks from it. A code that is
  // in no row holds the narrowest scope, all of `where`, for a short time; its class is the one of
  // the HTTP status, and the message says that the code is unknown.
  //
  // `call` begins the message: "ec2 RunInstances in us-east-1".
  Error classify(const std::string& call, const CloudError& error, const ErrorScope& where) const;

  // Nothing for a code that is in no row.
  const ErrorRow* find(std::string_view code) const;
  const std::vector<ErrorRow>& rows() const { return rows_; }

 private:
  std::vector<ErrorRow> rows_;
  std::map<std::string, std::size_t, std::less<>> exact_, prefixes_;
};

}  // namespace muster::cloud

// Why a request is refused, in the codes of both APIs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <boost/system/result.hpp>

#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::endpoints {

// One of the API's codes, and a sentence.
struct Failure {
  // Not an aggregate: a text alone is an answer and no failure.
  Failure() : Failure("InternalServerError", "Internal Server Error") {}
  Failure(std::string_view of_code, std::string in_words,
          std::optional<std::chrono::seconds> wait = std::nullopt)
      : code(of_code), message(std::move(in_words)), retry_after(wait) {}

  std::string_view code;
  std::string message;
  std::optional<std::chrono::seconds> retry_after;
  json::object more = {};  // further members of the error's body, where the API has room for them
};

// The body of an answer, or why there is none.
using Answer = boost::system::result<std::string, Failure>;

// The HTTP status of a code; 500 if the code is not known.
int status_of(std::string_view code);

Failure input_error(std::string message);
Failure not_found(std::string message);
Failure conflict(std::string message);

// The failure that belongs to the error's code or else to its class.
Failure to_failure(const Error& error);

}  // namespace muster::endpoints

// Answers that handlers give. Every error has the same body, in which Taskcluster's clients find
// what they look for: {"code", "message", "requestInfo": {"method", "path", "requestId"}}.
#pragma once

#include <string>

#include <boost/system/result.hpp>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "lib/http/message.hpp"

namespace muster::http {

Response json_answer(const json::value& document, int status = 200);

// `code` is one word for programs ("ResourceNotFound"), `message` a sentence for people that says
// what to do. `more` is added to the body.
Response error_answer(const Request& request, int status, std::string_view code,
                      std::string_view message, const json::object& more = {});

// The status and code that belong to the error's class.
Response error_answer(const Request& request, const Error& error);

// The most values in the body of a request: they fit into less than 100 MB of memory. Without a
// limit a body could take a hundred times its size.
inline constexpr std::size_t most_values = 200'000;
// A body as JSON. They fail as `invalid`.
Result<json::value> parse_body(std::string_view body);
Result<json::object> parse_object_body(std::string_view body);

// The body as a JSON object, or the 400 that says what is wrong with it.
boost::system::result<json::object, Response> json_body(const Request& request);

}  // namespace muster::http

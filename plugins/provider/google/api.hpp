// Google's APIs as the provider sees them: documents in Google's own spelling in and out.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::google {

struct Call {
  // As Google's own description of Compute Engine calls it ("instances.insert"), or one of
  // other_methods.json.
  std::string method;
  std::map<std::string, std::string> path = {};   // "zone", "region", "instance"; not "project"
  std::map<std::string, std::string> query = {};  // "filter", "requestId"
  std::optional<json::object> body = {};
  std::string project = {};  // instead of the provider's: of an image, say
  // Google takes the same call twice for one: it only reads, or it has a requestId. If not, it is
  // sent again only where it surely had no effect.
  bool idempotent = true;
  // What the call is about, for the scope of its errors.
  ErrorScope about = {};
};

// THREADS: any, in parallel.
class Api {
 public:
  virtual ~Api() = default;

  // Errors are classified by the table (errors.json). `code` is Google's own ("QUOTA_EXCEEDED"),
  // and the message has Google's words. Trouble without an answer of Google has the code
  // "noAnswer", and an answer that is none of Google's the code "badAnswer". A method, path or
  // query that Google's description does not know is `invalid`, and nothing is sent.
  virtual Result<json::object> call(const Call& call, const Context& context) = 0;

  // Waits between two looks at an operation. False if the call was cancelled meanwhile.
  virtual bool pause(std::chrono::milliseconds time, const Context& context) = 0;

  // How far Compute Engine's clock is ahead of ours, as the answers so far say; nothing if that is
  // not known.
  virtual std::optional<std::chrono::milliseconds> clock_offset() { return std::nullopt; }
};

inline constexpr const char* no_answer_code = "noAnswer";
inline constexpr const char* bad_answer_code = "badAnswer";

}  // namespace muster::google

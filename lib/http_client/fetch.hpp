// HTTP requests of the host itself: many at once, over few connections that are kept.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/context.hpp>
#include <muster/error.hpp>

namespace muster {

struct FetchSettings {
  std::size_t at_once = 16;                   // requests under way, and connections
  std::size_t max_answer_bytes = 16 << 20;    // larger ones are errors
  std::chrono::milliseconds timeout{20'000};  // of one request
  std::string ca_file = {};                   // trusted instead of the system's certificates
  bool discard_body = false;                  // of answers: only the status matters
};

struct Fetched {
  long status = 0;  // 0: no answer, and `error` says why
  std::string body = {};
  std::string error = {};
  std::string www_authenticate = {};
  std::optional<std::int64_t> server_seconds = {};       // what its Date header says
  std::optional<std::chrono::seconds> retry_after = {};  // at most an hour
};

struct FetchRequest {
  std::string url;
  std::vector<std::string> headers = {};  // "Name: value"
  std::optional<std::string> body = {};   // a POST instead of a GET
};

// Owned by one thread. Redirects are not followed; certificates are checked.
class Fetcher {
 public:
  explicit Fetcher(FetchSettings settings);
  ~Fetcher();
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  // `next` gives one request after the other, as late as possible, until it has no more (false);
  // `done` gets the answer to the nth. Returns when all are answered, or by the context's deadline
  // or soon after it was cancelled: then those under way are answered with an error.
  void run(const std::function<bool(FetchRequest&)>& next,
           const std::function<void(std::size_t, Fetched)>& done, const Context& context);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster

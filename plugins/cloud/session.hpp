// One call of a cloud's API, sent as often as it may be and no longer than it is of use.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <muster/error.hpp>

#include "lib/http_client/retry.hpp"
#include "plugins/cloud/error_table.hpp"
#include "plugins/cloud/timing.hpp"
#include "plugins/cloud/token_bucket.hpp"
#include "plugins/cloud/transport.hpp"

namespace muster::cloud {

// What an answer means.
struct Reading {
  enum class Next {
    done,       // nothing else helps: a good answer, or a final error
    repeat,     // passing trouble; the cloud may or may not have acted
    slow_down,  // it was too much; the cloud has not acted
    refused,    // its time or its credentials were wrong; the cloud has not acted
  };
  Next next = Next::done;
  std::optional<Error> error = {};  // nothing: the answer is good
  // How many more calls of this API the cloud takes, if it says so: the rate falls before the cloud
  // has to refuse any.
  std::optional<double> remaining = {};
};

// What an error that the cloud answered with leads to. `row`: of its code; null if there is none.
Reading::Next next_after(const ErrorRow* row, const Error& error);

// Ends a sentence about an answer that is none of the cloud's: what stands in between, and which
// setting is about it.
std::string advice_for(int status);

struct Exchange {
  std::string api;     // names the token bucket: the calls that the cloud counts together
  std::string name;    // for messages: "ec2 DescribeInstances in us-east-1"
  std::string server;  // its URL: what is known of its clock is kept for each server
  // The cloud takes the same request twice for one: it only reads, or it carries a token. If not,
  // it is sent again only where it surely had no effect, and never over a kept connection, which
  // may turn out dead after the request was sent.
  bool repeatable = false;
  // Makes and signs the request. Called for each attempt, with the server's time as far as known.
  std::function<Result<http_client::Request>(Time server_time)> prepare;
  std::function<Reading(const http_client::Response&)> read;
  // After a refusal: so that the next prepare() does not use the same credentials. May be empty.
  std::function<void()> drop_credentials = {};
  BucketSettings rate = {};  // of the API, when it is first called
};

struct SessionSettings {
  int attempts = 4;
  std::chrono::milliseconds first_delay{200}, longest_delay{5000};
  std::chrono::milliseconds timeout{30'000};  // of one attempt
  std::size_t max_answer_bytes = 16 << 20;    // for messages; the transport enforces it
};

// The time that a request may take so that its caller can still answer its own: `configured`, or
// the time left without a margin of a tenth (20 to 500 ms), whichever is shorter.
std::chrono::milliseconds time_for(std::chrono::milliseconds configured,
                                   std::chrono::milliseconds time_left);

// The cloud as one account sees it. THREADS: any.
class Session {
 public:
  // `transport` is shared with other sessions; `timing` is copied.
  Session(std::shared_ptr<Transport> transport, SessionSettings settings, Timing timing);

  // Returns before the context's deadline, and soon after it was cancelled. A wait that would pass
  // the deadline is not begun: the error of the last attempt is of more use than a timeout. All
  // attempts together spend from one budget, so that a cloud in trouble does not get a multiple of
  // its usual load.
  Result<http_client::Response> run(const Exchange& exchange, const Context& context);

  // How far the clock of that server is ahead of ours, as far as it is known.
  std::chrono::milliseconds clock_offset(const std::string& server);

 private:
  struct Run;
  void attempt(Run& run);
  static void say_if_unclear(Run& run);
  Result<void> wait_for_turn(Run& run);
  bool prepare_next(Run& run);
  bool set_clock(Run& run);
  bool drop_credentials(Run& run);
  bool wait_for_next(Run& run);
  hawk::ServerClock& clock_of(const std::string& server);

  const std::shared_ptr<Transport> transport_;
  const SessionSettings settings_;
  const Timing timing_;
  TokenBuckets buckets_;
  std::mutex mutex_;  // of what follows
  http_client::RetryBudget budget_;
  std::map<std::string, hawk::ServerClock> clocks_;
};

}  // namespace muster::cloud

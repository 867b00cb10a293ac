// The calls that an agent makes to its host, signed with what the host gave it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "agent/host_responses.hpp"
#include "agent/http_client.hpp"
#include "lib/hawk/server_clock.hpp"

namespace muster::agent {

// THREADS: the loop's. Every call answers once, never before it returns.
class HostCalls {
 public:
  // `clock` is asked for wall time only.
  HostCalls(HttpClient& http, const Clock& clock, Milliseconds timeout);

  using Granted = std::function<void(const CallOutcome&, std::optional<Grant>)>;
  using Answered = std::function<void(const CallOutcome&)>;

  void register_worker(const Place& place, const json::object& proof, Time boot, Granted done);
  // `description`: what the worker says of itself, `state` and `queue`.
  void register_at_relay(const std::string& relay_url, const Place& place,
                         const json::object& description, Time boot, Granted done);
  void challenge(const Place& place, std::function<void(const CallOutcome&, std::string)> done);

  // From here on signed; use() says as whom.
  void use(const Place& place, const hawk::Credentials& credentials);
  void renew(const Secret& secret, Granted done);
  void report_error(const std::string& kind, const std::string& title,
                    const std::string& description, const json::object& extra, Answered done);
  void report_interruption(Time at, const std::string& reason, Answered done);
  void report_activity(int busy, Answered done);
  void report_log(std::int64_t from, std::int64_t next, const std::string& text, Answered done);
  void ask_advice(std::function<void(const CallOutcome&, bool terminate, std::string reason)> done);
  void remove(Answered done);

  // The host's time, as far as its answers told it.
  Time host_time() const { return host_clock_.time(clock_.now()); }
  Milliseconds offset() const { return host_clock_.offset(); }

 private:
  using Handled = std::function<void(const CallOutcome&, const std::string& body)>;
  void call(const std::string& method, const std::string& url, const json::object* body,
            bool is_signed, Handled done);
  void learn_time(const HttpAnswer& answer);
  void report(const char* what, const json::object& body, Answered done);
  std::string worker_path() const;
  std::string authorization(const std::string& method, const std::string& url) const;

  HttpClient& http_;
  const Clock& clock_;
  const Milliseconds timeout_;
  hawk::ServerClock host_clock_;
  Place place_;
  hawk::Credentials credentials_;
};

}  // namespace muster::agent

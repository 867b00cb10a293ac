// Finds out who the worker is, and proves it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <muster/json.hpp>

#include "agent/children.hpp"
#include "agent/configuration.hpp"
#include "agent/host_calls.hpp"
#include "agent/http_client.hpp"

namespace muster::agent {

// Makes one registration after the other, each with a proof of its own. One at a time.
// THREADS: the loop's.
class Registrar {
 public:
  Registrar(const Configuration& configuration, EventLoop& loop, HttpClient& http, HostCalls& host,
            Children& children, Time boot, Secret registration_key);
  ~Registrar();

  // The place is what was asked for and what the identity told.
  using Done = std::function<void(const CallOutcome&, std::optional<Grant>, const Place&)>;
  void register_worker(Done done);

 private:
  void gather_state(std::size_t index);
  json::object described() const;
  void prove();
  void prove_by_secret();
  void prove_by_cloud();
  void prove_by_document();
  void show_document(const std::string& text, const std::string& from);
  bool shows_registration_key() const;
  void show(json::object proof);
  void show_fresh_document(json::object proof);
  void sign_challenge(json::object proof);
  void send(const json::object& proof);
  void fail(const Error& error);

  const Configuration& configuration_;
  EventLoop& loop_;
  HttpClient& http_;
  HostCalls& host_;
  Children& children_;
  const Time boot_;
  const Secret registration_key_;
  Done done_;
  Place place_;
  json::object state_;
  std::vector<std::pair<std::string, StateSetting>> settings_;
  std::unique_ptr<OutputOf> command_;
};

// When the machine started, from /proc/stat; now if that does not say.
Time machine_boot_time(const Clock& clock);

}  // namespace muster::agent

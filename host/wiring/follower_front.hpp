// What a host serves while another one leads: its own health, and everything else handed to the
// leader. Callers are authenticated by the leader, with what they sent: a follower need not be
// believed, and a request counts once in the leader's limits and windows.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/leadership/keeper.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/http/router.hpp"
#include "lib/http_client/client.hpp"

namespace muster {

class FollowerFront {
 public:
  struct Parts {
    std::function<leadership::View()> view;  // called on any thread
    std::string name;                        // of this host
    std::filesystem::path ca_file = {};      // empty: the system's certificates
    const Clock* clock = nullptr;            // borrowed
    Log log = {};
    std::size_t most_at_once = 64;  // requests that are handed on; more wait for a moment
    // Streams and long polls beside those; more are refused. Each has a thread.
    std::size_t most_long = 256;
    // How long a request waits for a host that leads.
    std::chrono::milliseconds patience = std::chrono::seconds(30);
  };
  explicit FollowerFront(Parts parts);
  // Waits for what is being handed on, which ends soon.
  ~FollowerFront();

  const http::Router& router() const { return router_; }

 private:
  void hand_on(http::Request&& request, const http::Reply& reply);
  void carry(const http::Request& request, const http::Reply& reply);
  // False: there are too many.
  bool hand_on_long(const std::function<void()>& work);
  http::Response readiness(const http::Request& request) const;
  std::unique_ptr<http_client::Client> take_client();
  void give_back(std::unique_ptr<http_client::Client> client);

  const Parts parts_;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<http_client::Client>> clients_;
  http::Router router_;
  std::atomic<std::size_t> long_running_ = 0;
  std::unique_ptr<http::WorkerThreads> threads_, long_threads_;
};

// What becomes of an answer that the leader did not give. Pure.
enum class Forwarding { answer, again };
// `sent`: the leader may have begun with the request.
Forwarding after_failure(std::string_view method, bool sent);

// The headers of a request or an answer that are for the next hop only are left out, and those that
// the next hop makes itself.
bool is_handed_on(std::string_view header);

}  // namespace muster

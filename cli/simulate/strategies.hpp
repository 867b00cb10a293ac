// Strategies as their plugins are, called directly in this process: a simulation needs no cells and
// no deadlines, and must not depend on threads.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <muster/channel.hpp>

namespace muster::cli {

struct GivenStrategy {
  std::string plugin;  // "strategy/classic"
  json::object config = {};
};

class Strategies {
 public:
  explicit Strategies(std::vector<std::filesystem::path> plugin_folders);
  ~Strategies();

  // Names of the plugins that are installed there, without "strategy/".
  std::vector<std::string> installed() const;

  // Maps the plugin's library into this process and leaves it there. IDEMPOTENT for one name.
  // `not_found` says where was looked.
  Result<void> load(const std::string& name, const GivenStrategy& strategy);

  const std::map<std::string, BiddingStrategy*>& by_name() const { return by_name_; }

 private:
  struct Loaded;
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::filesystem::path> libraries_;  // by plugin id
  std::map<std::string, std::unique_ptr<Loaded>> loaded_;
  std::map<std::string, BiddingStrategy*> by_name_;
};

}  // namespace muster::cli

// Where an account can launch, asked for seldom: one place that fails does not hide the others.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/provider_types.hpp>

namespace muster::cloud {

// A list that is asked for once an hour. THREADS: one at a time.
class RememberedList {
 public:
  using Ask = std::function<Result<std::vector<std::string>>()>;

  // `what` begins the log's sentence: "the regions of the account". An old answer is used while
  // there is no new one; fails only if there never was one.
  Result<std::vector<std::string>> get(const char* what, const Ask& ask, const Context& context);

 private:
  std::vector<std::string> known_;
  Time ask_again_{};
};

// The zones of regions. THREADS: one at a time.
class Places {
 public:
  // Called for several regions at a time.
  using Ask =
      std::function<Result<std::vector<std::string>>(const std::string& region, const Context&)>;

  Places(const char* zone_fact, Ask ask_for_zones)
      : zone_fact_(zone_fact), ask_(std::move(ask_for_zones)) {}

  // A placement for each zone, with the facts region and zone. A region that does not answer is as
  // it was before; one that never has is left out, logged and asked again soon. Fails only if no
  // region has ever answered.
  Result<Placements> placements(const std::vector<std::string>& regions, const Context& context);

 private:
  struct Zones {
    std::vector<std::string> names;
    Time ask_again{};
    std::optional<Error> error;
  };

  void refresh(const std::vector<std::string>& regions, const Context& context);

  const std::string zone_fact_;
  const Ask ask_;
  std::map<std::string, Zones> zones_;
};

}  // namespace muster::cloud

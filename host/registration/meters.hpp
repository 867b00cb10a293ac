// Metrics of registrations: how they end, and how long machines take to start.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/registration/claim.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster::registration {

struct MeterDescription {
  std::string_view name, description;
  std::vector<std::pair<std::string_view, std::string_view>> labels;  // and what they mean
  std::vector<double> buckets = {};                                   // none: a counter
};

std::span<const MeterDescription> meter_descriptions();

enum class RegistrationOutcome { registered, renewed, refused, limited, unavailable };
inline constexpr std::size_t registration_outcomes = 5;

// THREADS: any.
class Meters {
 public:
  void count(const std::string& provider_id, RegistrationOutcome outcome);
  // From the request for a machine to its start, and from there to its registration.
  void observe_start(const Claim& claim, double provision_seconds, double startup_seconds);

  std::int64_t counted(const std::string& provider_id, RegistrationOutcome outcome) const;

  void write(metrics::Page& page) const;

 private:
  struct OfProvider {
    std::array<std::int64_t, registration_outcomes> outcomes{};
  };
  struct Place {
    std::string worker_pool_id, provider_id, worker_group;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  struct Starts {
    metrics::Histogram provision, startup;
  };

  Starts& starts_of(const Claim& claim);
  static void observe(metrics::Histogram& histogram, const std::vector<double>& bounds,
                      double seconds);

  mutable std::mutex mutex_;
  std::map<std::string, OfProvider> providers_;
  std::map<Place, Starts> starts_;
};

}  // namespace muster::registration

// A strategy that asks an HTTP service, and classic when the service does not help.
#pragma once

#include <optional>

#include <muster/bidding_strategy.hpp>

#include "plugins/http_service/client.hpp"
#include "plugins/strategy/classic/selection.hpp"

namespace muster::external {

inline constexpr double default_timeout_seconds = 2;

struct Settings {
  http_service::Endpoint endpoint;
  double rest_seconds = 5;       // a service that is in trouble is left alone for so long
  classic::Preferences classic;  // for when classic decides
};

json::object config_schema();

// `invalid` names the key.
Result<Settings> read_settings(const json::object& config);

// Never fails because of the service: whatever goes wrong there, classic decides, and the reason
// begins with what went wrong. The same failure gives the same words, also while the service rests.
class Strategy final : public BiddingStrategy {
 public:
  explicit Strategy(Settings settings);

  Result<Size> size(const SizeRequest&, const Context&) override;
  Result<Selection> select(const SelectRequest&, const Context&) override;

 private:
  template <class Reply, class Request>
  Result<Reply> ask(const char* method, const Request& request, const Context& context);
  Result<std::string> body_of_answer(const char* method, const std::string& document,
                                     const Context& context);
  Error in_trouble(std::string what, const Context& context);
  std::string instead(const Error& failure) const;

  Settings settings_;
  http_service::Client client_;
  std::optional<Time> trouble_since_;
  std::string trouble_;
};

}  // namespace muster::external

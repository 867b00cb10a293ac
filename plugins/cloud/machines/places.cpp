#include "plugins/cloud/machines/places.hpp"

#include <algorithm>

#include "plugins/cloud/parallel.hpp"

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;
constexpr auto places_kept_for = 1h;
constexpr auto places_retry_after = 1min;

}  // namespace

Result<std::vector<std::string>> RememberedList::get(const char* what, const Ask& ask,
                                                     const Context& context) {
  if (context.now() < ask_again_) return known_;
  auto answer = ask();
  if (!answer) {
    if (known_.empty()) return answer.error();
    context.log(LogLevel::warning,
                std::string(what) + " are as they were an hour ago: " + answer.error().message);
    ask_again_ = context.now() + places_retry_after;
    return known_;
  }
  known_ = std::move(*answer);
  std::ranges::sort(known_);
  ask_again_ = context.now() + places_kept_for;
  return known_;
}

void Places::refresh(const std::vector<std::string>& regions, const Context& context) {
  std::vector<std::string> due;
  for (const std::string& region : regions)
    if (zones_[region].ask_again <= context.now()) due.push_back(region);
  std::vector<Result<std::vector<std::string>>> answers(due.size());
  in_parallel(due.size(), [&](std::size_t at) { answers[at] = ask_(due[at], context); });
  for (std::size_t at = 0; at < due.size(); ++at) {
    Zones& zones = zones_[due[at]];
    if (answers[at]) {
      zones = {std::move(*answers[at]), context.now() + places_kept_for, std::nullopt};
      std::ranges::sort(zones.names);
      continue;
    }
    zones.error = answers[at].error();
    zones.ask_again = context.now() + places_retry_after;
    context.log(LogLevel::warning,
                "region " + due[at] +
                    (zones.names.empty() ? " is left out" : " is taken as it was") +
                    ", for its zones are not known: " + zones.error->message);
  }
}

Result<Placements> Places::placements(const std::vector<std::string>& regions,
                                      const Context& context) {
  refresh(regions, context);
  Placements found;
  std::optional<Error> error;
  for (const std::string& region : regions) {
    const Zones& zones = zones_[region];
    if (zones.error) error = zones.error;
    for (const std::string& zone : zones.names)
      found.placements.push_back({{{"region", region}, {zone_fact_, zone}}});
  }
  if (found.placements.empty() && error) return *error;
  return found;
}

}  // namespace muster::cloud

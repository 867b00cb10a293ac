#include "host/fleet/model/sanitize.hpp"

#include <algorithm>
#include <cmath>

#include <muster/utf8.hpp>

namespace muster::fleet {
namespace {

constexpr std::size_t longest_text = 2000;
constexpr std::size_t longest_name = 1000;
constexpr std::size_t most_problems = 100;

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= longest_name && is_plain_text(text);
}

void sanitize(Error& error) {
  error.message = shortened(std::move(error.message));
  error.code = shortened(std::move(error.code));
  for (auto* part : {&error.scope.region, &error.scope.zone, &error.scope.instance_type,
                     &error.scope.launch_config_id})
    if (*part) *part = shortened(std::move(**part));
}

void sanitize(std::vector<Error>& problems) {
  if (problems.size() > most_problems) problems.resize(most_problems);
  for (Error& problem : problems) sanitize(problem);
}

void sanitize(Interruption& interruption) {
  interruption.at = clamp_time(interruption.at);
  interruption.reason = shortened(std::move(interruption.reason));
}

void sanitize(Instance& instance) {
  if (instance.interruption) sanitize(*instance.interruption);
}

void sanitize(Size& size) {
  size.capacity = std::clamp(size.capacity, -largest_capacity, largest_capacity);
  size.reason = shortened(std::move(size.reason));
}

void sanitize(Bids& bids) {
  for (Bid& bid : bids.bids)
    if (!std::isfinite(bid.reliability)) bid.reliability = 0;
  sanitize(bids.problems);
}

void sanitize(Selection& selection) {
  selection.reason = shortened(std::move(selection.reason));
}

void sanitize(Allocation& allocation) {
  for (Launch& launch : allocation.launches) {
    if (launch.error) sanitize(*launch.error);
    if (launch.instance) sanitize(*launch.instance);
  }
}

void sanitize(Listing& listing) {
  std::erase_if(listing.instances,
                [](const Instance& instance) { return !has_valid_names(instance); });
  for (Instance& instance : listing.instances) sanitize(instance);
  // The more of them are kept the less is judged: none is cut off.
  for (Error& problem : listing.problems) sanitize(problem);
}

void sanitize(Termination& termination) {
  for (Termination::Failure& failure : termination.failures) sanitize(failure.error);
}

void sanitize(Notices& notices) {
  for (Notices::Notice& notice : notices.notices) sanitize(notice.interruption);
  for (Notices::FailedLaunch& failed : notices.failed_launches) sanitize(failed.error);
}

}  // namespace

std::string shortened(std::string text) {
  if (!is_utf8(text)) text = valid_utf8(text);
  if (text.size() <= longest_text) return text;
  std::size_t end = longest_text;
  while (end > longest_text - 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  text.resize(end);
  text.shrink_to_fit();
  return text += " …";
}

std::int64_t clamp_capacity(std::int64_t capacity) {
  return std::clamp<std::int64_t>(capacity, 0, largest_capacity);
}

// Sums of thirds are a little more than the whole.
std::int64_t whole_capacity(double capacity) {
  return clamp_capacity(static_cast<std::int64_t>(std::ceil(std::min(capacity, 1e15) - 1e-6)));
}

Time clamp_time(Time time) {
  constexpr Time last = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
  return std::clamp(time, Time{}, last);
}

bool has_valid_names(const Instance& instance) {
  return is_name(instance.worker_id.str()) && is_name(instance.worker_group.str());
}

bool has_valid_names(const AnnouncedMachine& machine) {
  return is_name(machine.worker_pool_id.str()) && is_name(machine.worker_group.str()) &&
         is_name(machine.worker_id.str());
}

void sanitize(Answer& answer) {
  std::visit(
      [](auto& result) {
        if (result) return sanitize(*result);
        Error error = result.error();
        sanitize(error);
        result = std::move(error);
      },
      answer.result);
}

}  // namespace muster::fleet

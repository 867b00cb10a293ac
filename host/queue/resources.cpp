#include "host/queue/resources.hpp"

#include <algorithm>

#include <muster/utf8.hpp>

namespace muster::queue {

std::string in_words(const Resources& resources) {
  std::string text;
  for (const auto& [name, amount] : resources.named())
    text += (text.empty() ? "" : ", ") + std::to_string(amount) + " " + name;
  return text;
}

Result<void> check_name(std::string_view what, std::string_view name) {
  if (!name.empty() && name.size() <= longest_name && is_plain_text(name)) return {};
  return Error::invalid(std::string(what) + " must have 1 to " + std::to_string(longest_name) +
                        " printable characters");
}

Result<Resources> Resources::from(const std::map<std::string, std::int64_t>& named,
                                  std::int64_t active_task) {
  if (named.size() > most_resources)
    return Error::invalid("there are " + std::to_string(named.size()) + " resources; at most " +
                          std::to_string(most_resources) + " are possible");
  Resources resources{active_task, {}};
  for (const auto& [name, amount] : named) {
    if (const auto fine = check_name("the name of a resource", name); !fine) return fine.error();
    if (amount < 1 || amount > largest_amount)
      return Error::invalid("the resource " + name + " is " + std::to_string(amount) +
                            "; it must be from 1 to " + std::to_string(largest_amount));
    if (name == active_task_name)
      resources.active_task = amount;
    else
      resources.others.emplace_back(name, amount);
  }
  return resources;
}

std::map<std::string, std::int64_t> Resources::named() const {
  std::map<std::string, std::int64_t> all(others.begin(), others.end());
  all.emplace(active_task_name, active_task);
  return all;
}

std::int64_t Resources::amount_of(std::string_view name) const {
  const auto found = std::ranges::lower_bound(
      others, name, {}, [](const auto& other) { return std::string_view(other.first); });
  return found != others.end() && found->first == name ? found->second : 0;
}

bool Resources::has_room(const Resources& used, const Resources& needs) const {
  if (needs.active_task > active_task - used.active_task) return false;
  return std::ranges::all_of(needs.others, [&](const auto& need) {
    return need.second <= amount_of(need.first) - used.amount_of(need.first);
  });
}

double Resources::missing(const Resources& used, const Resources& needs) const {
  double most = 0;
  const auto look = [&](std::int64_t need, std::int64_t left) {
    left = std::max<std::int64_t>(left, 0);
    if (need > left)
      most = std::max(most, static_cast<double>(need - left) / static_cast<double>(need));
  };
  look(needs.active_task, active_task - used.active_task);
  for (const auto& [name, need] : needs.others) look(need, amount_of(name) - used.amount_of(name));
  return most;
}

double Resources::share_of(const Resources& some) const {
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return part <= 0    ? 0.0
           : whole <= 0 ? 1.0
                        : static_cast<double>(part) / static_cast<double>(whole);
  };
  double most = share(some.active_task, active_task);
  for (const auto& [name, amount] : some.others)
    most = std::max(most, share(amount, amount_of(name)));
  return most;
}

void Resources::add(const Resources& more, std::int64_t sign) {
  active_task += sign * more.active_task;
  for (const auto& [name, amount] : more.others) {
    const auto at =
        std::ranges::lower_bound(others, name, {}, [](const auto& other) { return other.first; });
    if (at == others.end() || at->first != name)
      others.insert(at, {name, sign * amount});
    else if ((at->second += sign * amount) == 0)
      others.erase(at);
  }
}

}  // namespace muster::queue

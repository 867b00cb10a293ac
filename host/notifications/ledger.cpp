#include "host/notifications/ledger.hpp"

#include <algorithm>

#include "host/notifications/routing.hpp"

namespace muster::notifications {
namespace {

using namespace std::chrono_literals;

constexpr auto resolved_after = 5min;  // it must stay away for so long
// Of pools and of their owners: teams make them. The operators' own are as many as they configure.
constexpr std::ptrdiff_t most_known = 5'000, most_owners = 1'000;
constexpr std::size_t most_pending = 100;
constexpr auto first_delay = 1min, longest_delay = 60min;
constexpr auto recipient_kept = 48h;  // without anything to tell

bool is_of_pool(std::string_view cause) {
  return cause == cause::pool_blocked || cause == cause::worker_errors;
}

bool is_owner(std::string_view recipient) {
  return recipient.starts_with(owner_prefix);
}

}  // namespace

void Ledger::observe(std::span<const Condition> conditions, const Settings& settings, Time now) {
  auto of_pools = std::ranges::count_if(
      known_, [](const auto& entry) { return is_of_pool(entry.first.first); });
  for (const Condition& condition : conditions) {
    const Key key{condition.cause, condition.subject};
    if (is_of_pool(condition.cause) && !known_.contains(key) && of_pools++ >= most_known) continue;
    auto [place, is_new] = known_.try_emplace(key);
    Known& known = place->second;
    if (is_new) known.since = now;
    known.condition = condition;
    known.seen = now;
    if (is_silenced(settings.silence, condition)) continue;
    const auto recipients = recipients_of(settings, condition);
    if (recipients.empty()) continue;
    if (known.told.empty()) {
      if (now - known.since < patience_of(settings, condition.cause)) continue;
      tell(known, ItemKind::began, recipients, now);
      known.told = recipients;
    } else if (now - known.told_at >= settings.remind_every) {
      tell(known, ItemKind::lasts, recipients, now);
    }
  }
  for (auto at = known_.begin(); at != known_.end();) {
    Known& known = at->second;
    const bool lasts =
        known.seen == now || (!known.told.empty() && now - known.seen < resolved_after);
    if (!lasts && !is_silenced(settings.silence, known.condition))
      tell(known, ItemKind::resolved, known.told, now);
    at = lasts ? std::next(at) : known_.erase(at);
  }
  forget_idle_recipients(now);
}

void Ledger::tell(Known& known, ItemKind kind, const std::vector<std::string>& recipients,
                  Time now) {
  const auto has_room = [&] {
    return std::ranges::count_if(
               recipients_, [](const auto& entry) { return is_owner(entry.first); }) < most_owners;
  };
  for (const std::string& id : recipients) {
    if (is_owner(id) && !recipients_.contains(id) && !has_room()) {
      ++dropped_;
      continue;
    }
    add(recipients_[id], {kind, known.condition.cause, known.condition.subject,
                          known.condition.text, known.since, now});
  }
  known.told_at = now;
}

// A condition has one line in a message: its newest. What ended before anybody was told of it has
// none.
void Ledger::add(Recipient& recipient, Item item) {
  const auto same = std::ranges::find_if(recipient.pending, [&](const Item& pending) {
    return pending.cause == item.cause && pending.subject == item.subject;
  });
  if (same != recipient.pending.end()) {
    const bool is_unheard = same->kind == ItemKind::began && item.kind == ItemKind::resolved;
    if (item.kind == ItemKind::lasts) {  // it waits no less long for being reminded of
      item.kind = same->kind;
      item.at = same->at;
    }
    recipient.pending.erase(same);
    if (is_unheard) return;
  }
  if (recipient.pending.size() >= most_pending)
    ++recipient.left_out;
  else
    recipient.pending.push_back(std::move(item));
}

std::vector<Message> Ledger::due(const Settings& settings, Time now) {
  while (!sent_.empty() && now - sent_.front() >= 1h) sent_.pop_front();
  std::vector<Message> messages;
  for (auto& [id, recipient] : recipients_) {
    if (recipient.pending.empty() || now < recipient.not_before ||
        (recipient.last_sent != Time{} && now < recipient.last_sent + settings.digest_every))
      continue;
    if (is_owner(id)) {
      if (sent_.size() >= settings.most_per_hour) continue;  // they wait, and collect
      sent_.push_back(now);
    }
    messages.push_back({id, recipient.pending, recipient.left_out});
  }
  return messages;
}

void Ledger::delivered(const std::string& id, Time now, const std::string& problem) {
  Recipient& recipient = recipients_[id];
  recipient.pending.clear();
  recipient.left_out = 0;
  recipient.last_sent = now;
  recipient.not_before = Time{};
  ++recipient.sent;
  recipient.failures = 0;
  recipient.problem = problem;
}

void Ledger::failed(const std::string& id, const std::string& problem, const Settings& settings,
                    Time now) {
  Recipient& recipient = recipients_[id];
  recipient.problem = problem;
  const auto doubled = std::min<std::int64_t>(recipient.failures++, 10);
  recipient.not_before =
      now + std::min<std::chrono::minutes>(first_delay * (1 << doubled), longest_delay);
  const std::size_t before = recipient.pending.size();
  std::erase_if(recipient.pending,
                [&](const Item& item) { return now - item.at >= settings.give_up_after; });
  dropped_ += static_cast<std::int64_t>(before - recipient.pending.size());
}

void Ledger::forget_idle_recipients(Time now) {
  std::erase_if(recipients_, [&](const auto& entry) {
    return entry.second.pending.empty() && now - entry.second.last_sent >= recipient_kept;
  });
}

}  // namespace muster::notifications

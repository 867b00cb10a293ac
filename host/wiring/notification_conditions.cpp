#include "host/wiring/notification_conditions.hpp"

#include <muster/codec.hpp>
#include <muster/plural.hpp>

namespace muster {
namespace {

using namespace std::chrono_literals;
namespace cause = notifications::cause;

constexpr auto errors_last = 15min;  // after the newest one
constexpr std::size_t most_problems = 5, most_events_at_once = 10'000;

std::string first_lines(const std::vector<std::string>& problems) {
  std::string text;
  for (std::size_t at = 0; at < std::min(most_problems, problems.size()); ++at)
    text += (at == 0 ? "" : "\n") + problems[at];
  if (problems.size() > most_problems)
    text += "\nand " + std::to_string(problems.size() - most_problems) + " more";
  return text;
}

bool is_refused(const pools::Status& status) {
  return (!status.refused_revision.empty() &&
          (!status.problems.empty() || !status.held_files.empty())) ||
         !status.source_error.empty() || status.held_back;
}

std::string why_refused(const pools::Status& status) {
  if (!status.source_error.empty()) return status.source_error;
  if (status.held_back)
    return "worker configurations are gone, and the last ones stay in force. Put them back, or "
           "accept it: muster config accept-empty";
  std::vector<std::string> held;
  for (const pools::HeldFile& file : status.held_files) held.push_back(file.file);
  return count_of(status.problems.size(), "problem") +
         " in the newest worker configurations; what served last stays in force" +
         (held.empty() ? "" : " for\n" + first_lines(held)) + "\nSee: muster status";
}

}  // namespace

NotificationConditions::NotificationConditions(Parts parts) : parts_(std::move(parts)) {
  if (parts_.fleet) {
    const events::EventLog& log = parts_.fleet->events().log();
    cursor_.emplace(log, log.newest());
  }
}

std::vector<notifications::Condition> NotificationConditions::observe() {
  Conditions all;
  add_host(all);
  add_expiries(all);
  if (!parts_.fleet) return all;
  add_store(all);
  count_errors();
  add_fleet(all);
  return all;
}

void NotificationConditions::add_host(Conditions& all) const {
  const auto status = parts_.status->get();
  if (!status->configuration_problems.empty())
    all.push_back(
        {cause::configuration_refused, "host",
         "The host keeps its last configuration: " + first_lines(status->configuration_problems)});
  if (!parts_.fleet) all.push_back({cause::store_read_only, "host", parts_.no_fleet});
}

void NotificationConditions::add_expiries(Conditions& all) const {
  const Time now = parts_.clock->now();
  const Time soon = now + parts_.status->get()->configuration->notifications.expires_within;
  const auto add = [&](const char* why, const std::string& subject, const std::string& what,
                       Time end) {
    if (end <= soon)
      all.push_back({why, subject,
                     what + (end <= now ? " has expired on " : " expires on ") + format_time(end)});
  };
  if (const auto end = parts_.certificate_expires())
    add(cause::certificate_expires, "host", "The certificate of the host", *end);
  for (const auth::Client& client : parts_.auth->authority().configured())
    if (client.expires && !client.disabled)
      add(cause::credential_expires, client.client_id,
          "The client " + client.client_id + " of the host's configuration", *client.expires);
  const auth::ClientStore* book = parts_.auth->book();
  if (!book) return;
  for (const auth::ClientRow& row : book->list())
    if (row.expires && !row.disabled)
      add(cause::credential_expires, row.client_id, "The client " + row.client_id, *row.expires);
}

void NotificationConditions::add_store(Conditions& all) const {
  const store::Health health = parts_.fleet->fleet().store_health();
  if (!health.ok)
    all.push_back({cause::store_read_only, "host", "The host is read-only: " + health.sentence});
  const std::size_t aside = parts_.fleet->store().set_aside().size();
  if (aside > 0)
    all.push_back({cause::store_needs_attention, "set-aside",
                   count_of(aside, "row") +
                       " of the store cannot be read and nothing acts on them; see: muster "
                       "set-aside"});
  if (!health.damage.empty())
    all.push_back({cause::store_needs_attention, "damage", health.damage});
  if (const auto status = parts_.fleet->configuration_status(); status && is_refused(*status))
    all.push_back({cause::configuration_refused, status->source, why_refused(*status)});
}

// Errors are events; those of pools that are gone are forgotten with the others.
void NotificationConditions::count_errors() {
  for (std::size_t read = 0; read < most_events_at_once; ++read) {
    const auto next = cursor_->peek();
    if (next == events::Cursor::Next::older) {
      if (!cursor_->load()) break;
      continue;
    }
    if (next == events::Cursor::Next::none) break;
    const events::Event& event = cursor_->event();
    if (event.kind == "worker-error") {
      PoolErrors& errors = errors_[event.worker_pool_id];
      ++errors.count;
      errors.newest = event.at;
      errors.text = event.text;
    }
    cursor_->advance();
  }
  const Time now = parts_.clock->now();
  std::erase_if(errors_,
                [&](const auto& entry) { return now - entry.second.newest > errors_last; });
}

void NotificationConditions::add_fleet(Conditions& all) {
  parts_.fleet->fleet().read([&](const fleet::Fleet& fleet, fleet::Now) {
    for (const fleet::ProviderState& provider : fleet.providers())
      if (!provider.up)
        all.push_back({cause::provider_down, provider.id.str(),
                       "The provider " + provider.id.str() +
                           " does not answer, and nothing is launched there; see: muster "
                           "providers"});
    for (const fleet::Pool& pool : fleet.pools()) {
      if (pool.removed() || !pool.spec) continue;
      const std::string owner = pool.spec->email_on_error ? pool.spec->owner : "";
      const std::string& id = pool.id.str();
      if (pool.verdict.kind == verdict::Kind::blocked)
        all.push_back(
            {cause::pool_blocked, id,
             "The pool " + id + " gets no workers: " + pool.verdict.text + " See: muster why " + id,
             owner});
      const auto errors = errors_.find(pool.id);
      if (errors != errors_.end())
        all.push_back({cause::worker_errors, id,
                       count_of(errors->second.count, "error") + " of workers of the pool " + id +
                           "; the newest: " + errors->second.text,
                       owner});
    }
  });
}

}  // namespace muster

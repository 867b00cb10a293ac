#include "host/events/webhook.hpp"

#include <algorithm>

#include "host/store/row.hpp"

namespace muster::events {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr milliseconds first_retry = 1s, longest_retry = 5min, store_retry = 1s;
// How far the position may lag behind events that the filter turns away.
constexpr std::int64_t most_skipped = 1000;
constexpr milliseconds skipped_saved_every = 60s;

Filter filter_of(const config::WebhookSettings& settings) {
  return {
      settings.kinds, settings.worker_pool_id, settings.provider_id, settings.launch_config_id, {}};
}

bool is_good(const WebhookAnswer& answer) {
  return answer.status >= 200 && answer.status < 300;
}

std::string in_words(const WebhookAnswer& answer) {
  if (answer.status == 0) return answer.problem;
  std::string text = "it answered " + std::to_string(answer.status);
  if (answer.status >= 300 && answer.status < 400)
    text += "; redirects are not followed: configure the address that it names";
  return text;
}

}  // namespace

bool is_final_refusal(long status) {
  return status >= 400 && status < 500 && status != 408 && status != 429;
}

Webhook::Webhook(Parts parts, std::int64_t delivered)
    : parts_(std::move(parts)),
      consumer_(consumer_of(parts_.settings.name)),
      filter_(filter_of(parts_.settings)),
      cursor_(*parts_.log, delivered),
      saved_(delivered),
      skipped_saved_at_(parts_.clock->steady()) {
  status_.name = parts_.settings.name;
  status_.url = parts_.settings.url;
  status_.delivered = delivered;
}

SteadyTime Webhook::step() {
  if (saving_->busy) return SteadyTime::max();
  if (const auto number = next_retry()) return retry(*number);
  if (parts_.clock->steady() < not_before_) return not_before_;
  return next_event();
}

SteadyTime Webhook::next_event() {
  const SteadyTime now = parts_.clock->steady();
  for (int checked = 0; checked < 256;) {
    const Cursor::Next next = cursor_.peek();
    if (next == Cursor::Next::none) {
      if (cursor_.after() == saved_) return SteadyTime::max();
      if (now < skipped_saved_at_ + skipped_saved_every && cursor_.after() - saved_ < most_skipped)
        return skipped_saved_at_ + skipped_saved_every;
      finish({});
      return SteadyTime::max();
    }
    if (next == Cursor::Next::older) {
      const auto loaded = cursor_.load();
      if (!loaded) {
        note("the events cannot be read: " + loaded.error().message, store_retry);
        return not_before_;
      }
      if (cursor_.lost_some()) {
        const std::lock_guard guard(mutex_);
        ++status_.lost;
        parts_.log_lines.warning("events that a webhook had not accepted were dropped",
                                 {{"webhook", status_.name}, {"goesOnAfter", cursor_.after()}});
      }
      continue;
    }
    if (filter_.passes(cursor_.event())) return attempt();
    cursor_.advance();
    ++checked;
  }
  return now;  // others may have something to say in between
}

SteadyTime Webhook::attempt() {
  const Event& event = cursor_.event();
  ++attempts_;
  const WebhookAnswer answer = parts_.transport(
      {event.number, event.kind, std::string(cursor_.block().json(cursor_.index()))});
  if (answer.stopped) return SteadyTime::max();
  if (!is_good(answer)) return failed(answer, is_final_refusal(answer.status));
  failures_ = 0;
  {
    const std::lock_guard guard(mutex_);
    ++status_.sent;
    status_.problem.clear();
    status_.problem_at.reset();
  }
  cursor_.advance();
  finish({});
  return SteadyTime::max();
}

SteadyTime Webhook::failed(const WebhookAnswer& answer, bool for_good) {
  ++failures_;
  {
    const std::lock_guard guard(mutex_);
    ++status_.failed;
    status_.attempts = attempts_;
  }
  const Time made = cursor_.event().at;
  const Time ends = parts_.deadline ? parts_.deadline(made, parts_.settings.give_up_after)
                                    : made + parts_.settings.give_up_after;
  if (for_good || parts_.clock->now() >= ends) {
    give_up(answer);
    return SteadyTime::max();
  }
  milliseconds delay = backoff();
  if (answer.retry_after) delay = std::max<milliseconds>(delay, *answer.retry_after);
  note(in_words(answer), delay);
  return not_before_;
}

void Webhook::give_up(const WebhookAnswer& answer) {
  const Event& event = cursor_.event();
  DeadLetterRow letter{consumer_, event.number,     parts_.clock->now(),
                       attempts_, in_words(answer), {}};
  if (auto document = json::parse_object(cursor_.block().json(cursor_.index())))
    letter.event = std::move(*document);
  note(letter.problem, std::nullopt);
  parts_.log_lines.warning(
      "a webhook did not accept an event, which is a dead letter now",
      {{"webhook", parts_.settings.name}, {"event", event.number}, {"problem", letter.problem}});
  {
    const std::lock_guard guard(mutex_);
    ++status_.given_up;
  }
  cursor_.advance();
  finish({store::put(letter)});
}

// The next event is not sent before this one is known to be durable: a host that is killed repeats
// one event at most.
void Webhook::finish(std::vector<store::Change> more) {
  attempts_ = 0;
  not_before_ = {};
  saved_ = cursor_.after();
  skipped_saved_at_ = parts_.clock->steady();
  {
    const std::lock_guard guard(mutex_);
    status_.delivered = saved_;
    status_.attempts = 0;
    status_.retry_at.reset();
  }
  saving_->busy = true;
  parts_.deliveries->save(consumer_, saved_, std::move(more),
                          [saving = saving_, wake = parts_.wake] {
                            saving->busy = false;
                            wake();
                          });
}

void Webhook::note(const std::string& problem, std::optional<milliseconds> delay) {
  const std::lock_guard guard(mutex_);
  if (status_.problem != problem)
    parts_.log_lines.warning("a webhook does not accept events",
                             {{"webhook", status_.name}, {"problem", problem}});
  status_.problem = problem;
  status_.problem_at = parts_.clock->now();
  if (!delay) return;
  status_.retry_at = parts_.clock->now() + *delay;
  not_before_ = parts_.clock->steady() + *delay;
}

milliseconds Webhook::backoff() const {
  const int doubled = std::min(failures_ - 1, 16);
  const milliseconds longest = std::min<milliseconds>(longest_retry, first_retry * (1 << doubled));
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(longest.count()) *
                                                (0.5 + parts_.random() / 2)));
}

void Webhook::retry_dead_letter(std::int64_t number) {
  {
    const std::lock_guard guard(mutex_);
    retries_.insert(number);
  }
  parts_.wake();
}

std::optional<std::int64_t> Webhook::next_retry() {
  const std::lock_guard guard(mutex_);
  if (retries_.empty()) return std::nullopt;
  return retries_.extract(retries_.begin()).value();
}

SteadyTime Webhook::retry(std::int64_t number) {
  const SteadyTime again = parts_.clock->steady();
  auto found = parts_.deliveries->dead_letter(consumer_, number);
  if (!found || !*found) return again;  // somebody deleted it
  DeadLetterRow& letter = **found;
  const auto* kind = letter.event.if_contains("kind");
  const WebhookAnswer answer =
      parts_.transport({number, kind && kind->is_string() ? std::string(kind->get_string()) : "",
                        json::write(json::value(letter.event)), true});
  if (answer.stopped) return SteadyTime::max();
  saving_->busy = true;
  const auto durable = [saving = saving_, wake = parts_.wake] {
    saving->busy = false;
    wake();
  };
  if (is_good(answer)) {
    parts_.deliveries->erase(consumer_, number, durable);
  } else {
    ++letter.attempts;
    letter.problem = in_words(answer);
    parts_.deliveries->put(letter, durable);
  }
  return SteadyTime::max();
}

WebhookStatus Webhook::status() const {
  const std::lock_guard guard(mutex_);
  WebhookStatus status = status_;
  status.lag = std::max<std::int64_t>(0, parts_.log->newest() - status.delivered);
  return status;
}

}  // namespace muster::events

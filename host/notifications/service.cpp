#include "host/notifications/service.hpp"

#include <muster/codec.hpp>

#include "host/notifications/routing.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::notifications {
namespace {

using namespace std::chrono_literals;

constexpr auto between_looks = 10s;
constexpr std::size_t largest_file = std::size_t{64} << 20;

std::string channel_of(const std::string& recipient) {
  return recipient.substr(0, recipient.find(':'));
}

Ledger read_ledger(const std::filesystem::path& file, Time now, const Log& log) {
  const auto text = read_file(file, largest_file);
  if (!text) {
    if (text.error().error_class != ErrorClass::not_found)
      log.warning("what was notified cannot be read, so it may be sent again",
                  {{"file", file.string()}, {"problem", text.error().message}});
    return {};
  }
  const auto document = json::parse_object(*text);
  if (document) return Ledger::from_json(*document, now);
  log.warning("what was notified cannot be read, so it may be sent again",
              {{"file", file.string()}, {"problem", document.error().message}});
  return {};
}

}  // namespace

Service::Service(Parts parts, config::NotificationSettings settings)
    : parts_(std::move(parts)),
      settings_(std::move(settings)),
      ledger_(read_ledger(parts_.file, parts_.clock->now(), parts_.log)) {
  thread_ = std::make_unique<events::StepThread>(
      std::make_shared<events::Waker>(),
      events::StepThread::Work{.step = [this] { return step(); },
                               .interrupt = [this] { stop_ = true; }});
}

Service::~Service() {
  stop();
}

void Service::stop() {
  thread_->stop();
}

void Service::configure(config::NotificationSettings settings) {
  const std::lock_guard guard(mutex_);
  settings_ = std::move(settings);
}

SteadyTime Service::step() {
  const std::vector<Condition> conditions = parts_.observe();
  config::NotificationSettings settings;
  {
    const std::lock_guard guard(mutex_);
    settings = settings_;
    ledger_.observe(conditions, settings, parts_.clock->now());
  }
  save();
  send_what_is_due(settings);
  return parts_.clock->steady() + between_looks;
}

// What was sent is saved before the next one is sent: a host that is killed repeats one at most.
void Service::send_what_is_due(const config::NotificationSettings& settings) {
  std::vector<Message> messages;
  {
    const std::lock_guard guard(mutex_);
    messages = ledger_.due(settings, parts_.clock->now());
  }
  const Sender send = make_sender(settings, parts_.url, *parts_.clock, stop_);
  for (const Message& message : messages) {
    if (stop_) return;
    const Result<std::string> sent = send(message);
    if (stop_ && !sent) return;  // that was no attempt
    {
      const std::lock_guard guard(mutex_);
      const Time now = parts_.clock->now();
      if (sent)
        ledger_.delivered(message.recipient, now, *sent);
      else
        ledger_.failed(message.recipient, sent.error().message, settings, now);
      ++(sent ? sent_ : failures_)[channel_of(message.recipient)];
    }
    if (!sent)
      parts_.log.warning("a notification could not be sent",
                         {{"recipient", message.recipient}, {"problem", sent.error().message}});
    else if (!sent->empty())
      parts_.log.warning("a notification did not reach everybody",
                         {{"recipient", message.recipient}, {"problem", *sent}});
    save();
  }
}

void Service::save() {
  std::string text;
  {
    const std::lock_guard guard(mutex_);
    text = json::write(ledger_.to_json());
  }
  if (text == saved_) return;
  const auto written = write_file_atomically(parts_.file, text, 0600);
  if (written)
    saved_ = std::move(text);
  else if (!std::exchange(cannot_save_, true))
    parts_.log.warning("what was notified cannot be kept, so a host that starts again repeats it",
                       {{"problem", written.error().message}});
  if (written) cannot_save_ = false;
}

Numbers Service::numbers() const {
  const std::lock_guard guard(mutex_);
  Numbers numbers{.active = {}, .sent = sent_, .failures = failures_};
  for (const auto& [key, known] : ledger_.known()) ++numbers.active[key.first];
  for (const auto& [id, recipient] : ledger_.recipients())
    numbers.pending += static_cast<std::int64_t>(recipient.pending.size());
  numbers.dropped = ledger_.dropped();
  return numbers;
}

json::object Service::status_json() const {
  const std::lock_guard guard(mutex_);
  json::array conditions, recipients;
  for (const auto& [key, known] : ledger_.known())
    conditions.push_back(
        json::object{{"cause", key.first},
                     {"subject", key.second},
                     {"text", known.condition.text},
                     {"since", format_time(known.since)},
                     {"told", codec::to_value(known.told)},
                     {"silenced", is_silenced(settings_.silence, known.condition)}});
  for (const auto& [id, recipient] : ledger_.recipients()) {
    json::object document{{"recipient", id},
                          {"pending", recipient.pending.size()},
                          {"sent", recipient.sent},
                          {"failures", recipient.failures}};
    if (!recipient.problem.empty()) {
      document["problem"] = recipient.problem;
      if (recipient.failures > 0) document["retryAt"] = format_time(recipient.not_before);
    }
    recipients.push_back(std::move(document));
  }
  return {{"conditions", std::move(conditions)},
          {"recipients", std::move(recipients)},
          {"dropped", ledger_.dropped()}};
}

}  // namespace muster::notifications

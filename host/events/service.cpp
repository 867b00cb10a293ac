#include "host/events/service.hpp"

#include <algorithm>
#include <random>

#include "host/events/running.hpp"
#include "host/events/webhook_transport.hpp"

namespace muster::events {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t reader_threads = 1, longest_line = 8192;
constexpr auto housekeeping_every = 1h;

// For the jitter of retries, where nobody gains by guessing it. Used by one thread.
std::function<double()> randomness() {
  return
      [engine = std::make_shared<std::minstd_rand>(std::random_device{}()),
       spread = std::uniform_real_distribution<double>(0, 1)]() mutable { return spread(*engine); };
}

}  // namespace

Result<std::unique_ptr<Service>> Service::make(Parts parts) {
  std::unique_ptr<Service> made(new Service(std::move(parts)));
  if (const auto loaded = made->log_.load(made->parts_.newest); !loaded) return loaded.error();
  return made;
}

Service::Service(Parts parts)
    : parts_(std::move(parts)),
      log_(*parts_.store, parts_.configuration->events.in_memory),
      book_(*parts_.store, *parts_.clock,
            [this](store::Batch batch, std::function<void()> durable) {
              return submit_ && submit_(std::move(batch), std::move(durable));
            }),
      readers_(reader_threads, longest_line, parts_.log) {
  most_streams_of_client_ = parts_.configuration->events.most_streams_of_client;
  log_.on_publish([this] {
    const std::lock_guard guard(mutex_);
    for (const auto& [name, running] : webhooks_) running->thread->wake();
    if (amqp_) amqp_->thread->wake();
  });
}

Service::~Service() {
  stop();
}

void Service::on_durable(const std::vector<Event>& events) {
  log_.publish(events);
}

Result<void> Service::start(DeliveryStore::Submit submit) {
  const std::lock_guard guard(reconfiguring_);
  submit_ = std::move(submit);
  const auto positions = book_.positions();
  if (!positions) return positions.error();
  std::vector<std::string> consumers;
  for (const config::WebhookSettings& settings : parts_.configuration->webhooks) {
    consumers.push_back(Webhook::consumer_of(settings.name));
    start_webhook(settings, begin_at(consumers.back(), *positions));
  }
  if (parts_.configuration->amqp) {
    consumers.emplace_back(AmqpPublisher::consumer);
    start_amqp(*parts_.configuration->amqp, begin_at(consumers.back(), *positions));
  }
  // One that is configured again some day begins with what is new then.
  for (const auto& [consumer, delivered] : *positions)
    if (std::find(consumers.begin(), consumers.end(), consumer) == consumers.end())
      book_.forget(consumer);
  start_housekeeping();
  return {};
}

// Who is new begins with the newest event, and that is remembered at once.
std::int64_t Service::begin_at(const std::string& consumer,
                               const std::map<std::string, std::int64_t>& positions) {
  const std::int64_t newest = log_.newest();
  const auto found = positions.find(consumer);
  if (found != positions.end()) return std::min(found->second, newest);
  book_.save(consumer, newest, {}, {});
  return newest;
}

void Service::start_webhook(const config::WebhookSettings& settings, std::int64_t after) {
  auto running = std::make_shared<RunningWebhook>();
  const auto waker = std::make_shared<Waker>();
  running->settings = settings;
  running->webhook = std::make_unique<Webhook>(
      Webhook::Parts{settings, &log_, &book_, parts_.clock.get(),
                     http_transport(settings, *parts_.clock, running->stop), randomness(),
                     [waker] { waker->wake(); }, parts_.log, parts_.deadline},
      after);
  running->thread = std::make_unique<StepThread>(
      waker,
      StepThread::Work{.step = [webhook = running->webhook.get()] { return webhook->step(); },
                       .interrupt = [running = running.get()] { running->stop = true; }});
  const std::lock_guard guard(mutex_);
  waker->wake();  // for what was published before it could be woken
  webhooks_[settings.name] = std::move(running);
}

void Service::start_amqp(const config::AmqpSettings& settings, std::int64_t after) {
  auto running = std::make_shared<RunningAmqp>();
  const auto waker = std::make_shared<Waker>();
  running->settings = settings;
  running->publisher = std::make_unique<AmqpPublisher>(
      AmqpPublisher::Parts{settings, &log_, &book_, parts_.clock.get(), rabbitmq_link(settings),
                           randomness(), [waker] { waker->wake(); }, parts_.log},
      after);
  AmqpPublisher* const publisher = running->publisher.get();
  running->thread = std::make_unique<StepThread>(
      waker, StepThread::Work{[publisher] { return publisher->step(); },
                              [publisher] { return publisher->descriptor(); },
                              [publisher] { publisher->interrupt(); },
                              [publisher] { publisher->close(); }});
  const std::lock_guard guard(mutex_);
  waker->wake();  // for what was published before it could be woken
  amqp_ = std::move(running);
}

void Service::start_housekeeping() {
  housekeeping_ = std::make_unique<StepThread>(
      std::make_shared<Waker>(), StepThread::Work{.step = [this] {
        book_.forget_dead_letters_before(parts_.clock->now() -
                                         parts_.configuration->events.dead_letters_kept);
        return parts_.clock->steady() + housekeeping_every;
      }});
}

void Service::reconfigure(const config::HostConfiguration& configuration) {
  const std::lock_guard guard(reconfiguring_);
  most_streams_of_client_ = configuration.events.most_streams_of_client;
  if (stopped_ || !submit_) return;
  reconfigure_webhooks(configuration.webhooks);
  reconfigure_amqp(configuration.amqp);
}

void Service::reconfigure_webhooks(const std::vector<config::WebhookSettings>& wanted) {
  std::map<std::string, const config::WebhookSettings*> by_name;
  for (const config::WebhookSettings& settings : wanted) by_name[settings.name] = &settings;
  std::map<std::string, std::shared_ptr<RunningWebhook>> ended;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [name, running] : webhooks_)
      if (!by_name.contains(name) || !(*by_name[name] == running->settings)) ended[name] = running;
    for (const auto& [name, running] : ended) webhooks_.erase(name);
  }
  for (const auto& [name, running] : ended) {
    running->thread->stop();
    if (!by_name.contains(name)) book_.forget(Webhook::consumer_of(name));
  }
  for (const config::WebhookSettings& settings : wanted) {
    if (find_webhook(settings.name)) continue;
    const auto before = ended.find(settings.name);
    start_webhook(settings, before == ended.end()
                                ? begin_at(Webhook::consumer_of(settings.name), {})
                                : before->second->webhook->status().delivered);
  }
}

void Service::reconfigure_amqp(const std::optional<config::AmqpSettings>& wanted) {
  std::shared_ptr<RunningAmqp> ended;
  {
    const std::lock_guard guard(mutex_);
    if (amqp_ && wanted && amqp_->settings == *wanted) return;
    ended = std::exchange(amqp_, nullptr);
  }
  if (ended) ended->thread->stop();
  if (ended && !wanted) book_.forget(AmqpPublisher::consumer);
  if (wanted)
    start_amqp(*wanted, ended ? ended->publisher->status().delivered
                              : begin_at(AmqpPublisher::consumer, {}));
}

void Service::stop() {
  const std::lock_guard guard(reconfiguring_);
  stopped_ = true;
  decltype(webhooks_) webhooks;
  std::shared_ptr<RunningAmqp> amqp;
  {
    const std::lock_guard lock(mutex_);
    webhooks.swap(webhooks_);
    amqp.swap(amqp_);
  }
  if (housekeeping_) housekeeping_->stop();
  for (const auto& [name, running] : webhooks) running->stop = true;  // all at once
  for (const auto& [name, running] : webhooks) running->thread->stop();
  if (amqp) amqp->thread->stop();
}

std::shared_ptr<Service::RunningWebhook> Service::find_webhook(const std::string& name) const {
  const std::lock_guard guard(mutex_);
  const auto found = webhooks_.find(name);
  return found == webhooks_.end() ? nullptr : found->second;
}

Numbers Service::numbers() const {
  Numbers numbers{.newest = log_.newest(), .listeners = listeners_};
  const std::lock_guard guard(mutex_);
  for (const auto& [name, running] : webhooks_)
    numbers.webhooks.push_back(running->webhook->status());
  if (amqp_) numbers.amqp = amqp_->publisher->status();
  return numbers;
}

// -------------------------------------------------------------------------------------------------
// For the API

Result<Tally::Seat> Service::open_seat(const std::string& client, const std::string& what) {
  const std::int64_t most = most_streams_of_client_;
  if (Tally::Seat seat = seats_.open(what + " " + client, most)) return seat;
  return Error::throttle("client " + client + " listens to " + std::to_string(most) +
                         " streams of " + what +
                         ", which is the limit (events.mostStreamsOfClient of the host's "
                         "configuration)");
}

Result<std::shared_ptr<http::Stream>> Service::open_stream(const EventQuery& query,
                                                           const std::string& client) {
  auto seat = open_seat(client, "events");
  if (!seat) return seat.error();
  const std::int64_t newest = log_.newest();
  return std::shared_ptr<http::Stream>(std::make_shared<EventStream>(
      StreamParts{&log_, &readers_, parts_.clock.get(), &listeners_, {}, std::move(*seat)},
      query.filter, query.start(newest, newest)));
}

std::optional<WebhookStatus> Service::webhook_status(const std::string& name) const {
  const auto running = find_webhook(name);
  if (!running) return std::nullopt;
  return running->webhook->status();
}

Result<std::vector<DeadLetterRow>> Service::dead_letters(const std::string& webhook,
                                                         std::int64_t after,
                                                         std::size_t limit) const {
  return book_.dead_letters(Webhook::consumer_of(webhook), after, limit);
}

Result<std::optional<DeadLetterRow>> Service::dead_letter(const std::string& webhook,
                                                          std::int64_t number) const {
  return book_.dead_letter(Webhook::consumer_of(webhook), number);
}

bool Service::retry_dead_letter(const std::string& webhook, std::int64_t number) {
  const auto running = find_webhook(webhook);
  if (running) running->webhook->retry_dead_letter(number);
  return running != nullptr;
}

bool Service::erase_dead_letter(const std::string& webhook, std::int64_t number,
                                std::function<void()> durable) {
  return book_.erase(Webhook::consumer_of(webhook), number, std::move(durable));
}

}  // namespace muster::events

#include "plugins/cloud/session.hpp"

#include <algorithm>

#include "plugins/cloud/failures.hpp"

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Next = Reading::Next;

std::string in_words(milliseconds time) {
  return time.count() % 1000 == 0 ? std::to_string(time.count() / 1000) + " s"
                                  : std::to_string(time.count()) + " ms";
}

// What a missing answer allows. A certificate that is not trusted will not be so in a second.
Next next_after(const http_client::Failure& failure) {
  using Kind = http_client::Failure::Kind;
  switch (failure.kind) {
    case Kind::name_unknown:
    case Kind::no_connection:
    case Kind::no_answer:
    case Kind::cut_off:
    case Kind::timed_out:
      return Next::repeat;
    default:
      return Next::done;
  }
}

}  // namespace

Reading::Next next_after(const ErrorRow* row, const Error& error) {
  if (row && row->refused) return Next::refused;
  if (error.error_class == ErrorClass::throttle) return Next::slow_down;
  return error.error_class == ErrorClass::transient ? Next::repeat : Next::done;
}

std::string advice_for(int status) {
  if (status >= 300 && status < 400)
    return "; a redirect is not followed: correct the provider's endpoints";
  if (status == 407) return "; the proxy wants a login: correct the provider's proxy";
  return "; is there a proxy or a login page in between? See the provider's endpoints and proxy";
}

milliseconds time_for(milliseconds configured, milliseconds time_left) {
  const auto margin = std::clamp<milliseconds>(time_left / 10, 20ms, 500ms);
  return std::min(configured, time_left - margin);
}

// What is known between two attempts.
struct Session::Run {
  const Exchange& exchange;
  const Context& context;
  int attempts = 0;
  bool clock_was_set = false, credentials_were_dropped = false;

  // Of the last attempt.
  http_client::Answer answer = http_client::Response{};
  Reading reading = {};
  bool had_no_effect = false;
  milliseconds signed_offset{0};
};

Session::Session(std::shared_ptr<Transport> transport, SessionSettings settings, Timing timing)
    : transport_(std::move(transport)), settings_(settings), timing_(std::move(timing)) {}

hawk::ServerClock& Session::clock_of(const std::string& server) {
  const std::lock_guard lock(mutex_);
  return clocks_[server];
}

milliseconds Session::clock_offset(const std::string& server) {
  return clock_of(server).offset();
}

Result<http_client::Response> Session::run(const Exchange& exchange, const Context& context) {
  Run run{.exchange = exchange, .context = context};
  {
    const std::lock_guard lock(mutex_);
    budget_.earn();
  }
  while (true) {
    if (auto turn = wait_for_turn(run); !turn)
      return run.attempts > 0 && turn.error().error_class != ErrorClass::cancelled
                 ? *run.reading.error
                 : turn.error();
    attempt(run);
    if (!run.reading.error) return std::move(*run.answer);
    if (!prepare_next(run)) return *run.reading.error;
    context.log(LogLevel::debug, exchange.name + " is tried again: " + run.reading.error->message);
  }
}

Result<void> Session::wait_for_turn(Run& run) {
  const Context& context = run.context;
  const auto cancelled = [&] {
    return Error::cancelled(run.exchange.name + " was not sent: the call was cancelled");
  };
  if (context.cancelled()) return cancelled();
  const milliseconds turn = buckets_.take(run.exchange.api, run.exchange.rate, context.now());
  if (turn == 0ms) return {};
  if (turn >= time_for(context.time_left(), context.time_left())) {
    buckets_.give_back(run.exchange.api);
    return Error::throttle(run.exchange.name + " was not sent: " + run.exchange.api +
                           " is called as often as the cloud allows, and the next turn is in " +
                           in_words(turn))
        .hold_for(std::chrono::ceil<std::chrono::seconds>(turn));
  }
  if (!timing_.wait(turn, context)) return cancelled();
  return {};
}

// Fills in the part of `run` that is about the last attempt.
void Session::attempt(Run& run) {
  const Exchange& exchange = run.exchange;
  ++run.attempts;
  run.signed_offset = clock_of(exchange.server).offset();
  auto request = exchange.prepare(run.context.now() + run.signed_offset);
  run.reading = {};
  if (!request) {
    run.reading.error = request.error();
    return;
  }
  const milliseconds time = time_for(settings_.timeout, run.context.time_left());
  if (time <= 0ms) {
    run.reading.error =
        Error::transient(exchange.name + " was not sent: the host has no time left for it");
    return;
  }
  request->timeout = time;
  request->retry = {};
  request->kept_connection = exchange.repeatable;
  run.answer = transport_->send(std::move(*request), run.context);
  if (run.answer) {
    run.reading = exchange.read(*run.answer);
    run.had_no_effect = run.reading.next != Next::repeat;
    if (run.reading.remaining)
      buckets_.limit(exchange.api, *run.reading.remaining, run.context.now());
    say_if_unclear(run);
    return;
  }
  const http_client::Failure& failure = run.answer.error();
  run.had_no_effect = was_never_sent(failure);
  Error error =
      error_of(failure, in_words(time), std::to_string(settings_.max_answer_bytes) + " bytes");
  error.message = exchange.name + ": " + exchange.server + " " + error.message;
  run.reading = {next_after(failure), std::move(error)};
  say_if_unclear(run);
}

void Session::say_if_unclear(Run& run) {
  if (run.reading.error && !run.had_no_effect && !run.exchange.repeatable)
    run.reading.error->message += "; whether the call had an effect is not known";
}

// Whether the server's time explains the refusal, which is believed once.
bool Session::set_clock(Run& run) {
  if (run.clock_was_set) return false;
  hawk::ServerClock& clock = clock_of(run.exchange.server);
  if (const auto date = hawk::parse_http_date(run.answer->header("Date")))
    clock.observe(*date, run.context.now());
  run.clock_was_set = clock.explains_refusal(run.signed_offset);
  return run.clock_was_set;
}

bool Session::drop_credentials(Run& run) {
  if (!run.exchange.drop_credentials || std::exchange(run.credentials_were_dropped, true))
    return false;
  run.exchange.drop_credentials();
  return true;
}

// Whether there will be another attempt; if so, what it needs is done: the clock is set, the
// credentials are given up, the delay is over.
bool Session::prepare_next(Run& run) {
  switch (run.reading.next) {
    case Next::done:
      return false;
    case Next::refused:
      return set_clock(run) || drop_credentials(run);
    case Next::slow_down:
      buckets_.throttle(run.exchange.api, run.context.now());
      return wait_for_next(run);
    case Next::repeat:
      return (run.exchange.repeatable || run.had_no_effect) && wait_for_next(run);
  }
  return false;
}

bool Session::wait_for_next(Run& run) {
  if (run.attempts >= settings_.attempts) return false;
  const http_client::Retry retry{settings_.attempts, settings_.first_delay,
                                 settings_.longest_delay};
  const milliseconds delay =
      http_client::retry_delay(retry, run.attempts, run.answer, timing_.random());
  // An error now is better than a timeout later.
  const milliseconds left = run.context.time_left();
  if (delay >= time_for(left, left)) return false;
  {
    const std::lock_guard lock(mutex_);
    if (!budget_.spend()) return false;
  }
  if (timing_.wait(delay, run.context)) return true;
  run.reading.error =
      Error::cancelled(run.exchange.name + " was to be tried again when the call was cancelled");
  return false;
}

}  // namespace muster::cloud

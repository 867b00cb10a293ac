#include "host/fleet/question_lanes.hpp"

#include <muster/trace.hpp>

#include "lib/base/deadline_context.hpp"
#include "lib/base/secret.hpp"

namespace muster::fleet {

struct QuestionLanes::Lane {
  std::string instance_id;
  std::condition_variable changed;
  std::deque<Question> line;
  std::size_t idle = 0;
  std::vector<std::thread> threads;
};

namespace {

struct Addressee {
  const std::string& operator()(const AskSize& ask) const { return ask.strategy; }
  const std::string& operator()(const AskSelection& ask) const { return ask.strategy; }
  template <class Ask>
  const std::string& operator()(const Ask& ask) const {
    return ask.provider_id.str();
  }
};

using Results = decltype(Answer::result);

struct Call {
  Channel& channel;
  const Context& context;
  Results operator()(const AskSize& ask) const {
    return StrategyClient(channel).size(ask.request, context);
  }
  Results operator()(const AskSelection& ask) const {
    return StrategyClient(channel).select(*ask.request, context);
  }
  Results operator()(const AskBids& ask) const {
    return ProviderClient(channel).bid(ask.request(), context);
  }
  Results operator()(const AskAllocation& ask) const {
    return ProviderClient(channel).allocate(ask.request, context);
  }
  Results operator()(const AskListing& ask) const {
    return ProviderClient(channel).list(ask.request, context);
  }
  Results operator()(const AskTermination& ask) const {
    return ProviderClient(channel).terminate(ask.request, context);
  }
  Results operator()(const AskNotices& ask) const {
    return ProviderClient(channel).notices(ask.request, context);
  }
};

// Each question is a trace of its own: decisions follow from many requests together.
std::string new_trace_parent() {
  const std::string digits = to_hex(sha256(random_token().reveal()));
  return "00-" + digits.substr(0, 32) + "-" + digits.substr(32, 16) + "-01";
}

struct MethodName {
  std::string_view operator()(const AskSize&) const { return "size"; }
  std::string_view operator()(const AskSelection&) const { return "select"; }
  std::string_view operator()(const AskBids&) const { return "bid"; }
  std::string_view operator()(const AskAllocation&) const { return "allocate"; }
  std::string_view operator()(const AskListing&) const { return "list"; }
  std::string_view operator()(const AskTermination&) const { return "terminate"; }
  std::string_view operator()(const AskNotices&) const { return "notices"; }
};

struct Fail {
  const Error& error;
  Results operator()(const AskSize&) const { return Result<Size>(error); }
  Results operator()(const AskSelection&) const { return Result<Selection>(error); }
  Results operator()(const AskBids&) const { return Result<Bids>(error); }
  Results operator()(const AskAllocation&) const { return Result<Allocation>(error); }
  Results operator()(const AskListing&) const { return Result<Listing>(error); }
  Results operator()(const AskTermination&) const { return Result<Termination>(error); }
  Results operator()(const AskNotices&) const { return Result<Notices>(error); }
};

}  // namespace

const std::string& addressee(const Question& question) {
  return std::visit(Addressee{}, question.ask);
}

QuestionLanes::QuestionLanes(std::function<Callee(const std::string&)> find,
                             std::function<void(Answer)> answered, Log log,
                             std::function<void(const EndedCall&)> ended,
                             std::function<bool()> may_call)
    : find_(std::move(find)),
      answered_(std::move(answered)),
      log_(std::move(log)),
      ended_(std::move(ended)),
      may_call_(std::move(may_call)) {}

QuestionLanes::~QuestionLanes() {
  stop();
  for (auto& [id, lane] : lanes_)
    for (std::thread& thread : lane->threads) thread.join();
}

void QuestionLanes::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  for (auto& [id, lane] : lanes_) lane->changed.notify_all();
}

// A lane gets another thread while all of its threads are at work and the plugin may have more
// calls.
void QuestionLanes::ask(Question question) {
  const std::string& instance_id = addressee(question);
  const std::uint32_t calls_at_once = find_(instance_id).calls_at_once;
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  auto& lane = lanes_[instance_id];
  if (!lane) {
    lane = std::make_unique<Lane>();
    lane->instance_id = instance_id;
  }
  lane->line.push_back(std::move(question));
  if (lane->idle < lane->line.size() && lane->threads.size() < std::max(1u, calls_at_once))
    lane->threads.emplace_back([this, &at = *lane] { serve(at); });
  lane->changed.notify_one();
}

void QuestionLanes::serve(Lane& lane) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++lane.idle;
    lane.changed.wait(lock, [&] { return stopping_ || !lane.line.empty(); });
    --lane.idle;
    if (stopping_) return;
    const Question question = std::move(lane.line.front());
    lane.line.pop_front();
    lock.unlock();
    answered_(put(lane.instance_id, question));
    lock.lock();
  }
}

Answer QuestionLanes::put(const std::string& instance_id, const Question& question) const {
  const Callee callee = find_(instance_id);
  if (!callee.channel) {
    const Error missing = Error::capacity("plugin instance " + instance_id + " does not run")
                              .hold_for(std::chrono::seconds(15));
    return {question.call_id, std::visit(Fail{missing}, question.ask)};
  }
  if (may_call_ && !may_call_()) {
    const Error superseded = Error::cancelled("this host does not lead any more");
    return {question.call_id, std::visit(Fail{superseded}, question.ask)};
  }
  const auto began = std::chrono::steady_clock::now();
  Answer answer = call(instance_id, question, callee);
  if (ended_)
    ended_({instance_id, std::visit(MethodName{}, question.ask),
            std::chrono::steady_clock::now() - began,
            std::visit([](const auto& result) { return !result; }, answer.result)});
  return answer;
}

Answer QuestionLanes::call(const std::string& instance_id, const Question& question,
                           const Callee& callee) const {
  const DeadlineContext deadline(callee.deadline, &stopping_);
  const TracedContext context(deadline, new_trace_parent());
  log_.debug("asks a plugin", {{"instance", instance_id},
                               {"method", std::string(std::visit(MethodName{}, question.ask))},
                               {"trace", context.trace_parent().substr(3, 32)}});
  try {
    return {question.call_id, std::visit(Call{*callee.channel, context}, question.ask)};
  } catch (const std::exception& exception) {
    const Error error = Error::internal("the call of plugin instance " + instance_id +
                                        " failed: " + exception.what());
    log_.error(error.message, {{"instance", instance_id}});
    return {question.call_id, std::visit(Fail{error}, question.ask)};
  }
}

}  // namespace muster::fleet

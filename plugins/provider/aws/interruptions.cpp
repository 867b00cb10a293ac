#include "plugins/provider/aws/interruptions.hpp"

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"

namespace muster::aws {
namespace {

using namespace std::chrono_literals;
constexpr auto notice_time = 2min;  // from AWS's warning to the end
constexpr int most_receives = 20;   // of up to ten messages each

}  // namespace

std::optional<InterruptionEvent> read_event(std::string_view message, Time now) {
  const auto event = json::parse_object(message);
  const json::object* detail = event ? table_of(*event, "detail") : nullptr;
  if (!detail || text_of(*event, "source") != "aws.ec2") return std::nullopt;
  InterruptionEvent read{.region = text_of(*event, "region"),
                         .instance_id = text_of(*detail, "instance-id")};
  if (read.instance_id.empty()) return std::nullopt;
  read.interruption.at = parse_time(text_of(*event, "time")).value_or(now) + notice_time;
  const std::string kind = text_of(*event, "detail-type");
  if (kind == "EC2 Spot Instance Interruption Warning") {
    const std::string action = text_of(*detail, "instance-action");
    read.interruption.reason =
        "spot interruption" + (action.empty() ? std::string() : ": " + action);
    return read;
  }
  if (kind == "EC2 Instance Rebalance Recommendation") {
    read.interruption.reason = "rebalance recommendation";
    return read;
  }
  if (kind != "EC2 Instance State-change Notification") return std::nullopt;
  const std::string state = text_of(*detail, "state");
  read.has_ended = state == "terminated" || state == "shutting-down" || state == "stopped";
  if (!read.has_ended) return std::nullopt;
  return read;
}

Result<Notices> Interruptions::collect(const Context& context) {
  delete_delivered(context);
  std::optional<Error> error;
  std::size_t failed = 0;
  for (const auto& [region, queue] : settings_.interruption_queues) {
    const auto received = receive(region, queue, context);
    if (received) continue;
    ++failed;
    error = received.error();
    context.log(LogLevel::warning,
                "the queue of interruptions of " + region + " cannot be read: " + error->message);
  }
  if (error && failed == settings_.interruption_queues.size()) return *error;
  return board_.notices(context.now());
}

Result<void> Interruptions::receive(const std::string& region, const std::string& queue,
                                    const Context& context) {
  for (int i = 0; i < most_receives && !context.cancelled(); ++i) {
    const auto answer = api_.call(
        {.service = "sqs",
         .region = region,
         .action = "ReceiveMessage",
         .parameters = {{"QueueUrl", queue}, {"MaxNumberOfMessages", 10}, {"WaitTimeSeconds", 0}}},
        context);
    if (!answer) return answer.error();
    int received = 0;
    for_each_of(*answer, "Messages", [&](const json::object& message) {
      ++received;
      delivered_.push_back({region, queue, text_of(message, "ReceiptHandle")});
      const auto event = read_event(text_of(message, "Body"), context.now());
      if (!event) return;
      const WorkerGroup group(event->region.empty() ? region : event->region);
      const WorkerId id(event->instance_id);
      if (event->has_ended)
        board_.ended(group, id);
      else
        board_.add({group, id, event->interruption});
    });
    if (received < 10) break;
  }
  return {};
}

void Interruptions::delete_delivered(const Context& context) {
  for (const Delivered& message : std::exchange(delivered_, {})) {
    const auto deleted =
        api_.call({.service = "sqs",
                   .region = message.region,
                   .action = "DeleteMessage",
                   .parameters = {{"QueueUrl", message.queue}, {"ReceiptHandle", message.handle}}},
                  context);
    // The queue delivers it again, which does no harm.
    if (!deleted) context.log(LogLevel::debug, deleted.error().message);
  }
}

}  // namespace muster::aws

// What the Queue's messages say, and what is none of its messages.
#include "host/worker_state/queue_message.hpp"

#include <gtest/gtest.h>

namespace muster::worker_state {
namespace {

// The Queue's status with these runs.
std::string message(const std::string& runs) {
  return R"({"version": 1, "runId": 0, "workerGroup": "us-1", "workerId": "i-1", "status":
    {"taskId": "fN1SbArXTPSVFNUvaOlinQ", "provisionerId": "proj", "workerType": "build",
     "taskQueueId": "proj/build", "schedulerId": "-", "taskGroupId": "fN1SbArXTPSVFNUvaOlinQ",
     "retriesLeft": 5, "state": "pending", "runs": )" +
         runs + "}}";
}

TEST(QueueMessageTest, what_is_no_message_is_refused) {
  const std::string run =
      R"({"runId": 0, "state": "running", "workerGroup": "us-1", "workerId": "i-1",)";
  for (const std::string& body : {
           std::string(),
           std::string("{"),
           std::string("[]"),
           std::string("\xff\xfe"),
           std::string(R"({"version": 2})"),
           std::string(R"({"version": 1})"),
           std::string(R"({"version": 1, "status": []})"),
           std::string(R"({"version": 1, "status": {"taskId": "a", "runs": []}})"),
           message("{}"),
           message("[7]"),
           message("[" + run + R"( "started": "yesterday"}])"),
           message("[" + run + R"( "started": 7}])"),
           message(R"([{"state": "dancing", "workerId": "i-1"}])"),
           message(R"([{"state": "running", "workerId": ")" + std::string(129, 'a') + "\"}]"),
       })
    EXPECT_FALSE(parse_queue_message(body)) << body;
}

TEST(QueueMessageTest, the_state_of_each_run_and_not_of_the_task_counts) {
  const auto reports = parse_queue_message(message(
      R"([{"runId": 0, "state": "exception", "reasonCreated": "scheduled",
           "reasonResolved": "worker-shutdown", "workerGroup": "us-1", "workerId": "i-1",
           "scheduled": "2026-01-01T00:00:00.000Z", "started": "2026-01-01T00:00:01.000Z",
           "resolved": "2026-01-01T00:00:02.500Z"},
          {"runId": 1, "state": "pending", "reasonCreated": "retry",
           "scheduled": "2026-01-01T00:00:02.500Z"}])"));
  ASSERT_TRUE(reports) << reports.error().message;
  ASSERT_EQ(reports->size(), 1u);
  const RunReport& report = reports->front();
  EXPECT_EQ(report.task_id, "fN1SbArXTPSVFNUvaOlinQ");
  EXPECT_EQ(report.run_id, 0);
  EXPECT_EQ(report.worker,
            (WorkerKey{WorkerPoolId("proj/build"), WorkerGroup("us-1"), WorkerId("i-1")}));
  EXPECT_EQ(report.outcome, Outcome::exception);
  EXPECT_EQ(report.reason, Reason::worker_shutdown);
  EXPECT_EQ(report.resolved - report.started, std::chrono::milliseconds(1500));
}

TEST(QueueMessageTest, an_exception_of_a_task_that_no_worker_had_says_nothing) {
  const auto reports = parse_queue_message(message(
      R"([{"runId": 0, "state": "exception", "reasonResolved": "deadline-exceeded",
           "resolved": "2026-01-01T00:00:02.500Z"}])"));
  ASSERT_TRUE(reports);
  EXPECT_TRUE(reports->empty());
}

TEST(QueueMessageTest, a_reason_of_a_later_queue_is_another_one) {
  const auto reports = parse_queue_message(message(
      R"([{"runId": 0, "state": "exception", "reasonResolved": "solar-flare", "workerGroup": "g",
           "workerId": "w", "started": "2026-01-01T00:00:01.000Z",
           "resolved": "2026-01-01T00:00:02.500Z"}])"));
  ASSERT_TRUE(reports);
  EXPECT_EQ(reports->at(0).reason, Reason::other);
}

TEST(QueueMessageTest, a_pool_has_one_binding) {
  EXPECT_EQ(binding_of(WorkerPoolId("proj/build")), "primary.*.*.*.*.proj.build.#");
  EXPECT_EQ(queue_exchanges("p/").at(3), "p/task-exception");
}

}  // namespace
}  // namespace muster::worker_state

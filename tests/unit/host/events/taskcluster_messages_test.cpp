// What consumers of Taskcluster's exchanges rely on, in our own words: each payload has these keys
// and no others.
#include "host/events/taskcluster_messages.hpp"

#include <set>

#include <muster/json_schema.hpp>

#include "tests/unit/host/events/events_fixture.hpp"

namespace muster::events {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* id = R"({"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,38}$"})";
constexpr const char* pool_id =
    R"({"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,38}/[a-z]([-a-z0-9]{0,36}[a-z0-9])?$"})";
constexpr const char* time_of_event = R"({"type": "string", "format": "date-time"})";

// {"required": [...], ...} of properties whose name may end with "?".
json::value shape(const std::vector<std::pair<std::string, std::string>>& properties) {
  json::object document{{"type", "object"}, {"additionalProperties", false}};
  json::array required;
  json::object described;
  for (auto [name, schema] : properties) {
    if (name.back() == '?')
      name.pop_back();
    else
      required.emplace_back(name);
    described[name] = *json::parse(schema);
  }
  document["required"] = std::move(required);
  document["properties"] = std::move(described);
  return document;
}

json::value worker_shape(std::vector<std::pair<std::string, std::string>> more = {}) {
  more.insert(more.end(), {{"workerPoolId", pool_id},
                           {"providerId", id},
                           {"workerId", id},
                           {"workerGroup", id},
                           {"capacity", R"({"type": "integer", "minimum": 1})"},
                           {"timestamp", time_of_event},
                           {"launchConfigId?", id}});
  return shape(more);
}

void expect_fits(const json::value& schema, const std::string& body) {
  const auto validator = json::Schema::compile(schema);
  ASSERT_TRUE(validator);
  const auto document = json::parse(body);
  ASSERT_TRUE(document) << body;
  for (const auto& problem : validator->validate(*document))
    ADD_FAILURE() << body << ": " << problem.message;
}

const Message& only(const std::vector<Message>& messages) {
  EXPECT_EQ(messages.size(), 1u);
  return messages.at(0);
}

TEST(TaskclusterMessages, a_worker_without_an_id_is_not_told) {
  Event event = an_event(1, "worker-launched");
  event.worker_id = {};
  EXPECT_THAT(taskcluster_messages(event), IsEmpty());
  EXPECT_THAT(taskcluster_messages(an_event(1, "worker-requested")), IsEmpty());
}

TEST(TaskclusterMessages, what_lacks_a_field_that_must_be_there_is_not_told) {
  Event event = an_event(1, "worker-running");
  event.details.erase("capacity");
  EXPECT_THAT(taskcluster_messages(event), IsEmpty());
  event = an_event(1, "worker-error");
  EXPECT_THAT(taskcluster_messages(event), IsEmpty());
  event = an_event(1, "worker-pool-created");
  event.provider_id = {};
  EXPECT_THAT(taskcluster_messages(event), IsEmpty());
  event = an_event(1, "launch-configuration-created");
  event.launch_config_id = {};
  EXPECT_THAT(taskcluster_messages(event), IsEmpty());
  EXPECT_THAT(taskcluster_messages(an_event(1, "something-new")), IsEmpty());
}

TEST(TaskclusterMessages, a_key_that_no_broker_takes_is_not_sent) {
  Event event = an_event(1);
  event.worker_id = WorkerId(std::string(250, 'i'));
  EXPECT_THAT(taskcluster_messages(event), IsEmpty());
}

TEST(TaskclusterMessages, a_dot_does_not_break_the_routing_key) {
  Event event = an_event(1);
  event.worker_id = WorkerId("host.example");
  const Message message = only(taskcluster_messages(event));
  EXPECT_EQ(message.routing_key, "primary.ec2-us.proj.build.us-1.host_example.lc-1._");
  EXPECT_EQ(json::parse_object(message.body)->at("workerId"), json::value("host.example"));
}

TEST(TaskclusterMessages, workers_have_their_exchanges_keys_and_payloads) {
  for (const auto& [kind, exchange] :
       std::vector<std::pair<std::string, std::string>>{{"worker-launched", "worker-requested"},
                                                        {"worker-running", "worker-running"},
                                                        {"worker-stopped", "worker-stopped"}}) {
    const Message message = only(taskcluster_messages(an_event(7, kind)));
    EXPECT_EQ(message.exchange, exchange);
    EXPECT_EQ(message.routing_key, "primary.ec2-us.proj.build.us-1.i-7.lc-1._");
    expect_fits(worker_shape(), message.body);
  }
}

TEST(TaskclusterMessages, a_worker_without_a_launch_configuration_has_an_empty_word) {
  Event event = an_event(7);
  event.launch_config_id = {};
  const Message message = only(taskcluster_messages(event));
  EXPECT_EQ(message.routing_key, "primary.ec2-us.proj.build.us-1.i-7._._");
  expect_fits(worker_shape(), message.body);
}

TEST(TaskclusterMessages, a_worker_that_is_to_stop_is_removed_and_stopping) {
  Event event = an_event(7, "worker-stopping");
  event.details["reason"] = "idle too long";
  const auto messages = taskcluster_messages(event);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].exchange, "worker-removed");
  EXPECT_EQ(messages[1].exchange, "worker-stopping");
  for (const Message& message : messages) {
    expect_fits(worker_shape({{"reason", R"({"type": "string"})"}}), message.body);
    EXPECT_EQ(json::parse_object(message.body)->at("reason"), json::value("idle too long"));
  }
}

TEST(TaskclusterMessages, pools_have_keys_that_name_nothing) {
  const json::value schema =
      shape({{"workerPoolId", pool_id}, {"providerId", id}, {"previousProviderId?", id}});
  for (const std::string kind : {"worker-pool-created", "worker-pool-updated"}) {
    Event event = an_event(7, kind);
    event.details = {{"previousProviderId", "gce"}};
    const Message message = only(taskcluster_messages(event));
    EXPECT_EQ(message.exchange, kind);
    EXPECT_EQ(message.routing_key, "primary._._._._._._._");
    expect_fits(schema, message.body);
    EXPECT_EQ(json::parse_object(message.body)->at("previousProviderId"), json::value("gce"));
  }
}

TEST(TaskclusterMessages, errors_have_what_names_them) {
  Event event = an_event(7, "worker-error");
  event.details = {{"errorId", "AAAAAAAAQACAAAAAAAAAAA"},
                   {"errorKind", "creation-error"},
                   {"title", std::string(127, 't') + "ü and more"}};
  const json::value schema = shape(
      {{"workerPoolId", pool_id},
       {"providerId", id},
       {"errorId",
        R"({"pattern": "^[A-Za-z0-9_-]{8}[Q-T][A-Za-z0-9_-][CGKOSWaeimquy26-][A-Za-z0-9_-]{10}[AQgw]$"})"},
       {"kind", R"({"pattern": "[-a-z0-9]+", "maxLength": 128})"},
       {"title", R"({"type": "string", "maxLength": 128})"},
       {"timestamp", time_of_event},
       {"workerId?", id},
       {"workerGroup?", id},
       {"launchConfigId?", id}});
  Message message = only(taskcluster_messages(event));
  EXPECT_EQ(message.exchange, "worker-pool-error");
  EXPECT_EQ(message.routing_key, "primary.ec2-us.proj.build.us-1.i-7.lc-1._");
  expect_fits(schema, message.body);
  EXPECT_EQ(json::parse_object(message.body)->at("title"), json::value(std::string(127, 't')));
  event.worker_id = {};
  event.worker_group = {};
  message = only(taskcluster_messages(event));
  EXPECT_EQ(message.routing_key, "primary.ec2-us.proj.build._._.lc-1._");
  expect_fits(schema, message.body);
}

TEST(TaskclusterMessages, launch_configurations_have_three_ids) {
  const json::value schema =
      shape({{"launchConfigId", id}, {"workerPoolId", pool_id}, {"providerId", id}});
  for (const std::string what : {"created", "updated", "archived", "paused", "resumed"}) {
    Event event = an_event(7, "launch-configuration-" + what);
    event.worker_group = {};
    event.worker_id = {};
    const Message message = only(taskcluster_messages(event));
    EXPECT_EQ(message.exchange, "launch-config-" + what);
    EXPECT_EQ(message.routing_key, "primary.ec2-us.proj.build._._.lc-1._");
    expect_fits(schema, message.body);
  }
}

TEST(TaskclusterMessages, what_taskcluster_does_not_know_is_the_whole_event) {
  Event event{.number = 9, .kind = "provider-down", .text = "gone"};
  event.provider_id = ProviderId("ec2-us");
  const Message message = only(taskcluster_messages(event));
  EXPECT_EQ(message.exchange, "provider-down");
  EXPECT_EQ(message.routing_key, "primary.ec2-us._._._._._._");
  EXPECT_EQ(json::parse_object(message.body)->at("number"), json::value(9));
}

TEST(TaskclusterMessages, all_of_taskclusters_exchanges_are_declared) {
  const std::set<std::string> all(exchanges().begin(), exchanges().end());
  EXPECT_EQ(all.size(), exchanges().size());
  for (const char* name :
       {"worker-pool-created", "worker-pool-updated", "worker-pool-error", "worker-requested",
        "worker-running", "worker-stopped", "worker-removed", "launch-config-created",
        "launch-config-updated", "launch-config-archived"})
    EXPECT_TRUE(all.contains(name)) << name;
}

}  // namespace
}  // namespace muster::events

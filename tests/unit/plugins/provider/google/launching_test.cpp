#include <set>

#include "plugins/provider/google/instances.hpp"
#include "plugins/provider/google/labels.hpp"
#include "tests/unit/plugins/provider/google/fixture.hpp"

namespace muster::google {
namespace {

using cloud::table_of;
using cloud::text_of;

const Owner somebody{"zK_9-aB3xY0q", ProviderId("gcp"), 1};

TEST(GoogleLabels, give_back_any_text_and_are_what_google_takes) {
  const std::map<std::string, std::string> tags{
      {"muster-pool", "Proj/build_x"}, {"owner", "x@y.z"}, {"a tag", "ä b"},
      {"long", std::string(150, 'A')}, {"empty", ""},      {"9", "_2f"}};
  const Labels labels = labels_of(tags);
  for (const auto& [name, value] : labels) {
    EXPECT_LE(name.size(), 63u);
    EXPECT_LE(value.size(), 63u);
    EXPECT_TRUE(name.front() >= 'a' && name.front() <= 'z') << name;
    EXPECT_EQ((name + value).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_"),
              std::string::npos)
        << name << " " << value;
  }
  const auto read = tags_in(labels);
  for (const auto& [name, value] : tags)
    if (name != "9") {
      EXPECT_EQ(read.at(name), value) << name;
    }
  EXPECT_EQ(labels.at("muster-pool"), "_50roj_2fbuild_5fx");
}

TEST(GoogleLabels, those_of_a_team_stay_as_they_are) {
  const auto read = tags_in({{"team", "build_tools"}, {"x", "_"}, {"y", "a_zz"}});
  EXPECT_EQ(read.at("team"), "build_tools");
  EXPECT_EQ(read.at("x"), "_");
  EXPECT_EQ(read.at("y"), "a_zz");
}

TEST(GoogleNames, are_functions_of_owner_and_key_and_give_the_key_back) {
  const IdempotencyKey key("zK_9-aB3xY0q-7-12");
  const MachineName name = name_of(somebody, key);
  EXPECT_TRUE(name.has_key);
  EXPECT_TRUE(name.text.ends_with("-k-7-12")) << name.text;
  EXPECT_EQ(name.text, name_of(somebody, key).text);
  EXPECT_EQ(key_in(name.text, somebody.host_id), key);
  Owner other = somebody;
  other.provider_id = ProviderId("gcp2");
  EXPECT_NE(name.text, name_of(other, key).text);
  other = somebody;
  other.host_id = "zk_9-ab3xy0q";
  EXPECT_NE(name.text, name_of(other, IdempotencyKey("zk_9-ab3xy0q-7-12")).text);
  std::set<std::string> seen;
  for (const char* rest : {"UPPER", "a_b", "ends-", "", "ä", "x"}) {
    const MachineName odd = name_of(somebody, IdempotencyKey(somebody.host_id + "-" + rest));
    EXPECT_LE(odd.text.size(), 63u);
    EXPECT_NE(odd.text.back(), '-');
    EXPECT_TRUE(seen.insert(odd.text).second) << rest;
    EXPECT_EQ(odd.has_key, std::string(rest) == "x") << rest;
    EXPECT_EQ(key_in(odd.text, "h").has_value(), odd.has_key) << rest;
  }
  for (const std::string& strange : {std::string(500, 'k'), somebody.host_id, "x" + key.str(),
                                     key.str() + std::string(500, '1')}) {
    EXPECT_LE(name_of(somebody, IdempotencyKey(strange)).text.size(), 63u);
    EXPECT_FALSE(name_of(somebody, IdempotencyKey(strange)).has_key) << strange;
  }
  for (const char* strange : {"", "muster-", "vm-1", "muster-0123456789abcdef-k-"})
    EXPECT_FALSE(key_in(strange, "h")) << strange;
}

TEST(GoogleNames, a_request_id_is_a_uuid) {
  const std::string id = request_id("a");
  EXPECT_EQ(id, request_id("a"));
  EXPECT_NE(id, request_id("b"));
  ASSERT_EQ(id.size(), 36u);
  for (const std::size_t at : {8, 13, 18, 23}) EXPECT_EQ(id[at], '-');
}

class GoogleLaunching : public GoogleTest {};

TEST_F(GoogleLaunching, an_insert_has_all_that_workers_need) {
  const auto allocation = provider().allocate(request(1, 1), context);
  ASSERT_TRUE(allocation) << allocation.error().message;
  ASSERT_EQ(calls("instances.insert").size(), 1u);
  const Call call = calls("instances.insert")[0];
  EXPECT_EQ(call.path.at("zone"), "us-central1-a");
  EXPECT_EQ(call.query.at("requestId").size(), 36u);
  const json::object& body = *call.body;
  EXPECT_EQ(text_of(body, "machineType"), "zones/us-central1-a/machineTypes/n2-standard-4");
  const json::object& scheduling = body.at("scheduling").as_object();
  EXPECT_FALSE(scheduling.at("automaticRestart").as_bool());
  EXPECT_EQ(text_of(scheduling, "provisioningModel"), "SPOT");
  EXPECT_EQ(text_of(scheduling, "instanceTerminationAction"), "DELETE");
  EXPECT_EQ(text_of(body.at("serviceAccounts").at(0).as_object(), "email"),
            "worker@my-project.iam.gserviceaccount.com");
  const json::object& disk = body.at("disks").at(0).as_object();
  EXPECT_TRUE(disk.at("autoDelete").as_bool()) << "nothing else ends it";
  EXPECT_EQ(disk.at("initializeParams").at("labels").at("muster-provider").as_string(), "gcp");
  std::string registration;
  cloud::for_each_of(body.at("metadata").as_object(), "items", [&](const json::object& item) {
    if (text_of(item, "key") == "taskcluster") registration = text_of(item, "value");
  });
  const json::object document = object(registration);
  EXPECT_EQ(text_of(document, "rootUrl"), "https://muster.example");
  EXPECT_EQ(text_of(document, "workerGroup"), "us-central1-a");
  EXPECT_EQ(document.at("workerConfig").at("a").as_int64(), 1);
  const Instance& instance = *allocation->launches[0].instance;
  EXPECT_EQ(instance.worker_group.str(), "us-central1-a");
  EXPECT_EQ(instance.worker_pool_id.str(), "Proj/build");
  EXPECT_EQ(instance.idempotency_key, key(1));
  EXPECT_EQ(instance.epoch, 7);
  EXPECT_EQ(instance.capacity, 2);
  EXPECT_EQ(instance.tags.at("owner"), "x@y.z");
  EXPECT_EQ(instance.tags.at("team"), "build");
}

TEST_F(GoogleLaunching, many_are_one_bulk_insert_and_no_call_for_each) {
  const auto allocation = provider().allocate(request(1, 80), context);
  ASSERT_TRUE(allocation) << allocation.error().message;
  EXPECT_EQ(calls("instances.bulkInsert").size(), 1u);
  EXPECT_TRUE(calls("instances.insert").empty());
  EXPECT_LE(api->calls().size(), 5u);
  const json::object body = *calls("instances.bulkInsert")[0].body;
  EXPECT_EQ(text_of(body, "count"), "80");
  EXPECT_EQ(text_of(body, "minCount"), "1");
  EXPECT_EQ(body.at("perInstanceProperties").as_object().size(), 80u);
  EXPECT_EQ(body.at("instanceProperties").at("machineType").as_string(), "n2-standard-4");
  EXPECT_EQ(body.at("instanceProperties").at("labels").at("muster-call").as_string(),
            calls("instances.bulkInsert")[0].query.at("requestId"))
      << "so that their list does not grow with the pool";
  std::set<WorkerId> ids;
  for (std::size_t i = 0; i < 80; ++i) {
    const Launch& launch = allocation->launches[i];
    ASSERT_TRUE(launch.instance) << launch.error->message;
    EXPECT_EQ(launch.instance->idempotency_key, key(static_cast<int>(i) + 1));
    ids.insert(launch.instance->worker_id);
  }
  EXPECT_EQ(ids.size(), 80u);
}

TEST_F(GoogleLaunching, a_list_of_another_process_has_the_keys_of_a_bulk_insert) {
  ASSERT_TRUE(provider().allocate(request(1, 7), context));
  const auto listing = restart().list({owner}, context);
  std::set<IdempotencyKey> listed, wanted;
  for (const Instance& instance : listing->instances) listed.insert(instance.idempotency_key);
  for (int number = 1; number <= 7; ++number) wanted.insert(key(number));
  EXPECT_EQ(listed, wanted);
}

TEST_F(GoogleLaunching, types_of_disks_are_named_as_each_call_wants_them) {
  AllocateRequest some = request(1, 6);
  json::object& disk =
      some.launch_config.document.at("google").at("launch").at("disks").at(0).as_object();
  disk.at("initializeParams").as_object()["diskType"] = "zones/anywhere/diskTypes/pd-ssd";
  ASSERT_TRUE(provider().allocate(some, context));
  const auto type_in = [](const json::value& body) {
    return std::string(body.at("disks").at(0).at("initializeParams").at("diskType").as_string());
  };
  EXPECT_EQ(type_in(calls("instances.bulkInsert").at(0).body->at("instanceProperties")), "pd-ssd");
  some.idempotency_keys = {key(20)};
  ASSERT_TRUE(provider().allocate(some, context));
  EXPECT_EQ(type_in(*calls("instances.insert").at(0).body), "zones/us-central1-a/diskTypes/pd-ssd");
}

TEST_F(GoogleLaunching, what_bulk_insert_does_not_take_is_inserted_one_by_one) {
  AllocateRequest many = request(1, 6);
  many.launch_config.document.at("google").at("launch").as_object()["displayDevice"] =
      json::object{{"enableDisplay", true}};
  ASSERT_TRUE(provider().allocate(many, context));
  EXPECT_EQ(calls("instances.insert").size(), 6u);
}

TEST_F(GoogleLaunching, the_same_keys_in_any_grouping_are_the_same_machines) {
  const auto first = provider().allocate(request(1, 10), context);
  for (const auto& [from, to] : {std::pair{4, 4}, {1, 10}, {8, 10}, {2, 5}})
    for (const Launch& launch : provider().allocate(request(from, to), context).value().launches)
      for (const Launch& before : first->launches)
        if (before.idempotency_key == launch.idempotency_key) {
          EXPECT_EQ(before.instance->worker_id, launch.instance->worker_id);
        }
  EXPECT_EQ(api->instances().size(), 10u);
}

class LostAnswers : public GoogleLaunching, public ::testing::WithParamInterface<int> {};

TEST_P(LostAnswers, launch_nothing_twice_in_this_process_or_the_next) {
  const int count = GetParam();  // by insert, by bulkInsert
  int lost = count < 5 ? count : 1;
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (!call.method.ends_with("nsert") || lost-- <= 0) return std::nullopt;
    return ExampleApi::Fault{Error::transient("cut off").with_code(no_answer_code), true};
  };
  const auto first = provider().allocate(request(1, count), context);
  for (const Launch& launch : first->launches)
    EXPECT_EQ(launch.error->error_class, ErrorClass::transient);
  ASSERT_EQ(api->instances().size(), static_cast<std::size_t>(count));
  for (const bool is_new_process : {false, true}) {
    if (is_new_process) restart();
    for (int key = count; key >= 1; --key) {
      AllocateRequest again = request(key, key);
      again.repeated_keys = again.idempotency_keys;
      (void)provider().allocate(again, context);
    }
    EXPECT_EQ(api->instances().size(), static_cast<std::size_t>(count));
  }
  AllocateRequest last = request(1, count);
  last.repeated_keys = last.idempotency_keys;
  for (const Launch& launch : provider().allocate(last, context).value().launches)
    EXPECT_TRUE(launch.instance) << launch.error->message;
  EXPECT_EQ(api->instances().size(), static_cast<std::size_t>(count));
}
INSTANTIATE_TEST_SUITE_P(google, LostAnswers, ::testing::Values(1, 3, 7));

TEST_F(GoogleLaunching, a_key_that_google_never_saw_is_launched_by_its_repetition) {
  AllocateRequest again = request(1, 3);
  again.repeated_keys = again.idempotency_keys;
  const auto answer = provider().allocate(again, context);
  for (const Launch& launch : answer->launches) EXPECT_TRUE(launch.instance);
  EXPECT_EQ(api->instances().size(), 3u);
}

TEST_F(GoogleLaunching, a_key_that_is_no_name_is_in_labels) {
  AllocateRequest odd = request(1, 0);
  odd.idempotency_keys = {IdempotencyKey("Host_7/" + std::string(100, 'x'))};
  ASSERT_TRUE(provider().allocate(odd, context)->launches[0].instance);
  const auto listing = provider().list({owner}, context);
  ASSERT_EQ(listing->instances.size(), 1u);
  EXPECT_EQ(listing->instances[0].idempotency_key, odd.idempotency_keys[0]);
}

json::object operation_error(const char* code, const char* message) {
  return {{"code", code}, {"message", message}};
}

TEST_F(GoogleLaunching, an_operation_that_fails_at_once_is_a_typed_error) {
  api->operation_error = [](const std::string&) {
    return operation_error("ZONE_RESOURCE_POOL_EXHAUSTED", "The zone does not have enough.");
  };
  const auto answer = provider().allocate(request(1, 1), context);
  const Error& error = *answer->launches[0].error;
  EXPECT_EQ(error.error_class, ErrorClass::capacity);
  EXPECT_EQ(error.code, "ZONE_RESOURCE_POOL_EXHAUSTED");
  EXPECT_EQ(error.scope.zone, "us-central1-a");
  EXPECT_EQ(error.scope.instance_type, "n2-standard-4/spot");
  EXPECT_EQ(error.hold, 180s);
}

// Of insert and of bulkInsert, at once and later.
TEST_F(GoogleLaunching, an_operation_that_ended_with_trouble_of_googles_own_leaves_no_doubt) {
  const auto expect_sure_failure = [&](const Error& error, const char* code) {
    EXPECT_EQ(error.error_class, ErrorClass::capacity) << code;
    EXPECT_EQ(error.code, code);
    EXPECT_THAT(error.message, HasSubstr("an oops of Google"));
    EXPECT_EQ(error.scope.launch_config_id, launch_config().launch_config_id.str());
    EXPECT_FALSE(error.scope.zone);
    EXPECT_EQ(error.hold, 30s);
  };
  int next = 1;
  for (const char* code : {"INTERNAL_ERROR", "ABORTED", "NEVER_HEARD"})
    for (const int count : {1, 6}) {
      const AllocateRequest some = request(next, next + count - 1);
      next += count;
      api->operation_error = [&](const std::string&) {
        return operation_error(code, "an oops of Google");
      };
      for (int repetition = 0; repetition < 2; ++repetition) {
        const auto answer = provider().allocate(some, context);
        for (const Launch& launch : answer->launches) {
          ASSERT_TRUE(launch.error) << code;
          expect_sure_failure(*launch.error, code);
        }
      }
      api->operations_end = false;
      const AllocateRequest later = request(next, next + count - 1);
      next += count;
      (void)provider().allocate(later, context);
      api->end_operations();
      api->operations_end = true;
      const auto failed = provider().notices({owner}, context)->failed_launches;
      for (const IdempotencyKey& key : later.idempotency_keys) {
        const auto found = std::ranges::find(failed, key, &Notices::FailedLaunch::idempotency_key);
        ASSERT_TRUE(found != failed.end()) << code << " " << key.str();
        expect_sure_failure(found->error, code);
      }
    }
  EXPECT_TRUE(api->instances().empty());
}

TEST_F(GoogleLaunching, of_a_bulk_insert_each_machine_has_its_own_end) {
  api->operation_error = [](const std::string& name) -> std::optional<json::object> {
    if (!name.ends_with("-3")) return std::nullopt;
    return operation_error("QUOTA_EXCEEDED",
                           "Quota 'N2_CPUS' exceeded.  Limit: 24.0 in region us-central1.");
  };
  const auto answer = provider().allocate(request(1, 9), context);
  for (std::size_t i = 0; i < 9; ++i)
    EXPECT_EQ(answer->launches[i].instance.has_value(), i != 2) << i;
  const Error& error = *answer->launches[2].error;
  EXPECT_EQ(error.error_class, ErrorClass::quota);
  EXPECT_THAT(error.message, HasSubstr("the quota N2_CPUS in us-central1 is used up: it is 24;"));
  EXPECT_EQ(error.scope.region, "us-central1");
}

TEST_F(GoogleLaunching, a_quota_of_all_regions_holds_all_of_them) {
  api->operation_error = [](const std::string&) {
    return operation_error("QUOTA_EXCEEDED",
                           "Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally.");
  };
  const Error error = *provider().allocate(request(1, 1), context)->launches[0].error;
  EXPECT_FALSE(error.scope.region);
  EXPECT_EQ(error.scope.instance_type, "n2-standard-4/spot");
}

TEST_F(GoogleLaunching, what_fails_later_is_told_until_the_host_has_heard_it) {
  api->operations_end = false;
  const auto answer = provider().allocate(request(1, 1), context);
  ASSERT_TRUE(answer->launches[0].instance);
  EXPECT_EQ(provider().list({owner}, context)->instances.size(), 1u);
  EXPECT_TRUE(provider().notices({owner}, context)->failed_launches.empty());
  api->operation_error = [](const std::string&) {
    return operation_error("ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "no more");
  };
  api->end_operations();
  for (int i = 0; i < 2; ++i) {
    const auto notices = provider().notices({owner}, context);
    ASSERT_EQ(notices->failed_launches.size(), 1u);
    EXPECT_EQ(notices->failed_launches[0].idempotency_key, key(1));
    EXPECT_EQ(notices->failed_launches[0].error.error_class, ErrorClass::capacity);
  }
  EXPECT_TRUE(provider().list({owner}, context)->instances.empty());
  context.advance(6min);
  EXPECT_TRUE(provider().notices({owner}, context)->failed_launches.empty());
}

TEST_F(GoogleLaunching, operations_are_followed_by_one_call_however_many_there_are) {
  api->operations_end = false;
  for (int key = 1; key <= 40; ++key) (void)provider().allocate(request(key, key), context);
  const std::size_t before = api->calls().size();
  (void)provider().notices({owner}, context);
  EXPECT_EQ(api->calls().size() - before, 2u) << "operations, and preemptions";
}

TEST_F(GoogleLaunching, machines_that_a_bulk_insert_has_not_named_are_not_lost) {
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "instances.list") return std::nullopt;
    return ExampleApi::Fault{Error::transient("no answer")};
  };
  const auto first = provider().allocate(request(1, 6), context);
  for (const Launch& launch : first->launches)
    EXPECT_EQ(launch.error->error_class, ErrorClass::transient);
  api->fault = nullptr;
  AllocateRequest again = request(1, 6);
  again.repeated_keys = again.idempotency_keys;
  for (const Launch& launch : provider().allocate(again, context).value().launches)
    EXPECT_TRUE(launch.instance);
  EXPECT_EQ(api->instances().size(), 6u);
  EXPECT_EQ(calls("instances.bulkInsert").size(), 1u);
}

TEST_F(GoogleLaunching, a_name_that_an_operation_finds_taken_is_the_machine_of_an_earlier_call) {
  api->operations_end = false;
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "instances.list") return std::nullopt;
    return ExampleApi::Fault{Error::transient("no answer")};
  };
  (void)provider().allocate(request(1, 6), context);
  const std::string name = name_of(owner, key(3)).text;
  api->change(name,
              [](json::object& machine) { machine.at("labels").as_object().erase("muster-call"); });
  api->operation_error = [&](const std::string& target) -> std::optional<json::object> {
    if (target != name) return std::nullopt;
    return operation_error("RESOURCE_ALREADY_EXISTS", "The resource already exists");
  };
  api->fault = nullptr;
  api->end_operations();
  const auto answer = provider().allocate(request(1, 6), context);
  for (const Launch& launch : answer->launches) EXPECT_TRUE(launch.instance);
  EXPECT_TRUE(provider().notices({owner}, context)->failed_launches.empty());
  EXPECT_EQ(api->instances().size(), 6u);
}

TEST_F(GoogleLaunching, a_name_that_is_taken_spoils_no_other_of_the_same_call) {
  (void)provider().allocate(request(3, 3), context);
  restart();
  const auto answer = provider().allocate(request(1, 6), context);  // the host forgot, too
  for (const Launch& launch : answer->launches) EXPECT_TRUE(launch.instance);
  EXPECT_EQ(api->instances().size(), 6u);
}

TEST_F(GoogleLaunching, refusals_are_final_and_a_superseded_host_launches_nothing) {
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (!call.method.ends_with("nsert")) return std::nullopt;
    return ExampleApi::Fault{Error::config("bad").with_code("invalid")};
  };
  for (const Launch& launch : provider().allocate(request(1, 6), context).value().launches)
    EXPECT_EQ(launch.error->error_class, ErrorClass::config);
  api->fault = nullptr;
  AllocateRequest old = request(7, 7);
  old.owner.epoch = 6;
  EXPECT_EQ(provider().allocate(old, context).error().error_class, ErrorClass::invalid);
  EXPECT_TRUE(api->instances().empty());
}

TEST_F(GoogleLaunching, without_time_nothing_is_launched) {
  context.cancel();
  const auto answer = provider().allocate(request(1, 6), context);
  for (const Launch& launch : answer->launches) EXPECT_TRUE(launch.error);
  EXPECT_TRUE(api->instances().empty());
}

}  // namespace
}  // namespace muster::google

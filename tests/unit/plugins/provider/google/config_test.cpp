// What operators and teams may write, and what is refused with which words.
#include "tests/unit/plugins/provider/google/fixture.hpp"

namespace muster::google {
namespace {

std::string mistake(const char* more, const char* places = R"("zones": ["us-central1-a"])") {
  const auto settings =
      read_settings(object(std::string(R"({"project": "my-project", )") + places + more + "}"));
  return settings ? "" : settings.error().message;
}

TEST(GoogleSettings, refuse_what_cannot_work_and_say_what_to_do) {
  EXPECT_EQ(mistake(""), "");
  EXPECT_THAT(mistake("", R"("regions": ["us-central1"], "zones": ["us-central1-a"])"),
              HasSubstr("either"));
  EXPECT_THAT(mistake("", R"("example": true)"), HasSubstr("needs either regions"));
  EXPECT_THAT(mistake("", R"("regions": ["us-central1-a"])"), HasSubstr("list zones in `zones`"));
  EXPECT_THAT(mistake("", R"("zones": ["us-central1"])"), HasSubstr("us-central1-a"));
  EXPECT_THAT(mistake("", R"("zones": ["../evil-a"])"), HasSubstr("not the name of a zone"));
  EXPECT_THAT(mistake(R"(, "regoins": [])"), HasSubstr("regoins"));
  EXPECT_THAT(mistake(R"(, "credentials": {"file": "key.json"})"), HasSubstr("absolute path"));
  EXPECT_THAT(mistake(R"(, "credentials": {"file": "/k", "metadata": true})"),
              HasSubstr("keep one"));
  EXPECT_THAT(mistake(R"(, "credentials": {"impersonate": {"serviceAccount": "x"}})"),
              HasSubstr("gserviceaccount.com"));
  EXPECT_THAT(mistake(R"(, "endpoints": {"computer": "https://x"})"),
              HasSubstr("none of the services certs, cloudbilling"));
  EXPECT_THAT(mistake(R"(, "endpoints": {"compute": "http://elsewhere.example"})"),
              HasSubstr("clear text"));
  EXPECT_THAT(mistake(R"(, "identityKeysOnly": true)"), HasSubstr("no worker could register"));
  EXPECT_THAT(mistake(R"(, "priceTable": {"n2": 1})"), HasSubstr("n2-standard-4"));
  EXPECT_THAT(mistake(R"(, "workerServiceAccount": "worker")"), HasSubstr("e-mail address"));
  for (const char* wrong : {"My Project", "123456789", "a/b", ""}) {
    const auto settings =
        read_settings({{"project", wrong}, {"zones", json::array{"us-central1-a"}}});
    ASSERT_FALSE(settings) << wrong;
    EXPECT_THAT(settings.error().message, HasSubstr("project"));
  }
}

class GoogleSection : public GoogleTest {
 protected:
  std::string refused(const std::string& section) {
    const Placement placement{{{"region", "us-central1"}, {"availabilityZone", "us-central1-a"}}};
    const auto expansion =
        provider().expand({WorkerPoolId("p/w"), placement, {{"google", object(section)}}}, context);
    return expansion ? "" : expansion.error().message;
  }
  static std::string with(const std::string& launch) {
    return R"({"machineTypes": [{"type": "n2-standard-4"}], "launch": {"disks": [{"boot": true,
      "initializeParams": {"sourceImage": "global/images/family/worker"}}])" +
           (launch.empty() ? "" : ", " + launch) + "}}";
  }
};

TEST_F(GoogleSection, google_s_own_description_finds_unknown_fields_wrong_types_and_bad_words) {
  EXPECT_EQ(refused(with("")), "");
  EXPECT_THAT(refused(with(R"("networkInterface": [])")),
              HasSubstr("google.launch.networkInterface"));
  EXPECT_THAT(refused(with(R"("canIpForward": "yes")")), HasSubstr("google.launch.canIpForward"));
  EXPECT_THAT(refused(with(R"("scheduling": {"onHostMaintenance": "MIGRAT"})")),
              HasSubstr("google.launch.scheduling.onHostMaintenance"));
  EXPECT_THAT(refused(with(R"("status": "RUNNING")")), HasSubstr("google.launch.status"))
      << "Google writes it";
  EXPECT_EQ(refused(with(R"("scheduling": {"maxRunDuration": {"seconds": "3600"}})")), "");
}

TEST_F(GoogleSection, what_muster_sets_is_refused_with_what_to_write_instead) {
  const std::pair<const char*, const char*> fields[] = {
      {R"("name": "x")", "muster makes it"},
      {R"("machineType": "x")", "use google.machineTypes"},
      {R"("labels": {})", "use google.labels"},
      {R"("hostname": "x")", "several machines"},
      {R"("deletionProtection": true)", "could not end"},
      {R"("scheduling": {"preemptible": true})", "use google.market"},
      {R"("scheduling": {"provisioningModel": "SPOT"})", "use google.market"},
      {R"("scheduling": {"automaticRestart": true})", "replaced"},
      {R"("metadata": {"items": [{"key": "taskcluster", "value": "{}"}]})",
       "muster writes the item"},
      {R"("networkInterfaces": [{"networkIP": "10.0.0.1"}])", "cannot share an address"}};
  for (const auto& [field, words_of_error] : fields)
    EXPECT_THAT(refused(with(field)), HasSubstr(words_of_error)) << field;
  EXPECT_THAT(refused(R"({"machineTypes": [{"type": "n2-standard-4"}],
      "launch": {"disks": [{"source": "global/disks/d"}]}})"),
              HasSubstr("READ_ONLY"));
  EXPECT_THAT(refused(R"({"labels": {"muster-host": "x"}})"), HasSubstr("google.labels"));
  EXPECT_THAT(refused(R"({"labels": {"team": "Build"}})"), HasSubstr("google.labels.team"));
  EXPECT_THAT(refused(R"({"market": ["spot"]})"), HasSubstr("google.market"));
}

TEST_F(GoogleSection, a_machine_without_a_service_account_could_not_prove_who_it_is) {
  restart(R"({"project": "my-project", "zones": ["us-central1-a"]})");
  EXPECT_THAT(refused(with("")), HasSubstr("workerServiceAccount"));
  EXPECT_EQ(refused(with(R"("serviceAccounts": [{"email": "a@b.c"}])")), "");
  EXPECT_THAT(refused(with(R"("serviceAccounts": [{"email": "a@b.c"}, {"email": "d@b.c"}])")),
              HasSubstr("one service account"));
}

TEST_F(GoogleSection, each_type_and_market_is_a_launch_configuration) {
  const Placement placement{{{"region", "us-central1"}, {"availabilityZone", "us-central1-a"}}};
  const auto expansion =
      provider().expand({WorkerPoolId("p/w"), placement, {{"google", example_section()}}}, context);
  ASSERT_EQ(expansion->launch_documents.size(), 4u);
  EXPECT_EQ(expansion->launch_documents[0].instance_type, "n2-standard-4/spot");
  EXPECT_EQ(expansion->launch_documents[1].instance_type, "n2-standard-4");
  EXPECT_EQ(expansion->launch_documents[0].capacity_per_instance, 2);
  const auto without_image = provider().expand(
      {WorkerPoolId("p/w"),
       placement,
       {{"google", object(R"({"machineTypes": [{"type": "n2-standard-4"}], "launch": {}})")}}},
      context);
  EXPECT_TRUE(without_image->launch_documents.empty());
}

}  // namespace
}  // namespace muster::google

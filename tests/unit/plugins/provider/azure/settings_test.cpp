#include "plugins/provider/azure/settings.hpp"

#include <gtest/gtest.h>

#include "plugins/cloud/json_access.hpp"

namespace muster::azure {
namespace {

json::object usual() {
  return json::parse_object(R"({"subscription": "00000000-0000-0000-0000-000000000000",
                                "resourceGroup": "muster", "locations": ["westeurope"]})")
      .value();
}

std::string mistake(const char* key, const char* value) {
  json::object config = usual();
  config[key] = json::parse(value).value();
  const auto settings = read_settings(config);
  return settings ? "" : settings.error().message;
}

TEST(AzureSettings, wrong_values_are_refused_with_what_to_do) {
  const auto says = [](const char* key, const char* value, const char* words) {
    const std::string message = mistake(key, value);
    EXPECT_NE(message.find(words), std::string::npos) << key << " = " << value << ": " << message;
  };
  says("subscription", R"("x")", "subscription");
  says("locations", R"(["West Europe"])", "like westeurope");
  says("locations", R"(["westeurope", "westeurope"])", "twice");
  says("locations", "[]", "locations");
  says("zones", R"({"eastus": ["1"]})", "is not in locations");
  says("zones", R"({"westeurope": ["a"]})", "zones");
  says("cloud", R"("moon")", "cloud");
  says("tenant", R"("a b")", "is no tenant");
  says("priceTable", R"({"large": 1})", "westeurope/Standard_D2s_v5");
  says("endpoints", R"({"graph": "https://x"})", "no such service");
  says("endpoints", R"({"login": "http://login.example"})", "clear text");
  says("credentials", R"({"clientSecret": {"clientId": "c"}})", "never written");
  says("credentials", R"({"clientSecret": {"clientId": "c", "secret": "s"}})", "secret");
  says("credentials", R"({"clientSecret": {"clientId": "c", "file": "x"}})", "absolute path");
  says("credentials", R"({"managedIdentity": {}, "certificate": {"clientId": "c", "file": "/x"}})",
       "keep one of");
  says("identityRootsOnly", "true", "no worker could register");
  says("identityRoots", R"("/nowhere.pem")", "there is no file");
  says("issuerUrls", R"(["http://cacerts.example"])", "slash");
  says("leftoverGraceSeconds", "0", "leftoverGraceSeconds");
  says("resourceGrupp", R"("x")", "resourceGroup");
}

TEST(AzureSettings, a_location_needs_a_resource_group) {
  json::object config = usual();
  config.erase("resourceGroup");
  EXPECT_NE(read_settings(config).error().message.find("resourceGroups has none for westeurope"),
            std::string::npos);
  config["resourceGroups"] = json::object{{"westeurope", "here"}};
  const auto settings = read_settings(config);
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->group_of("westeurope"), "here");
  EXPECT_EQ(settings->group_path("here"),
            "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/here");
}

TEST(AzureSettings, the_cloud_decides_about_addresses) {
  json::object config = usual();
  config["cloud"] = "china";
  config["endpoints"] = json::object{{"login", "https://login.example/"}};
  const auto settings = read_settings(config);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->connection.endpoint("resourceManager"),
            "https://management.chinacloudapi.cn");
  EXPECT_EQ(settings->connection.endpoint("login"), "https://login.example");
  EXPECT_EQ(settings->connection.audience(), "https://management.chinacloudapi.cn/");
  EXPECT_EQ(settings->identity.names, std::vector<std::string>{"metadata.azure.cn"});
}

}  // namespace
}  // namespace muster::azure

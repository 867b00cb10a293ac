// The same promises whichever implementation of credentials is built: sources are files, variables
// of the environment and a service on this machine.
#include "plugins/provider/aws/credentials.hpp"

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "lib/base/deadline_context.hpp"
#include "plugins/provider/aws/shared_files.hpp"
#include "plugins/provider/aws/wire.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::aws {
namespace {

using namespace std::chrono_literals;

const std::string arn = "arn:aws:iam::123456789012:role/";

// Variables of this process, as they were before.
class ScopedEnvironment {
 public:
  ~ScopedEnvironment() {
    for (const auto& [name, value] : before_)
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
  }
  void set(const std::string& name, const std::string& value) {
    keep(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  void clear(const std::string& name) {
    keep(name);
    ::unsetenv(name.c_str());
  }

 private:
  void keep(const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    before_.try_emplace(name, value ? std::optional<std::string>(value) : std::nullopt);
  }
  std::map<std::string, std::optional<std::string>> before_;
};

struct AwsCredentials : ::testing::Test {
  static void SetUpTestSuite() {
    service = std::make_unique<testing::PythonService>(
        MUSTER_SOURCE "/tests/unit/plugins/provider/aws/metadata_service.py");
  }
  static void TearDownTestSuite() { service.reset(); }

  AwsCredentials() {
    for (const char* name :
         {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE",
          "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
          "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN",
          "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"})
      environment.clear(name);
    environment.set("AWS_CONFIG_FILE", path("config"));
    environment.set("AWS_SHARED_CREDENTIALS_FILE", path("credentials"));
    environment.set("AWS_EC2_METADATA_DISABLED", "true");
    settings.reach.endpoints["sts"] = service->url();
  }

  std::string path(const std::string& name) { return (folder.path() / name).string(); }
  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    std::ofstream(path(name)) << text;
    ::chmod(path(name).c_str(), mode);
    return path(name);
  }
  // The access key id, which says where it is from, or what is wrong.
  std::string fetched() {
    cloud::Session session(std::make_shared<cloud::PooledTransport>(http_client::Settings{}), {},
                           cloud::real_timing());
    Wire wire(session, Endpoints(settings.reach.endpoints));
    const auto fetch = credentials_fetch(
        {.settings = settings, .region = "us-east-1", .wire = wire, .metadata = session});
    const DeadlineContext context(20s);
    const auto result = fetch(context);
    if (!result)
      return std::string(to_string(result.error().error_class)) + ": " + result.error().message;
    last = *result;
    return result->value.access_key_id;
  }

  static std::unique_ptr<testing::PythonService> service;
  ScopedEnvironment environment;
  testing::TemporaryFolder folder;
  ConnectionSettings settings;
  std::optional<FetchedCredentials> last;
};
std::unique_ptr<testing::PythonService> AwsCredentials::service;

TEST_F(AwsCredentials, without_any_source_the_error_says_what_to_do) {
  const std::string said = fetched();
  EXPECT_EQ(said.substr(0, 34), "auth: there are no AWS credentials");
  EXPECT_NE(said.find("configure `credentials` of the provider"), std::string::npos) << said;
}

TEST_F(AwsCredentials, the_environment_counts_first) {
  environment.set("AWS_ACCESS_KEY_ID", "AKENV");
  environment.set("AWS_SECRET_ACCESS_KEY", "secret");
  environment.set("AWS_SESSION_TOKEN", "token");
  write("credentials", "[default]\naws_access_key_id = AKFILE\naws_secret_access_key = x\n");
  EXPECT_EQ(fetched(), "AKENV");
  EXPECT_EQ(last->value.session_token.reveal(), "token");
}

TEST_F(AwsCredentials, shared_files_have_profiles) {
  write("credentials",
        "# keys\n[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key = x\n"
        "[ci]\nAWS_ACCESS_KEY_ID=AKCI\naws_secret_access_key=a=b/c+\n");
  EXPECT_EQ(fetched(), "AKDEFAULT");
  settings.credentials.profile = "ci";
  EXPECT_EQ(fetched(), "AKCI");
  EXPECT_EQ(last->value.secret_access_key.reveal(), "a=b/c+");
  settings.credentials.profile = "nobody";
  EXPECT_EQ(fetched(), "auth: there is no profile \"nobody\" in " + path("config") + " and " +
                           path("credentials"));
}

TEST_F(AwsCredentials, files_of_the_configuration_count_more_than_those_of_the_environment) {
  write("credentials", "[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key = x\n");
  settings.credentials.credentials_file =
      write("other", "[default]\naws_access_key_id = AKOTHER\naws_secret_access_key = x\n");
  EXPECT_EQ(fetched(), "AKOTHER");
}

TEST_F(AwsCredentials, a_profile_may_assume_a_role_with_another_ones_keys) {
  write("config",
        "[profile base]\naws_access_key_id = AKBASE\naws_secret_access_key = x\n"
        "[profile ci]\nrole_arn = " +
            arn +
            "ci\nsource_profile = base\n"
            "external_id = ext\nrole_session_name = build\n"
            "[profile a]\nrole_arn = " +
            arn +
            "a\nsource_profile = b\n"
            "[profile b]\nrole_arn = " +
            arn +
            "b\nsource_profile = a\n"
            "[profile person]\nrole_arn = " +
            arn +
            "x\nsource_profile = base\nmfa_serial = 1\n"
            "[profile empty]\nregion = us-east-1\n");
  settings.credentials.profile = "ci";
  EXPECT_EQ(fetched(), "role-by-AKBASE-ext-build");
  ASSERT_TRUE(last->end);
  const DeadlineContext context(1s);
  EXPECT_GT(*last->end, context.now() + 50min);
  settings.credentials.profile = "a";
  EXPECT_NE(fetched().find("circle of source_profile"), std::string::npos);
  settings.credentials.profile = "person";
  EXPECT_NE(fetched().find("mfa_serial"), std::string::npos);
  settings.credentials.profile = "empty";
  EXPECT_EQ(fetched(),
            "auth: the profile empty has neither aws_access_key_id and "
            "aws_secret_access_key nor role_arn");
}

TEST_F(AwsCredentials, a_role_is_assumed_with_what_the_other_keys_give) {
  settings.credentials.static_keys = StaticKeys{
      .file = write("keys", "aws_access_key_id = AKSTATIC\naws_secret_access_key = x\n")};
  settings.credentials.assume_role = AssumeRole{.arn = arn + "ci", .external_id = "e1"};
  EXPECT_EQ(fetched(), "role-by-AKSTATIC-e1-muster");
  settings.credentials.assume_role->arn = arn + "forbidden";
  const std::string said = fetched();
  EXPECT_EQ(said.substr(0, 5), "auth:") << said;
  EXPECT_NE(said.find("the role " + arn + "forbidden cannot be assumed"), std::string::npos)
      << said;
  EXPECT_NE(said.find("AccessDenied"), std::string::npos) << said;
  EXPECT_NE(said.find("not for you"), std::string::npos) << said;
}

TEST_F(AwsCredentials, a_web_identity_is_read_from_its_file_each_time) {
  settings.credentials.web_identity =
      WebIdentity{.role_arn = arn + "ci", .token_file = write("token", "jwt-number-one\n")};
  EXPECT_EQ(fetched(), "web-by-jwt-number-one");
  write("token", "jwt-number-two");
  EXPECT_EQ(fetched(), "web-by-jwt-number-two");
  write("token", "");
  EXPECT_EQ(fetched(), "auth: the web identity token " + path("token") + " is empty");
  settings.credentials.web_identity->token_file = path("nothing");
  EXPECT_NE(fetched().find("the web identity token cannot be read"), std::string::npos);
}

TEST_F(AwsCredentials, static_keys_are_in_a_file_of_its_owner_or_in_variables) {
  settings.credentials.static_keys = StaticKeys{
      .file = write("keys.json", R"({"AccessKeyId": "AKJSON", "SecretAccessKey": "x"})")};
  EXPECT_EQ(fetched(), "AKJSON");
  write("keys.json", "{}");
  EXPECT_NE(fetched().find("without AccessKeyId or SecretAccessKey"), std::string::npos);
  write("keys.json", "hidden-text-of-the-file", 0644);
  EXPECT_EQ(fetched().substr(0, 5), "auth:");
  EXPECT_EQ(fetched().find("hidden-text"), std::string::npos);
  settings.credentials.static_keys =
      StaticKeys{.access_key_id_environment = "MY_ID", .secret_access_key_environment = "MY_KEY"};
  EXPECT_NE(fetched().find("MY_ID and MY_KEY are not both set"), std::string::npos);
  environment.set("MY_ID", "AKMINE");
  environment.set("MY_KEY", "x");
  EXPECT_EQ(fetched(), "AKMINE");
}

TEST_F(AwsCredentials, a_container_says_where_its_credentials_are) {
  environment.set("AWS_CONTAINER_CREDENTIALS_FULL_URI", service->url() + "/container");
  environment.set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "tk");
  EXPECT_EQ(fetched(), "container-tk");
  EXPECT_EQ(last->value.session_token.reveal(), "token-of-container-tk");
}

TEST_F(AwsCredentials, the_role_of_an_instance_comes_by_a_session_with_its_metadata) {
  settings.credentials.metadata_endpoint = service->url();
  EXPECT_EQ(fetched(), "instance");
  EXPECT_TRUE(last->end);
  settings.credentials.metadata_endpoint.clear();
  environment.clear("AWS_EC2_METADATA_DISABLED");
  environment.set("AWS_EC2_METADATA_SERVICE_ENDPOINT", service->url());
  EXPECT_EQ(fetched(), "instance");
}

TEST(AwsSharedFiles, lines_that_are_no_setting_are_ignored) {
  const Profiles profiles = parse_profiles(
      "\xef\xbb\xbf; c\n[profile  a ]\nx = 1\n s3 =\n  nested = 2\nbroken\n[sso-session a]\nx = "
      "3\n[b]\ny=4",
      SharedFile::config);
  EXPECT_EQ(profiles, (Profiles{{"a", {{"x", "1"}}}}));
  EXPECT_EQ(parse_profiles("k=v", SharedFile::credentials), (Profiles{{"default", {{"k", "v"}}}}));
  EXPECT_EQ(parse_profiles("[", SharedFile::credentials).size(), 0U);
}

TEST(AwsConnection, says_which_implementation_of_credentials_it_has) {
  const std::string name = credentials_implementation();
  EXPECT_TRUE(name == "built-in" || name.starts_with("AWS SDK for C++ 1.")) << name;
}

}  // namespace
}  // namespace muster::aws

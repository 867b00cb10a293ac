// The service with a mail server and a chat that are there: what needs a person arrives once.
#include "host/notifications/service.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/eventually.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/recorded_log.hpp"
#include "tests/support/scripted_server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::notifications {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class NotificationServiceTest : public ::testing::Test {
 protected:
  NotificationServiceTest() {
    settings.mail.emplace();
    settings.mail->server = mail_server.url();
    settings.mail->start_tls = false;
    settings.mail->from = "muster@example.com";
    settings.mail->to = {"ops@example.com"};
  }
  std::unique_ptr<Service> start() {
    return std::make_unique<Service>(
        Service::Parts{.file = folder / "notifications.json",
                       .clock = std::make_shared<SystemClock>(),
                       .log = Log(log, LogLevel::info, LogFormat::text),
                       .url = "http://muster.example",
                       .observe =
                           [this] {
                             ++looks;
                             return conditions;
                           }},
        settings);
  }
  std::vector<json::object> mails() const {
    std::vector<json::object> all;
    std::ifstream in(folder / "mails");
    for (std::string line; std::getline(in, line);)
      if (auto mail = json::parse_object(line)) all.push_back(std::move(*mail));
    return all;
  }

  testing::TemporaryFolder folder;
  testing::PythonService mail_server{MUSTER_SOURCE "/tests/support/mail_server.py",
                                     {(folder / "mails").string()}};
  std::shared_ptr<testing::RecordedLog> log = std::make_shared<testing::RecordedLog>();
  config::NotificationSettings settings;
  std::vector<Condition> conditions{
      {cause::certificate_expires, "host", "The certificate expires on Friday"},
      {cause::worker_errors, "proj/p", "3 errors", "team@example.com"},
      {cause::worker_errors, "proj/evil", "3 errors", "x@y\r\nRCPT TO:<all@example.com>"}};
  std::atomic<int> looks = 0;
};

TEST_F(NotificationServiceTest, writes_to_operators_and_owners_and_not_again_after_a_restart) {
  auto service = start();
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().sent["mail"] == 2; }));
  service->stop();
  EXPECT_THAT(mails(), SizeIs(2));
  std::string recipients;
  for (const json::object& mail : mails()) recipients += json::write(mail.at("to"));
  EXPECT_EQ(recipients, R"(["<ops@example.com>"]["<team@example.com>"])");
  const int before = looks;
  service = start();
  ASSERT_TRUE(testing::eventually([&] { return looks > before; }));
  service->stop();
  EXPECT_THAT(mails(), SizeIs(2));
}

TEST_F(NotificationServiceTest,
       an_operator_whose_address_is_refused_is_named_and_the_others_are_told) {
  const testing::PythonService picky{MUSTER_SOURCE "/tests/support/mail_server.py",
                                     {(folder / "mails").string(), "refuse=left@example.com"}};
  settings.mail->server = picky.url();
  settings.mail->to = {"left@example.com", "ops@example.com"};
  conditions.resize(1);
  const auto service = start();
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().sent["mail"] == 1; }));
  service->stop();
  ASSERT_THAT(mails(), SizeIs(1));
  EXPECT_EQ(json::write(mails()[0].at("to")), R"(["<ops@example.com>"])");
  EXPECT_EQ(service->numbers().failures["mail"], 0);
  const std::string status = json::write(service->status_json());
  EXPECT_THAT(status, HasSubstr("the mail server refuses left@example.com"));
  EXPECT_THAT(status, Not(HasSubstr("retryAt")));
  EXPECT_TRUE(log->contains("a notification did not reach everybody"));
}

TEST_F(NotificationServiceTest, a_chat_that_fails_is_shown_and_its_secret_address_is_not) {
  const testing::ScriptedServer chat([](const std::string&) {
    return std::string("HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n");
  });
  std::ofstream(folder / "url") << chat.url() + "/hooks/s3cret\n";
  std::filesystem::permissions(folder / "url", std::filesystem::perms::owner_read);
  settings.mail.reset();
  config::ChatSettings& ops = settings.chats.emplace_back();
  ops.name = "ops";
  ops.url_file = folder / "url";
  const auto service = start();
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().failures["chat"] == 1; }));
  const std::string status = json::write(service->status_json());
  EXPECT_THAT(status, HasSubstr("the chat's webhook answered 503"));
  EXPECT_THAT(status, HasSubstr("retryAt"));
  EXPECT_TRUE(
      testing::eventually([&] { return log->contains("a notification could not be sent"); }));
  EXPECT_FALSE(log->contains("s3cret"));
  EXPECT_THAT(status, Not(HasSubstr("s3cret")));
}

TEST_F(NotificationServiceTest, a_chat_gets_the_template_filled_in) {
  const testing::ScriptedServer chat([](const std::string&) {
    return std::string("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  settings.mail.reset();
  config::ChatSettings& ops = settings.chats.emplace_back();
  ops.name = "ops";
  ops.url = chat.url() + "/hook";
  ops.message = R"({"channel": "ops", "text": "{{title}}"})";
  const auto service = start();
  ASSERT_TRUE(testing::eventually([&] { return service->numbers().sent["chat"] == 1; }));
  ASSERT_THAT(chat.requests(), SizeIs(1));
  EXPECT_THAT(
      chat.requests()[0],
      HasSubstr("{\"channel\": \"ops\", \"text\": \"muster: 1 new (certificateExpires host)\"}"));
}

TEST_F(NotificationServiceTest, stops_in_the_middle_of_a_mail) {
  const testing::PythonService silent{MUSTER_SOURCE "/tests/support/mail_server.py",
                                      {(folder / "none").string(), "silent"}};
  settings.mail->server = silent.url();
  settings.mail->timeout = std::chrono::minutes(10);
  const auto service = start();
  ASSERT_TRUE(testing::eventually([&] { return looks > 0; }));
  service->stop();
  EXPECT_EQ(service->numbers().failures["mail"], 0);
}

}  // namespace
}  // namespace muster::notifications

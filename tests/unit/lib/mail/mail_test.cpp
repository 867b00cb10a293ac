// Addresses, messages, and conversations with a mail server that is another program.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/json.hpp>

#include "lib/mail/address.hpp"
#include "lib/mail/smtp.hpp"
#include "tests/support/certificate.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::mail {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(MailAddress, takes_plain_ones_and_nothing_that_could_say_more) {
  for (const char* good : {"ops@example.com", "a.b+c@x-y.example", "o'neil@localhost"})
    EXPECT_TRUE(is_address(good)) << good;
  const std::string with_zero("a\0@b.example", 12);
  for (const std::string& bad : {std::string(),
                                 std::string("@b"),
                                 std::string("a@"),
                                 std::string("a@b\r\nBcc: all@x"),
                                 std::string("a@b\nDATA"),
                                 std::string("a b@c"),
                                 std::string("a@b,c@d"),
                                 std::string("<a@b>"),
                                 std::string("a@b>"),
                                 std::string("\"a b\"@c"),
                                 std::string("a@@b"),
                                 std::string("a@b@c"),
                                 std::string(".a@b"),
                                 std::string("a..b@c"),
                                 std::string("a@-b"),
                                 std::string("-oQ/tmp@b"),
                                 std::string("a@b."),
                                 std::string("a@[127.0.0.1]"),
                                 std::string("\xC3\xA4@b"),
                                 std::string("a@b SIZE=1"),
                                 std::string(65, 'a') + "@b",
                                 "a@" + std::string(254, 'b'),
                                 with_zero})
    EXPECT_FALSE(is_address(bad)) << bad;
}

Message letter() {
  return {.from = "muster@example.com",
          .to = {"ops@example.com"},
          .subject = "a pool is blocked",
          .text = "first\n.\n.second\n",
          .id = "id.1",
          .at = Time(std::chrono::milliseconds(1'772'368'200'000))};
}

TEST(MailMessage, is_one_line_in_its_subject_whatever_that_holds) {
  Message message = letter();
  message.subject = "x\r\nBcc: all@example.com\r\n\r\nbody";
  const std::string text = to_text(message);
  EXPECT_THAT(text, Not(HasSubstr("\nBcc")));
  EXPECT_THAT(text, HasSubstr("Subject: x  Bcc: all@example.com    body\r\n"));
}

TEST(MailMessage, encodes_what_is_no_ascii_in_words_of_legal_length) {
  Message message = letter();
  message.subject.clear();
  for (int at = 0; at < 60; ++at) message.subject += "\u00e4\u20ac";
  const std::string text = to_text(message);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find("\r\n", begin)) != std::string::npos; begin = end + 2)
    EXPECT_LE(end - begin, 78U) << text.substr(begin, end - begin);
  EXPECT_THAT(text, Each(::testing::Le('~')));
  EXPECT_THAT(text, HasSubstr("Date: Sun, 01 Mar 2026 12:30:00 +0000\r\n"));
}

class MailServer {
 public:
  explicit MailServer(const std::vector<std::string>& behaviours = {}) {
    std::vector<std::string> words{(folder_ / "mails").string()};
    words.insert(words.end(), behaviours.begin(), behaviours.end());
    service_ = std::make_unique<testing::PythonService>(
        MUSTER_SOURCE "/tests/support/mail_server.py", words);
  }
  Server settings() const {
    Server server;
    server.url = service_->url();
    server.start_tls = false;
    return server;
  }
  std::vector<json::object> mails() const {
    std::vector<json::object> all;
    std::ifstream in(folder_ / "mails");
    for (std::string line; std::getline(in, line);) all.push_back(*json::parse_object(line));
    return all;
  }

 private:
  testing::TemporaryFolder folder_;
  std::unique_ptr<testing::PythonService> service_;
};

const std::atomic<bool> goes_on = false;

TEST(Mail, reaches_all_recipients_with_its_text_intact) {
  const MailServer server;
  Message message = letter();
  message.to.emplace_back("lab@example.com");
  const auto sent = send(server.settings(), message, goes_on);
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_TRUE(sent->refused.empty());
  const auto mails = server.mails();
  ASSERT_EQ(mails.size(), 1U);
  EXPECT_EQ(json::write(mails[0].at("to")), R"(["<ops@example.com>","<lab@example.com>"])");
  EXPECT_EQ(mails[0].at("from").as_string(), "<muster@example.com>");
  EXPECT_THAT(json::write(mails[0].at("lines")), HasSubstr("Zmlyc3QKLgouc2Vjb25kCg=="));
}

TEST(Mail, a_recipient_that_is_refused_is_named_and_the_others_get_it) {
  const MailServer server({"refuse=left@example.com,gone@example.com"});
  Message message = letter();
  message.to = {"left@example.com", "ops@example.com", "gone@example.com", "lab@example.com"};
  const auto sent = send(server.settings(), message, goes_on);
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_THAT(sent->refused, ElementsAre("left@example.com", "gone@example.com"));
  ASSERT_EQ(server.mails().size(), 1U);
  EXPECT_EQ(json::write(server.mails()[0].at("to")),
            R"(["<ops@example.com>","<lab@example.com>"])");
  message.to = {"left@example.com", "gone@example.com"};
  const auto to_nobody = send(server.settings(), message, goes_on);
  ASSERT_FALSE(to_nobody);
  EXPECT_EQ(to_nobody.error().error_class, ErrorClass::invalid) << to_nobody.error().message;
  EXPECT_EQ(server.mails().size(), 1U);
}

TEST(Mail, an_address_with_a_command_in_it_is_never_sent) {
  const MailServer server;
  Message message = letter();
  message.to = {"ops@example.com>\r\nRCPT TO:<all@example.com"};
  EXPECT_FALSE(send(server.settings(), message, goes_on));
  EXPECT_TRUE(server.mails().empty());
}

TEST(Mail, a_server_without_starttls_gets_nothing_if_it_is_wanted) {
  const MailServer server;
  Server settings = server.settings();
  settings.start_tls = true;
  const auto sent = send(settings, letter(), goes_on);
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().message, HasSubstr("STARTTLS"));
  EXPECT_TRUE(server.mails().empty());
}

struct Secured {
  Secured() {
    testing::write_certificate(folder / "cert", folder / "key", "IP:127.0.0.1");
    std::ofstream(folder / "password") << "s3cret\n";
    std::filesystem::permissions(folder / "password", std::filesystem::perms::owner_read);
    server = std::make_unique<MailServer>(std::vector<std::string>{
        "starttls=" + (folder / "cert").string() + "," + (folder / "key").string(),
        "auth=muster,s3cret"});
    settings = server->settings();
    settings.start_tls = true;
    settings.user = "muster";
    settings.password_file = folder / "password";
    settings.ca_file = folder / "cert";
  }
  testing::TemporaryFolder folder;
  std::unique_ptr<MailServer> server;
  Server settings;
};

TEST(Mail, signs_in_after_starttls) {
  const Secured secured;
  const auto sent = send(secured.settings, letter(), goes_on);
  ASSERT_TRUE(sent) << sent.error().message;
  const json::object mail = secured.server->mails().at(0);
  EXPECT_TRUE(mail.at("tls").as_bool());
  EXPECT_EQ(mail.at("user").as_string(), "muster");
}

TEST(Mail, a_certificate_that_is_not_trusted_ends_it_before_the_password) {
  Secured secured;
  secured.settings.ca_file.clear();
  const auto sent = send(secured.settings, letter(), goes_on);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().error_class, ErrorClass::transient);
  EXPECT_TRUE(secured.server->mails().empty());
}

TEST(Mail, a_wrong_password_is_an_error_of_its_own_that_does_not_show_it) {
  Secured secured;
  std::filesystem::remove(secured.folder / "password");
  std::ofstream(secured.folder / "password") << "wr0ng";
  std::filesystem::permissions(secured.folder / "password", std::filesystem::perms::owner_read);
  const auto sent = send(secured.settings, letter(), goes_on);
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().error_class, ErrorClass::auth) << sent.error().message;
  EXPECT_THAT(sent.error().message, Not(HasSubstr("wr0ng")));
}

TEST(Mail, tells_what_may_pass_from_what_never_will) {
  const MailServer busy({"busy"}), refusing({"refuse"});
  EXPECT_EQ(send(busy.settings(), letter(), goes_on).error().error_class, ErrorClass::transient);
  EXPECT_EQ(send(refusing.settings(), letter(), goes_on).error().error_class, ErrorClass::invalid);
}

TEST(Mail, a_server_that_says_nothing_holds_up_nobody) {
  const MailServer server({"silent"});
  Server settings = server.settings();
  settings.timeout = 200ms;
  EXPECT_EQ(send(settings, letter(), goes_on).error().error_class, ErrorClass::transient);
  settings.timeout = 60s;
  const std::atomic<bool> stops = true;
  EXPECT_EQ(send(settings, letter(), stops).error().error_class, ErrorClass::cancelled);
}

}  // namespace
}  // namespace muster::mail

#include "relay/audit.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include <muster/json.hpp>

#include "tests/support/recorded_log.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::relay {
namespace {

AuditEntry entry() {
  AuditEntry made;
  made.request_id = "r-1";
  made.peer = "10.1.0.7:4711";
  made.address = "10.1.0.7";
  made.names = {"m1.dc", "odd\\000.dc"};
  made.accepted_name = "m1.dc";
  made.outcome = RegistrationOutcome::registered;
  made.status = 200;
  made.host_status = 200;
  return made;
}

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(AuditLine, stays_one_line_of_json_whatever_is_in_it) {
  AuditEntry odd = entry();
  odd.names = {"a\nb", "\xff", "\"}"};
  odd.why = "line\r\nbreak \x01";
  odd.worker_pool_id = "a/b\n{";
  const std::string line = audit_line(odd);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_TRUE(json::parse_object(line));
}

TEST(AuditLine, says_who_asked_and_what_was_decided) {
  const auto line = json::parse_object(audit_line(entry())).value();
  EXPECT_EQ(line.at("event"), "relayAnswer");
  EXPECT_EQ(line.at("address"), "10.1.0.7");
  EXPECT_EQ(line.at("names"), (json::array{"m1.dc", "odd\\000.dc"}));
  EXPECT_EQ(line.at("acceptedName"), "m1.dc");
  EXPECT_EQ(line.at("decision"), "accepted");
  EXPECT_EQ(line.at("reason"), "registered");
  EXPECT_EQ(line.at("hostStatus"), 200);
  EXPECT_EQ(line.at("requestId"), "r-1");
  EXPECT_TRUE(line.contains("time"));
}

TEST(Audit, a_file_that_takes_nothing_is_counted_and_told_once) {
  const auto lines = std::make_shared<testing::RecordedLog>();
  Audit audit(Log(lines, LogLevel::info, LogFormat::json));
  Counters counters;
  ASSERT_TRUE(audit.open("/dev/full"));
  audit.note(entry(), counters);
  audit.note(entry(), counters);
  EXPECT_EQ(counters.audit_lines_lost, 2u);
  EXPECT_EQ(lines->lines().size(), 3u);
  EXPECT_TRUE(lines->contains("takes no more lines"));
  EXPECT_FALSE(audit.open("/nowhere/at/all"));
}

TEST(Audit, appends_to_the_file_and_opens_it_anew_after_rotation) {
  const testing::TemporaryFolder folder;
  const auto lines = std::make_shared<testing::RecordedLog>();
  Audit audit(Log(lines, LogLevel::info, LogFormat::json));
  Counters counters;
  std::ofstream(folder / "audit") << "before\n";
  ASSERT_TRUE(audit.open(folder / "audit"));
  audit.note(entry(), counters);
  EXPECT_EQ(content_of(folder / "audit"), "before\n" + audit_line(entry()));
  std::filesystem::rename(folder / "audit", folder / "audit.1");
  audit.note(entry(), counters);
  ASSERT_TRUE(audit.open(folder / "audit"));
  audit.note(entry(), counters);
  EXPECT_EQ(content_of(folder / "audit"), audit_line(entry()));
  EXPECT_EQ(content_of(folder / "audit.1"), "before\n" + audit_line(entry()) + audit_line(entry()));
  EXPECT_EQ(lines->lines().size(), 3u);
}

}  // namespace
}  // namespace muster::relay

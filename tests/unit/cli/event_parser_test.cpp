#include "cli/event_parser.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

std::vector<std::string> parsed(EventParser& parser, std::string_view bytes, std::size_t piece) {
  std::vector<std::string> events;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size())))
    parser.feed(bytes.substr(0, piece), [&](const StreamedEvent& event) {
      events.push_back(event.name + "|" + event.data);
    });
  return events;
}

TEST(EventParser, what_is_not_complete_is_no_event) {
  EventParser parser;
  EXPECT_TRUE(parsed(parser, "id: 7\nevent: a\ndata: x", 100).empty());
  EXPECT_EQ(parser.last_id(), "");
}

TEST(EventParser, comments_unknown_fields_and_wrong_numbers_are_ignored) {
  EventParser parser;
  EXPECT_TRUE(parsed(parser, ": keep-alive\nnonsense\nretry: soon\nretry: -1\n\n", 100).empty());
  EXPECT_EQ(parser.retry(), 0);
}

TEST(EventParser, cuts_and_line_ends_do_not_matter) {
  const std::string text =
      "retry: 2000\r\n\r\nid: 1\ndata: a\ndata:b\n\nid: 2\revent: worker-running\rdata:  c\r\r";
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    EventParser parser;
    EXPECT_EQ(parsed(parser, text, piece),
              (std::vector<std::string>{"message|a\nb", "worker-running| c"}))
        << piece;
    EXPECT_EQ(parser.last_id(), "2");
    EXPECT_EQ(parser.retry(), 2000);
  }
}

TEST(EventParser, an_id_without_data_moves_on_and_is_no_event) {
  EventParser parser;
  EXPECT_TRUE(parsed(parser, ": keep-alive\nid: 41\n\n", 100).empty());
  EXPECT_EQ(parser.last_id(), "41");
}

}  // namespace
}  // namespace muster::cli

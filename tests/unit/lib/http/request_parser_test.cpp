#include "lib/http/request_parser.hpp"

#include <random>

#include <gtest/gtest.h>

namespace muster::http {
namespace {

using State = RequestParser::State;

// The status with which the bytes are refused; 0 if they are not.
int refusal_of(std::string_view bytes, RequestLimits limits = {}) {
  RequestParser parser(limits);
  const std::size_t head = parser.feed(bytes);
  if (parser.take_head()) parser.feed(bytes.substr(head));
  return parser.state() == State::failed ? parser.failure().status : 0;
}

TEST(RequestParserTest, refuses_what_is_not_http) {
  for (const char* bad :
       {"\x16\x03\x01\x02\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET  / HTTP/1.1\r\n\r\n",
        "G\x01T / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"})
    EXPECT_EQ(refusal_of(bad), 400) << bad;
  EXPECT_EQ(refusal_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(refusal_of("GET / HTTP/0.9\r\n\r\n"), 505);
}

// Each of these is read in one way by some proxies and in another by others.
TEST(RequestParserTest, refuses_ambiguous_lengths) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\n";
  for (const char* bad : {"Content-Length: 1\r\nContent-Length: 2\r\n", "Content-Length: -1\r\n",
                          "Content-Length: 1x\r\n", "Content-Length: 99999999999999999999999\r\n",
                          "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
                          "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"})
    EXPECT_EQ(refusal_of(head + bad + "\r\nx"), 400) << bad;
  for (const char* bad : {"gzip", "identity", "gzip, chunked", "xchunked"})
    EXPECT_EQ(refusal_of(head + "Transfer-Encoding: " + bad + "\r\n\r\n0\r\n\r\n"), 501) << bad;
  EXPECT_EQ(refusal_of("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 501);
}

TEST(RequestParserTest, refuses_what_two_readers_would_read_in_two_ways) {
  const std::string line = "POST / HTTP/1.1\r\nHost: a\r\n";
  for (const char* bad :
       {"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n",
        "Authorization: Bearer a\r\nauthorization: Bearer a\r\n", "X: a\r\n b\r\n",
        "X: a\r\n\tb\r\n", "X: a\r\n \r\n", "X : a\r\n", "X\t: a\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n", "Content-Length: 1, 1\r\n",
        "Content-Length: +1\r\n", "Content-Length: 0x1\r\n", "Content-Length: 1 1\r\n",
        "Content-Length:\r\n", "X: a\rY: b\r\n"})
    EXPECT_EQ(refusal_of(line + bad + "\r\nx"), 400) << bad;
  // However the bytes come.
  const std::string folded = line + "X: a\r\n b\r\n\r\n";
  RequestParser parser({});
  std::string pending;
  for (const char byte : folded) {
    pending += byte;
    pending.erase(0, parser.feed(pending));
  }
  EXPECT_EQ(parser.state(), State::failed);
}

TEST(RequestParserTest, shows_the_head_once_before_it_reads_the_body) {
  const std::string head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n";
  RequestParser parser({});
  EXPECT_EQ(parser.feed(head + "abc"), head.size());
  const Request* seen = parser.take_head();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->path, "/a");
  EXPECT_EQ(parser.announced_length(), 3u);
  EXPECT_FALSE(parser.take_head());
  EXPECT_EQ(parser.feed("abc"), 3u);
  EXPECT_EQ(parser.take().body, "abc");
}

TEST(RequestParserTest, a_smaller_limit_holds_for_lengths_and_for_chunks) {
  const std::string line = "POST / HTTP/1.1\r\nHost: a\r\n";
  RequestParser sized({});
  sized.feed(line + "Content-Length: 11\r\n\r\n");
  sized.limit_body(10, ", the most of all");
  ASSERT_EQ(sized.state(), State::failed);
  EXPECT_EQ(sized.failure().status, 413);
  EXPECT_EQ(sized.failure().message, "the request's body is larger than 10 bytes, the most of all");
  RequestParser chunked({});
  chunked.feed(line + "Transfer-Encoding: chunked\r\n\r\n");
  chunked.limit_body(10, "");
  EXPECT_FALSE(chunked.announced_length());
  const std::string chunks = "8\r\n01234567\r\n3\r\n012\r\n0\r\n\r\n";
  std::size_t at = 0;
  for (int i = 0; i < 4 && chunked.state() == State::body; ++i)
    at += chunked.feed(std::string_view(chunks).substr(at));
  ASSERT_EQ(chunked.state(), State::failed);
  EXPECT_EQ(chunked.failure().status, 413);
}

TEST(RequestParserTest, takes_no_more_memory_than_has_come_and_none_for_what_is_discarded) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n";
  for (const bool discard : {false, true}) {
    RequestParser parser({});
    parser.feed(head);
    if (discard) parser.discard_body();
    EXPECT_EQ(parser.buffered(), 0u);
    const std::string piece(10'000, 'x');
    for (std::size_t sent = 0; sent < 1'000'000; sent += piece.size()) {
      parser.feed(piece);
      const std::size_t come = sent + piece.size();
      EXPECT_LE(parser.buffered(),
                discard ? 0 : std::min<std::size_t>(2 * come + 20'000, 1'000'000));
    }
    EXPECT_EQ(parser.state(), State::complete);
    EXPECT_EQ(parser.take().body.size(), discard ? 0u : 1'000'000u);
    EXPECT_EQ(parser.buffered(), 0u);
  }
}

TEST(RequestParserTest, chunk_extensions_without_end_are_refused) {
  RequestParser parser({});
  parser.feed("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const std::string chunk = "1;e=" + std::string(1000, 'e') + "\r\nx\r\n";
  std::string pending;
  for (int i = 0; i < 20 && parser.state() == State::body; ++i) {
    pending += chunk;
    pending.erase(0, parser.feed(pending));
  }
  EXPECT_EQ(parser.state(), State::failed);
}

TEST(RequestParserTest, refuses_broken_chunks) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const char* bad :
       {"x\r\n0\r\n\r\n", "-1\r\na\r\n", "1\r\nab\r\n0\r\n\r\n", "ffffffffffffffffffff\r\n"})
    EXPECT_NE(refusal_of(head + bad), 0) << bad;
  EXPECT_NE(refusal_of(head + "1;" + std::string(20'000, 'e')), 0);
}

TEST(RequestParserTest, holds_its_limits) {
  const RequestLimits limits{100, 10};
  const std::string large_header =
      "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100, 'x') + "\r\n\r\n";
  EXPECT_EQ(refusal_of(large_header, limits), 431);
  EXPECT_EQ(refusal_of(std::string(101, 'G'), limits), 431);
  EXPECT_EQ(refusal_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n", limits), 413);
  EXPECT_EQ(
      refusal_of("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789", limits), 0);
  const std::string chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(refusal_of(chunked + "8\r\n01234567\r\n8\r\n01234567\r\n0\r\n\r\n", limits), 413);
}

TEST(RequestParserTest, reads_one_request_after_the_other_whatever_the_pieces) {
  const std::string bytes =
      "\r\nPOST /a?q=1?2 HTTP/1.1\r\nHost: h\r\nX-Two: 1\r\nx-two: 2\r\nContent-Length: "
      "3\r\n\r\nabc"
      "GET /b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
      "PUT /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2;x=y\r\nde\r\n1\r\nf\r\n0\r\n"
      "\r\n";
  for (const std::size_t piece : {std::size_t(1), std::size_t(7), std::size_t(1000)}) {
    RequestParser parser({});
    std::vector<Request> requests;
    std::string pending;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      pending += bytes.substr(at, piece);
      for (;;) {
        pending.erase(0, parser.feed(pending));
        if (parser.take_head() && parser.state() == State::body) continue;
        if (parser.state() != State::complete) break;
        requests.push_back(parser.take());
      }
      ASSERT_NE(parser.state(), State::failed) << parser.failure().message;
    }
    ASSERT_EQ(requests.size(), 3u) << piece;
    EXPECT_EQ(requests[0].path, "/a");
    EXPECT_EQ(requests[0].query, "q=1?2");
    EXPECT_EQ(requests[0].body, "abc");
    EXPECT_EQ(requests[0].header("X-TWO"), "1");
    EXPECT_TRUE(requests[0].keep_alive);
    EXPECT_FALSE(requests[1].keep_alive);
    EXPECT_EQ(requests[2].method, "PUT");
    EXPECT_EQ(requests[2].body, "def");
    EXPECT_FALSE(parser.has_begun());
  }
}

TEST(RequestParserTest, an_empty_chunked_body_may_come_byte_by_byte) {
  const std::string bytes =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: 1\r\n\r\n";
  RequestParser parser({});
  std::string pending;
  for (const char byte : bytes) {
    ASSERT_NE(parser.state(), State::complete);
    pending += byte;
    pending.erase(0, parser.feed(pending));
  }
  ASSERT_EQ(parser.state(), State::complete);
  EXPECT_FALSE(parser.take().header("X-Trailer"));  // what was checked is not added to
}

TEST(RequestParserTest, tells_once_that_the_client_waits) {
  RequestParser parser({});
  parser.feed("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(parser.state(), State::body);
  EXPECT_TRUE(parser.take_expectation());
  EXPECT_FALSE(parser.take_expectation());
}

TEST(RequestParserTest, damaged_requests_never_crash_it) {
  std::mt19937 random(5);
  const std::string good =
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n"
      "GET /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nxy";
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = good;
    for (int flips = 1 + static_cast<int>(random() % 5); flips > 0; --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    RequestParser parser({200, 100});
    std::size_t at = 0;
    for (int steps = 0; steps < 10 && parser.state() != State::failed; ++steps) {
      at += parser.feed(std::string_view(bytes).substr(at));
      ASSERT_LE(at, bytes.size());
      if (parser.state() == State::complete) parser.take();
    }
  }
}

}  // namespace
}  // namespace muster::http

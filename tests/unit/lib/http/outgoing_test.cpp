#include "lib/http/outgoing.hpp"

#include <set>
#include <zlib.h>

#include <gtest/gtest.h>

#include "tests/unit/lib/http/test_server.hpp"

namespace muster::http {
namespace {

std::string unpacked(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(1 << 20, '\0');
  std::string in = packed;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  ::inflateEnd(&stream);
  return out;
}

Request get(const std::string& path, std::vector<Header> headers = {}) {
  Request request;
  request.method = "GET";
  request.path = path;
  request.headers = std::move(headers);
  return request;
}

Response shaped(const Request& request, Response response) {
  shape(response, wishes_of(request));
  return response;
}

const Response large{200, {{"Content-Type", "application/json"}}, std::string(5000, 'a')};

TEST(Outgoing, weights_decide_whether_gzip_is_wanted) {
  for (const char* no : {"", "identity", "gzip;q=0", "gzip;q=0.000", "br, deflate", "*;q=0", "gzi",
                         "gzip;q=0, *", "gzip ; q=0", ",,;;", "gzip;Q=0.0"})
    EXPECT_FALSE(accepts_gzip(no)) << no;
  for (const char* yes :
       {"gzip", "GZip", "x-gzip", "br, gzip", "gzip;q=0.001", "*", "*;q=0.5",
        "deflate;q=0, gzip ;q=1", "gzip;foo=bar", "gzip;foo=bar;q=0.1", "*;q=0, gzip"})
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
}

TEST(Outgoing, only_what_is_large_and_text_is_compressed) {
  const Request wants = get("/x", {{"accept-encoding", "gzip"}});
  const auto is_packed = [&](const Response& response) {
    return find_header(shaped(wants, response).headers, "Content-Encoding").has_value();
  };
  EXPECT_FALSE(is_packed({200, {{"Content-Type", "application/json"}}, std::string(1000, 'a')}));
  EXPECT_FALSE(is_packed({200, {{"Content-Type", "image/png"}}, std::string(5000, 'a')}));
  EXPECT_FALSE(is_packed({200, {}, std::string(5000, 'a')}));
  const Response packed = shaped(wants, large);
  EXPECT_EQ(find_header(packed.headers, "Content-Encoding"), "gzip");
  EXPECT_EQ(find_header(packed.headers, "Vary"), "Accept-Encoding");
  EXPECT_EQ(unpacked(packed.body), large.body);
  const Response plain = shaped(get("/x"), large);
  EXPECT_EQ(plain.body, large.body);
  EXPECT_EQ(find_header(plain.headers, "Vary"), "Accept-Encoding");
}

TEST(Outgoing, what_is_encoded_already_is_left_alone) {
  Response response = large;
  response.headers.push_back({"Content-Encoding", "br"});
  EXPECT_EQ(shaped(get("/x", {{"Accept-Encoding", "gzip"}}), response).body, large.body);
}

TEST(Outgoing, a_client_that_has_the_document_gets_304) {
  const Response first = shaped(get("/api/x"), large);
  const std::string tag(find_header(first.headers, "ETag").value());
  EXPECT_TRUE(tag.starts_with("W/\""));
  EXPECT_EQ(first.status, 200);
  const auto again = [&](const std::string& known) {
    return shaped(get("/api/x", {{"If-None-Match", known}}), large);
  };
  for (const std::string& other :
       {std::string("\"other\""), tag + "x", std::string("W/"), tag.substr(0, tag.size() - 1)})
    EXPECT_EQ(again(other).status, 200) << other;
  for (const std::string& same :
       {tag, tag.substr(2), "\"a\", " + tag + " , \"b\"", std::string("*")}) {
    const Response answer = again(same);
    EXPECT_EQ(answer.status, 304) << same;
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(find_header(answer.headers, "ETag"), tag);
  }
  Response other = large;
  other.body += "b";
  EXPECT_NE(find_header(shaped(get("/api/x"), other).headers, "ETag"), tag);
}

TEST(Outgoing, only_good_answers_of_the_api_to_reads_are_tagged) {
  const auto is_tagged = [](const Request& request, Response response) {
    return find_header(shaped(request, std::move(response)).headers, "ETag").has_value();
  };
  Request put = get("/api/x");
  put.method = "PUT";
  EXPECT_FALSE(is_tagged(put, large));
  EXPECT_FALSE(is_tagged(get("/x"), large));
  EXPECT_FALSE(is_tagged(get("/api/x"), {404, {}, "{}"}));
  EXPECT_TRUE(is_tagged(get("/api/x"), {200, {}, ""}));
}

TEST(Outgoing, a_header_cannot_begin_another_answer) {
  std::string head;
  Response response{200, {{"X-Bad", "a\r\nX-Forged: b"}, {"X\n", "c"}, {"X-Good", "d"}}, ""};
  write_head(head, response, {"now", "r", "t"});
  EXPECT_EQ(head.find("Forged"), std::string::npos);
  EXPECT_EQ(head.find("X-Bad"), std::string::npos);
  EXPECT_NE(head.find("\r\nX-Good: d\r\n"), std::string::npos);
}

class HeadersTest : public ::testing::Test {
 protected:
  std::string ask(const std::string& first_line, const std::string& headers = "") {
    auto client = test.connect();
    client.send(first_line + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + headers + "\r\n");
    return client.read_all();
  }
  static bool has(const std::string& answer, const std::string& header) {
    return answer.find("\r\n" + header + "\r\n") != std::string::npos;
  }
  TestServer test{{}, [](Router& router) {
                    router.add("GET", "/api/x", now([](const Request&) {
                                 Response response = json_answer(json::object{{"a", 1}});
                                 response.client_id = "project/ci";
                                 return response;
                               }));
                  }};
};

TEST_F(HeadersTest, browsers_of_any_origin_may_read_every_answer_of_the_api) {
  for (const char* line : {"GET /api/x", "GET /api/none", "POST /api/x", "OPTIONS /api/x",
                           "OPTIONS /api/none", "GET /api/%"}) {
    const std::string answer = ask(line);
    EXPECT_TRUE(has(answer, "Access-Control-Allow-Origin: *")) << answer;
    EXPECT_TRUE(has(answer, "Access-Control-Max-Age: 900"));
    EXPECT_NE(answer.find("\r\nAccess-Control-Allow-Methods: OPTIONS,GET,"), std::string::npos);
    EXPECT_NE(answer.find("\r\nAccess-Control-Allow-Headers: X-Requested-With,Content-Type,"
                          "Authorization,Accept,Origin,Cache-Control"),
              std::string::npos);
    EXPECT_TRUE(has(answer, "Cache-Control: no-store, no-cache, must-revalidate"));
  }
  EXPECT_TRUE(ask("OPTIONS /api/x").starts_with("HTTP/1.1 204 "));
  EXPECT_EQ(ask("GET /hello").find("Access-Control"), std::string::npos);
}

TEST_F(HeadersTest, a_trace_id_comes_back_and_is_made_if_there_is_none) {
  EXPECT_TRUE(has(ask("GET /api/x", "X-Taskcluster-Trace-Id: abc-1\r\n"), "x-for-trace-id: abc-1"));
  for (const std::string& bad :
       {std::string("a b"), std::string(200, 'a'), std::string("\xc3\xbc")}) {
    const std::string answer = ask("GET /api/x", "X-Taskcluster-Trace-Id: " + bad + "\r\n");
    EXPECT_EQ(answer.find(bad), std::string::npos) << bad;
  }
  const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  EXPECT_TRUE(has(ask("GET /api/x", "traceparent: 00-" + trace + "-00f067aa0ba902b7-01\r\n"),
                  "x-for-trace-id: " + trace));
  for (const std::string& bad :
       {"00-" + trace + "-00f067aa0ba902b7", "ff-" + trace + "-00f067aa0ba902b7-01",
        "00-" + trace + "-00f067aa0ba902b7-01-x",
        "00-" + trace.substr(1) + "G-00f067aa0ba902b7-01"})
    EXPECT_FALSE(has(ask("GET /api/x", "traceparent: " + bad + "\r\n"), "x-for-trace-id: " + trace))
        << bad;
  const auto id_of = [](const std::string& answer) {
    return answer.substr(answer.find("x-for-trace-id: ") + 16, 36);
  };
  TestServer another;
  auto elsewhere = another.connect();
  elsewhere.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  std::set<std::string> ids{id_of(elsewhere.read_all())};
  for (int i = 0; i < 10; ++i) ids.insert(id_of(ask("GET /api/x")));  // whatever thread serves it
  EXPECT_EQ(ids.size(), 11u);
  for (const std::string& id : ids) {
    EXPECT_EQ(id[14], '4') << id;
    EXPECT_EQ(id[23], '-') << id;
  }
}

TEST_F(HeadersTest, the_access_log_has_ids_client_and_time) {
  ask("GET /api/x", "X-Taskcluster-Trace-Id: abc-1\r\n");
  EXPECT_TRUE(test.lines->contains("trace=abc-1 peer=127.0.0.1:"));
  EXPECT_TRUE(
      test.lines->contains("client=project/ci method=GET path=/api/x status=200 bytes=8 "
                           "microseconds="));
}

}  // namespace
}  // namespace muster::http

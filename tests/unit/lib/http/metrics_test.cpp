#include "lib/metrics/metrics.hpp"

#include <gtest/gtest.h>

#include "tests/unit/lib/http/test_server.hpp"

namespace muster::metrics {
namespace {

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, shows_counters_gauges_and_sources_in_prometheus_text) {
  Metrics metrics;
  const auto counter = metrics.counter("muster_a_total", "As", {{"kind", "x\"y\n"}});
  const auto other = metrics.counter("muster_a_total", "As", {{"kind", "z"}});
  const auto gauge = metrics.gauge("muster_b", "Bs");
  counter->add(3);
  gauge->set(-1.5);
  metrics.add_source([](Page& page) {
    page.histogram("muster_c_seconds", "Cs", {{0.1, 1}, {2, 0, 1}, 7.5});
  });
  const std::string text = metrics.text();
  EXPECT_TRUE(has_line(text, "# HELP muster_a_total As"));
  EXPECT_TRUE(has_line(text, "# TYPE muster_a_total counter"));
  EXPECT_TRUE(has_line(text, "muster_a_total{kind=\"x\\\"y\\n\"} 3")) << text;
  EXPECT_TRUE(has_line(text, "muster_a_total{kind=\"z\"} 0"));
  EXPECT_EQ(text.find("# TYPE muster_a_total"), text.rfind("# TYPE muster_a_total"));
  EXPECT_TRUE(has_line(text, "muster_b -1.5"));
  EXPECT_TRUE(has_line(text, "muster_c_seconds_bucket{le=\"0.1\"} 2"));
  EXPECT_TRUE(has_line(text, "muster_c_seconds_bucket{le=\"1\"} 2"));
  EXPECT_TRUE(has_line(text, "muster_c_seconds_bucket{le=\"+Inf\"} 3"));
  EXPECT_TRUE(has_line(text, "muster_c_seconds_count 3"));
  EXPECT_TRUE(has_line(text, "muster_c_seconds_sum 7.5"));
}

TEST(Metrics, too_many_series_of_a_name_are_added_up_in_one) {
  Page page;
  for (std::size_t i = 0; i < most_series + 5; ++i) {
    page.gauge("muster_a", "As", 2, {{"kind", std::to_string(i)}});
    page.histogram("muster_c_seconds", "Cs", {{1}, {1, 0}, 0.5}, {{"kind", std::to_string(i)}});
  }
  page.gauge("muster_b", "Bs", 7, {{"kind", "x"}});
  const std::string text = page.text();
  EXPECT_TRUE(has_line(text, "muster_a{kind=\"9999\"} 2"));
  EXPECT_FALSE(has_line(text, "muster_a{kind=\"10000\"} 2"));
  EXPECT_TRUE(has_line(text, "muster_a{kind=\"(other)\"} 10"));
  EXPECT_TRUE(has_line(text, "muster_b{kind=\"x\"} 7"));
  EXPECT_TRUE(has_line(text, "muster_c_seconds_count{kind=\"(other)\"} 5"));
  EXPECT_TRUE(has_line(text, "muster_c_seconds_bucket{kind=\"(other)\",le=\"+Inf\"} 5"));
  EXPECT_TRUE(has_line(text, "muster_metrics_left_out_series{metric=\"muster_a\"} 5"));
}

TEST(Metrics, what_nobody_holds_is_not_shown) {
  Metrics metrics;
  metrics.counter("muster_a_total", "As");
  const auto source = metrics.add_source([](Page& page) { page.gauge("muster_b", "Bs", 1); });
  EXPECT_TRUE(has_line(metrics.text(), "muster_b 1"));
  metrics.remove_source(source);
  EXPECT_EQ(metrics.text(), "");
}

TEST(Metrics, the_process_is_described) {
  Page page;
  write_process_metrics(page);
  EXPECT_NE(page.text().find("\nprocess_resident_memory_bytes "), std::string::npos);
  EXPECT_EQ(page.text().find("process_open_fds 0\n"), std::string::npos);
}

TEST(Metrics, the_server_counts_by_route_and_why_it_refused) {
  http::ServerSettings settings;
  settings.limits = {1024, 1024};
  http::TestServer test(settings);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(test.still_serves());
  for (const char* request :
       {"GET /none HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "nonsense\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n"}) {
    auto client = test.connect();
    client.send(request);
    client.finish_sending();
    client.read_all();
  }
  Page page;
  test.server->write_metrics(page);
  const std::string text = page.text();
  EXPECT_TRUE(has_line(
      text, "muster_http_requests_total{route=\"/hello\",method=\"GET\",status=\"2xx\"} 3"))
      << text;
  EXPECT_TRUE(has_line(
      text, "muster_http_requests_total{route=\"(none)\",method=\"(any)\",status=\"4xx\"} 3"))
      << text;
  EXPECT_TRUE(has_line(
      text, "muster_http_request_duration_seconds_count{route=\"/hello\",method=\"GET\"} 3"));
  EXPECT_TRUE(has_line(text, "muster_http_refused_total{reason=\"malformed\"} 1"));
  EXPECT_TRUE(has_line(text, "muster_http_refused_total{reason=\"bodyBytes\"} 1"));
  EXPECT_TRUE(has_line(text, "muster_http_connections_total 6"));
  EXPECT_EQ(text.find("/empty"), std::string::npos);  // never asked for
}

}  // namespace
}  // namespace muster::metrics

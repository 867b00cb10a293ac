// Requests that nobody would write, against the real router and both APIs: from a seed, and a fixed
// number of them, so that each run asks the same.
#include <random>

#include <gtest/gtest.h>

#include <muster/utf8.hpp>

#include "host/auth/client_store.hpp"
#include "tests/unit/host/both_apis/example_requests.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using taskcluster_api::Fixture;
using taskcluster_api::Reply;

constexpr int requests_from_seed = 6000;

class Fuzzer {
 public:
  explicit Fuzzer(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t end) { return end == 0 ? 0 : random_() % end; }
  bool one_in(std::size_t times) { return below(times) == 0; }
  char any_byte() { return static_cast<char>(below(256)); }

  std::string bytes(std::size_t most) {
    std::string text;
    for (std::size_t i = below(most + 1); i > 0; --i) text += any_byte();
    return text;
  }

  // Changes a few bytes.
  std::string bent(std::string text) {
    for (std::size_t times = 1 + below(4); times > 0; --times) {
      const std::size_t at = below(text.size() + 1);
      switch (below(5)) {
        case 0:
          text.insert(at, 1, any_byte());
          break;
        case 1:
          if (at < text.size()) text[at] = any_byte();
          break;
        case 2:
          text.erase(at, 1 + below(8));
          break;
        case 3:
          text.insert(at, text.substr(below(text.size() + 1), below(16)));
          break;
        default:
          text.insert(at, words_[below(words_.size())]);
      }
    }
    return text;
  }

  // Each byte as it is or escaped, in whatever place.
  std::string bent_path(const std::string& path) {
    std::string text = bent(path.substr(1));
    std::string all = "/";
    for (const char c : text) {
      static constexpr char hex[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x21 || c == '?' || one_in(12))
        all += std::string{'%', hex[byte >> 4], hex[byte & 15]};
      else
        all += c;
    }
    return all;
  }

 private:
  std::mt19937 random_;
  const std::vector<std::string> words_{"\xff",    "%ff",     "%00",
                                        "%2F",     "..",      "\xed\xa0\x80",
                                        "\\ud800", "\\u0000", "null",
                                        "-1",      "1e99",    "true",
                                        "{",       "[",       "\"\"",
                                        "\"a\":",  "\n",      "\xc2\x85",
                                        "*",       "<",       "99999999999999999999"};
};

std::string shown(const ExampleRequest& request, const std::string& path, const std::string& query,
                  const std::string& body) {
  return json::write(
      json::object{{"row", request.row->name}, {"path", path}, {"query", query}, {"body", body}});
}

void check(const Reply& reply, const std::string& what) {
  const bool documented = reply.status == 503 || reply.status == 501;
  EXPECT_TRUE(reply.status >= 200 && (reply.status < 500 || documented))
      << reply.status << " " << what << "\n"
      << reply.text;
  EXPECT_TRUE(is_utf8(reply.text)) << what;
  if (reply.header("Content-Type").starts_with("application/json") && !reply.text.empty()) {
    EXPECT_TRUE(json::parse(reply.text)) << what << "\n" << reply.text;
  }
}

// What was stored loads again, all of it.
void check_restart(Fixture& host) {
  host.let_run();
  const store::MemoryStore copy(host.store.inner.contents());
  const auto loaded = fleet::Fleet::load(copy, {}, "host-1", {host.clock->now(), 2h});
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_TRUE((*loaded)->check_sums().empty());
  for (const auto& entry : copy.set_aside().list())
    ADD_FAILURE() << entry.table->name << ": " << entry.reason;
}

TEST(RequestFuzzer, every_byte_in_an_identifier_is_refused_or_harmless) {
  Fixture host;
  const std::string body = json::write(host.cloud_pool_body());
  for (int byte = 0; byte < 256; ++byte) {
    char escaped[4];
    std::snprintf(escaped, sizeof escaped, "%%%02x", byte);
    for (const std::string& written :
         {std::string(1, static_cast<char>(byte)), std::string(escaped)})
      for (const char* prefix :
           {"/api/muster/v1/pools/x%2Fw", "/api/worker-manager/v1/worker-pool/x%2Fw",
            "/api/muster/v1/teams/t", "/api/muster/v1/worker-pools/x%2Fv"}) {
        if (byte == '?' && written.size() == 1) continue;
        const std::string path = prefix + written;
        const bool of_team = path.find("/teams/") != std::string::npos ||
                             path.find("/worker-pools/") != std::string::npos;
        check(host.send("PUT", path, {}, of_team ? "{}" : body), path);
      }
  }
  check_restart(host);
}

TEST(RequestFuzzer, no_request_fails_the_host_or_spoils_its_store) {
  Fixture host;
  const std::vector<ExampleRequest> examples = example_requests(host);
  ASSERT_EQ(host.call("createWorkerPool", {"p/w"}, {.body = host.cloud_pool_body()}).status, 200);
  std::vector<std::string> tokens{"", "root", "root", "root"};
  for (const ExampleRequest& request : examples)
    if (!request.scopes.empty()) tokens.push_back(host.client({request.scopes.front()}));
  Fuzzer fuzzer(20261117);
  for (int i = 0; i < requests_from_seed; ++i) {
    const ExampleRequest& request = examples[fuzzer.below(examples.size())];
    const std::string path = fuzzer.one_in(3) ? fuzzer.bent_path(request.path) : request.path;
    std::string query;
    for (const endpoints::QueryParameter& parameter : request.row->query)
      if (!parameter.header && fuzzer.one_in(3))
        query += (query.empty() ? "" : "&") + std::string(parameter.name) + "=" +
                 (fuzzer.one_in(2) ? "1" : fuzzer.bytes(12));
    if (fuzzer.one_in(8)) query += "&" + fuzzer.bytes(12);
    std::string body = request.body;
    if (fuzzer.one_in(2)) body = fuzzer.bent(std::move(body));
    if (fuzzer.one_in(20)) body = fuzzer.bytes(64);
    // A poll would wait for what never comes.
    if (query.find("wait") != std::string::npos) query.clear();
    const std::string type = fuzzer.one_in(20) ? fuzzer.bytes(20) : "application/json";
    const Reply reply = host.send(std::string(request.row->method), path,
                                  {.query = query, .token = tokens[fuzzer.below(tokens.size())]},
                                  body, body.empty() ? "" : type);
    check(reply, shown(request, path, query, body));
    if (::testing::Test::HasFailure()) break;
  }
  check_restart(host);
}

}  // namespace
}  // namespace muster::testing

// Bytes of one connection. However they are cut into pieces, the same requests come out; what comes
// out can be routed and asked about; and no limit is passed.
#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/http/outgoing.hpp"
#include "lib/http/request_parser.hpp"
#include "lib/http/route_table.hpp"
#include "require.hpp"

namespace {

using namespace muster::http;

constexpr RequestLimits limits{1024, 512};

struct Outcome {
  std::vector<Request> requests;
  bool failed = false;
};

Outcome parse(std::string_view bytes, std::size_t piece) {
  RequestParser parser(limits);
  Outcome outcome;
  std::string pending;
  for (std::size_t at = 0; at < bytes.size() && !outcome.failed; at += piece) {
    pending += bytes.substr(at, piece);
    for (;;) {
      const std::size_t used = parser.feed(pending);
      REQUIRE(used <= pending.size());
      pending.erase(0, used);
      if (parser.take_head() && parser.state() == RequestParser::State::body) continue;
      if (parser.state() != RequestParser::State::complete) break;
      outcome.requests.push_back(parser.take());
    }
    outcome.failed = parser.state() == RequestParser::State::failed;
    if (outcome.failed)
      REQUIRE(parser.failure().status >= 400 && !parser.failure().message.empty());
  }
  return outcome;
}

bool same(const Request& a, const Request& b) {
  if (a.method != b.method || a.target() != b.target() || a.body != b.body ||
      a.keep_alive != b.keep_alive || a.headers.size() != b.headers.size())
    return false;
  for (std::size_t i = 0; i < a.headers.size(); ++i)
    if (a.headers[i].name != b.headers[i].name || a.headers[i].value != b.headers[i].value)
      return false;
  return true;
}

void use(const Request& request) {
  static const PathPattern pattern("/api/{*name}/stats");
  REQUIRE(request.path.starts_with('/'));
  REQUIRE(request.body.size() <= limits.max_body_bytes);
  std::size_t head = 0;
  for (const Header& header : request.headers) {
    REQUIRE(header.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos);
    head += header.name.size() + header.value.size();
  }
  REQUIRE(head <= limits.max_header_bytes);
  const Wishes wishes = wishes_of(request);
  Response response{200, {{"Content-Type", "text/plain"}}, "a"};
  shape(response, wishes);
  const PathSegments path(request.path);
  if (pattern.fits(path)) REQUIRE(pattern.parameters(path).size() == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const Outcome whole = parse(input, input.size() + 1);
  for (const std::size_t piece : {std::size_t(1), std::size_t(13)}) {
    const Outcome cut = parse(input, piece);
    REQUIRE(cut.requests.size() == whole.requests.size());
    for (std::size_t i = 0; i < whole.requests.size(); ++i)
      REQUIRE(same(whole.requests[i], cut.requests[i]));
  }
  for (const Request& request : whole.requests) use(request);
  return 0;
}

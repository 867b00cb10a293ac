// An Authorization header and, behind the first newline, the target of its request. Whatever comes
// is refused with a reason, unless it is the one that was signed.
#include <cstdint>
#include <string>
#include <string_view>

#include "host/auth/authority.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/hawk/hawk.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace muster;
  static const FakeClock clock;
  static auth::Authority& authority = *[] {
    auth::AuthoritySettings settings;
    settings.lockout.failures = 0;
    auto* made = new auth::Authority(clock, settings);
    auth::Client client;
    client.client_id = "me";
    client.keys.push_back({Secret("a key that no fuzzer finds")});
    made->put(client);
    return made;
  }();
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const auto newline = input.find('\n');
  http::Request request;
  request.method = "GET";
  request.path = newline == input.npos ? "/x" : std::string(input.substr(newline + 1));
  if (const auto question = request.path.find('?'); question != std::string::npos) {
    request.has_query = true;
    request.query = request.path.substr(question + 1);
    request.path.resize(question);
  }
  request.peer = "192.0.2.7:1";
  const std::string header(input.substr(0, newline));
  request.headers = {{"Host", "fleet.example"}};
  if (!header.empty()) request.headers.push_back({"Authorization", header});
  const auto caller = authority.authenticate(request);
  if (caller)
    REQUIRE((*caller)->client_id.empty());
  else
    REQUIRE(!caller.error().message.empty());
  // What can be read can be written, and reads back as the same.
  if (const auto attributes = hawk::parse_header(header))
    REQUIRE(hawk::parse_header(hawk::format_header(*attributes)).value() == *attributes);
  return 0;
}

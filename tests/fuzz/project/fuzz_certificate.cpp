// What stands in `ext`, before it is base64: a certificate and authorized scopes. The request
// itself is signed well, so that everything behind the signature is reached, too.
#include <cstdint>
#include <string_view>

#include "host/auth/grant.hpp"
#include "lib/hawk/hawk.hpp"
#include "require.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace muster;
  static const auto issuer = [] {
    auth::Client client;
    client.client_id = "me";
    client.keys.push_back({Secret("a key that no fuzzer finds")});
    client.scopes = {"a:*", "auth:create-client:t/*", "assume:team:x"};
    auto roles = auth::Roles::make({{"team:*", {"b:<..>"}}, {"anonymous", {"ping"}}}).value();
    return auth::known(client, std::make_shared<const auth::Roles>(std::move(roles)));
  }();
  const Time now(std::chrono::milliseconds(1'700'000'000'000));
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  (void)auth::parse_ext(input, "me");
  for (const char* id : {"me", "t/1"}) {
    const auto ext = auth::parse_ext(hawk::base64(input), id);
    if (!ext) continue;
    auto unproved = auth::read_grant(id, *ext, issuer, now);
    if (!unproved) {
      REQUIRE(!unproved.error().message.empty());
      continue;
    }
    const auto grant = auth::make_grant(id, std::move(*unproved));
    if (!grant) {
      REQUIRE(!grant.error().message.empty());
      continue;
    }
    // Nobody gets more than the issuer has.
    const auth::ScopeSet most = issuer->caller->scopes;
    for (const std::string& scope : grant->caller->scopes.list()) REQUIRE(most.satisfies(scope));
    REQUIRE(!grant->start);  // no fuzzer signs
  }
  return 0;
}

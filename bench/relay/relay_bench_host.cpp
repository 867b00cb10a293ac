// A host that checks signatures and answers relay-registrations, and nothing else.
//
// usage: relay_bench_host <certificate> <key> <access token>; prints its port and serves until it
// is killed.
#include <cstdio>
#include <unistd.h>

#include "lib/hawk/hawk.hpp"
#include "lib/http/answer.hpp"
#include "lib/http/server.hpp"

int main(int argc, char** argv) {
  using namespace muster;
  if (argc != 4) return 2;
  const Secret token{argv[3]};
  const std::string answer =
      R"({"workerPoolId":"worker-manager/mac","providerId":"dc1","workerGroup":"dc1","workerId":"m",)"
      R"("expires":"2090-01-01T00:00:00.000Z","credentials":{"clientId":"worker/x","accessToken":")" +
      std::string(44, 'a') + R"(","certificate":")" + std::string(800, 'c') +
      R"("},"workerConfig":{"a":1},"secret":")" + std::string(44, 's') + "\"}";
  std::uint16_t port = 0;
  const SystemClock clock;
  http::Router router{Log()};
  router.add(
      "POST", "/api/muster/v1/relay-registrations", http::now([&](const http::Request& request) {
        const auto header = hawk::parse_header(request.header("Authorization").value_or(""));
        const hawk::Request described{request.method, request.target(), "127.0.0.1", port};
        const bool good =
            header && header->hash == hawk::payload_hash("application/json", request.body) &&
            hawk::same_mac(header->mac,
                           hawk::mac_of(token, hawk::normalized("header", *header, described)));
        return good ? http::Response{200, {{"Content-Type", "application/json"}}, answer}
                    : http::error_answer(request, 401, "AuthenticationFailed", "who are you?");
      }));
  http::ServerSettings settings;
  settings.threads = 1;
  settings.access_log = false;
  settings.tls = http::TlsFiles{argv[1], argv[2]};
  auto server = http::Server::listen(settings, router, clock, Log());
  if (!server) return std::fprintf(stderr, "%s\n", server.error().message.c_str()), 1;
  port = (*server)->port();
  (*server)->start();
  std::printf("%u\n", unsigned{port});
  std::fflush(stdout);
  for (;;) ::pause();
}

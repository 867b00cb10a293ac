// Ten thousand damaged copies of a good plugin: whatever they do, they do it to the child that
// checks them.
#include <random>

#include <gtest/gtest.h>

#include "host/plugin_loader/cell_channel.hpp"
#include "tests/unit/host/plugin_loader/loader_fixture.hpp"

namespace muster::plugin_loader {
namespace {

constexpr int copies = MUSTER_DAMAGED_COPIES;

std::string damage(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  if (below(4) == 0) return bytes.substr(0, below(bytes.size()));  // truncated
  // Flipped bits, more often where it hurts: in the headers and tables at both ends of the file.
  const std::size_t flips = 1 + below(8);
  for (std::size_t i = 0; i < flips; ++i) {
    const std::size_t zone = below(3);
    const std::size_t span = std::min<std::size_t>(4096, bytes.size());
    const std::size_t at = zone == 0   ? below(span)
                           : zone == 1 ? bytes.size() - 1 - below(span)
                                       : below(bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
  }
  return bytes;
}

// Each copy gets a fair check: the hash is right for its damaged bytes, so nothing but the
// library itself can be the reason of a refusal.
using Damaged = LoaderFixture;

TEST_F(Damaged, copies_are_refused_or_run_but_never_harm_the_host) {
  const std::string good = bytes_of(built_plugin("good"));
  std::atomic<int> next = 0, refused = 0, accepted = 0;
  const auto work = [&] {
    CellSpawner spawner(MUSTER_CELL);
    const HostServices services{[] { return Time(); }, [](LogLevel, std::string_view) {}};
    for (int i = next++; i < copies; i = next++) {
      std::mt19937 random(static_cast<unsigned>(i));
      const fs::path library = home_ / ("damaged-" + std::to_string(i) + ".so");
      std::ofstream(library, std::ios::binary) << damage(good, random);
      StartRequest request{.library = library.string(), .configs = {{}}, .only_check = true};
      request.limits.memory_bytes = std::int64_t{512} << 20;
      const auto opened = open_cell(spawner, request, services, 5s);
      ++(opened ? accepted : refused);
      if (!opened) {
        EXPECT_FALSE(opened.error().message.empty());
      }
      fs::remove(library);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(refused + accepted, copies);
  EXPECT_GT(refused, copies / 4);
  RecordProperty("refused", refused.load());
  std::printf("%d copies: %d refused, %d accepted (the damage hit nothing that matters)\n", copies,
              refused.load(), accepted.load());
}

}  // namespace
}  // namespace muster::plugin_loader

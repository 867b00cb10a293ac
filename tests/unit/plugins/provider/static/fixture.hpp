// What the tests of the static provider share.
#pragma once

#include <fstream>

#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

#include "plugins/provider/static/static_provider.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::static_machines {

inline const char* const mac_pool = "worker-manager/mac";

inline json::object parsed(std::string_view text) {
  auto object = json::parse_object(text);
  EXPECT_TRUE(object) << text;
  return object ? *object : json::object();
}

inline std::unique_ptr<Provider> make_provider(const json::object& config) {
  auto made = StaticProvider::create(config, testing::FakeContext());
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : nullptr;
}

inline Owner owner(const char* host = "host-1", std::int64_t epoch = 3) {
  return {host, ProviderId("dc1"), epoch};
}

// A program in shell.
inline std::string script(const testing::TemporaryFolder& folder, const std::string& name,
                          const std::string& body) {
  const std::string path = folder / name;
  {
    std::ofstream file(path);
    file << "#!/bin/sh\n" << body << "\n";
  }
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace muster::static_machines

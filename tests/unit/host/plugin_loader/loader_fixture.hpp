// A plugin folder and a catalog over it, for tests of the loader.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "host/plugin_loader/plugin_catalog.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/deadline_context.hpp"
#include "lib/base/secret.hpp"
#include "tests/support/recorded_log.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::plugin_loader {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

inline std::string bytes_of(const fs::path& file) {
  return read_file(file, std::size_t{1} << 30).value();
}

inline fs::path built_plugin(const std::string& name, const std::string& version = "1.0.0") {
  return fs::path(MUSTER_BAD_PLUGINS) / (name + "-" + version) / (name + ".so");
}

// Long enough for the slowest sanitizer on a busy machine; only what hangs on purpose waits for it.
inline constexpr std::chrono::milliseconds hang_budget{MUSTER_HANG_BUDGET_MS};
// For calls that are expected to come back.
inline constexpr std::chrono::milliseconds ample = 60s;

class LoaderFixture : public ::testing::Test {
 protected:
  LoaderFixture() { fs::create_directories(folder_); }

  // Puts a plugin into the plugin folder the way an operator does: the library first, the manifest
  // last.
  void drop_bytes(const std::string& name, const std::string& library_bytes,
                  const std::string& version = "1.0.0", const std::string& more = "") {
    fs::create_directories(folder_ / name);
    ASSERT_TRUE(write_file_atomically(folder_ / name / (name + ".so"), library_bytes, 0755));
    write_manifest_of(name, version, to_hex(sha256(library_bytes)), more);
  }
  void drop(const std::string& name, const std::string& version = "1.0.0") {
    drop_bytes(name, bytes_of(built_plugin(name, version)), version);
  }

  void write_manifest_of(const std::string& name, const std::string& version,
                         const std::string& sha256, const std::string& more = "") {
    fs::create_directories(folder_ / name);
    ASSERT_TRUE(write_file_atomically(folder_ / name / "plugin.toml",
                                      "name = \"" + name + "\"\nkind = \"provider\"\nversion = \"" +
                                          version + "\"\nabi = 1\nfile = \"" + name +
                                          ".so\"\nsha256 = \"" + sha256 + "\"\n" + more));
  }

  PluginCatalog& open(std::vector<InstanceSpec> instances = {}) {
    catalog_.reset();
    auto opened = PluginCatalog::open(settings_, std::make_shared<SystemClock>(),
                                      Log(log_, LogLevel::debug, LogFormat::text), crash_record_);
    if (!opened) throw std::runtime_error(opened.error().message);
    catalog_ = std::move(*opened);
    catalog_->configure(settings_.folders, std::move(instances));
    return *catalog_;
  }

  // One instance of the plugin, with the isolation given.
  std::shared_ptr<Channel> open_instance(const std::string& name, Isolation isolation) {
    return open({{.instance_id = "it", .plugin_id = "provider/" + name, .isolation = isolation}})
        .channel("it");
  }

  PluginStatus status_of(const std::string& plugin_id) const {
    for (PluginStatus& plugin : catalog_->list().plugins)
      if (plugin.plugin_id == plugin_id) return plugin;
    return {.plugin_id = "(none)"};
  }
  std::string reason_for(const std::string& name) const {
    const PluginStatus status = status_of("provider/" + name);
    if (status.versions.empty()) return "(unknown)";
    if (status.versions.front().state != PluginState::rejected) return "(not rejected)";
    return status.versions.front().reason;
  }

  static std::string ask(const std::shared_ptr<Channel>& channel, std::string_view what,
                         std::chrono::milliseconds budget = ample) {
    const auto answer = channel->call("placements", "{\"do\":\"" + std::string(what) + "\"}",
                                      DeadlineContext(budget));
    return answer
               ? *answer
               : std::string(to_string(answer.error().error_class)) + ": " + answer.error().message;
  }
  static std::string who(const std::shared_ptr<Channel>& channel) {
    const auto answer = channel->call("who", "{}", DeadlineContext(ample));
    return answer ? *answer : answer.error().message;
  }

  // Waits for an event that is on its way; the bound is only there to end a broken test.
  template <class Condition>
  static bool eventually(Condition condition) {
    for (int i = 0; i < 60'000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

  testing::TemporaryFolder home_;
  fs::path folder_ = home_ / "plugins";
  std::shared_ptr<testing::RecordedLog> log_ = std::make_shared<testing::RecordedLog>();
  std::shared_ptr<CrashRecord> crash_record_;
  LoaderSettings settings_{.folders = {{folder_}},
                           .store = home_ / "store",
                           .cell_program = MUSTER_CELL,
                           .start_budget = ample};
  std::unique_ptr<PluginCatalog> catalog_;
};

}  // namespace muster::plugin_loader

// What the operator reads about each bad plugin, word for word.
#include <elf.h>
#include <fstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/plugin_loader/loader_fixture.hpp"

namespace muster::plugin_loader {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using BadPlugin = LoaderFixture;

TEST_F(BadPlugin, text_is_no_library) {
  drop_bytes("script", "#!/bin/sh\necho I am no library\n");
  open();
  EXPECT_THAT(reason_for("script"), StartsWith("not a readable ELF library ("));
}

TEST_F(BadPlugin, a_truncated_library_is_refused) {
  const std::string whole = bytes_of(built_plugin("good"));
  drop_bytes("good", whole.substr(0, whole.size() / 3));
  open();
  EXPECT_THAT(reason_for("good"), StartsWith("not a readable ELF library ("));
}

TEST_F(BadPlugin, a_library_that_is_no_plugin_is_refused) {
  drop("no_symbol");
  open();
  EXPECT_EQ(reason_for("no_symbol"), "exports no muster_plugin_v1");
}

TEST_F(BadPlugin, another_abi_is_refused_before_any_of_its_code_runs) {
  drop("wrong_abi");
  open();
  EXPECT_EQ(reason_for("wrong_abi"), "built for plugin ABI 2, this host speaks ABI 1");
}

TEST_F(BadPlugin, a_short_descriptor_is_refused_with_both_sizes) {
  drop("short_descriptor");
  open();
  EXPECT_EQ(reason_for("short_descriptor"), "its descriptor is 16 bytes, ABI 1.0 needs 56");
}

TEST_F(BadPlugin, an_empty_field_is_named) {
  drop("empty_field");
  open();
  EXPECT_EQ(reason_for("empty_field"), "its descriptor has no call");
}

TEST_F(BadPlugin, a_missing_function_is_named) {
  drop("unresolved");
  open();
  EXPECT_THAT(reason_for("unresolved"), StartsWith("cannot be loaded: "));
  EXPECT_THAT(reason_for("unresolved"), HasSubstr("undefined symbol: function_from_nowhere"));
}

TEST_F(BadPlugin, a_library_for_another_architecture_is_refused) {
  std::string bytes = bytes_of(built_plugin("good"));
  reinterpret_cast<Elf64_Ehdr*>(bytes.data())->e_machine = EM_AARCH64;
  drop_bytes("good", bytes);
  open();
  EXPECT_THAT(reason_for("good"), StartsWith("cannot be loaded: "));
}

// It depends on the compiler whether the loader can catch what a constructor throws.
TEST_F(BadPlugin, a_throw_in_a_static_constructor_ends_at_most_the_checking_child) {
  drop("throws_on_load");
  open();
  EXPECT_THAT(reason_for("throws_on_load"),
              AnyOf(StartsWith("its process ended while starting, killed by Aborted"),
                    StartsWith("cannot be loaded: ")));
  EXPECT_THAT(reason_for("throws_on_load"), HasSubstr("static constructor"));
}

TEST_F(BadPlugin, a_crash_in_a_static_constructor_kills_only_the_checking_child) {
  drop("crashes_on_load");
  open();
  EXPECT_THAT(reason_for("crashes_on_load"), StartsWith("its process ended while starting, "));
#ifndef MUSTER_SANITIZED
  EXPECT_EQ(reason_for("crashes_on_load"),
            "its process ended while starting, killed by Segmentation fault");
#endif
}

TEST_F(BadPlugin, a_hang_in_create_is_ended_by_the_deadline) {
  settings_.start_budget = hang_budget;
  drop("hangs_in_create");
  open({{.instance_id = "it", .plugin_id = "provider/hangs_in_create"}});
  EXPECT_EQ(reason_for("hangs_in_create"),
            "did not start within " + std::to_string(hang_budget.count()) + " ms and was killed");
}

TEST_F(BadPlugin, an_exception_out_of_create_is_a_violation) {
  drop("throws_in_create");
  open({{.instance_id = "it", .plugin_id = "provider/throws_in_create"}});
  EXPECT_EQ(reason_for("throws_in_create"),
            "create failed: ABI violation, an exception crossed the boundary: no route to cloud");
}

TEST_F(BadPlugin, a_refused_configuration_is_told_in_the_plugins_own_words) {
  drop("refuses_config");
  open({{.instance_id = "it", .plugin_id = "provider/refuses_config"}});
  EXPECT_EQ(reason_for("refuses_config"), "create failed: the account is missing");
}

TEST_F(BadPlugin, an_instance_that_cannot_start_stops_no_sibling_and_starts_when_it_is_corrected) {
  drop("not_ready");
  const fs::path ready = home_ / "ready";
  std::ofstream{ready};
  const InstanceSpec good{.instance_id = "good",
                          .plugin_id = "provider/not_ready",
                          .config = {{"ready", ready.string()}}};
  InstanceSpec bad = good;
  bad.instance_id = "bad";
  bad.config = {{"ready", (home_ / "nowhere").string()}};
  open({good, bad});
  EXPECT_TRUE(catalog_->running("good"));
  EXPECT_FALSE(catalog_->running("bad"));
  EXPECT_EQ(catalog_->failure_of("bad"), "create failed: the cloud does not answer");
  EXPECT_EQ(status_of("provider/not_ready").state, PluginState::active);
  bad.config = good.config;
  EXPECT_TRUE(catalog_->configure(settings_.folders, {good, bad}).empty());
  EXPECT_TRUE(catalog_->running("bad"));
  EXPECT_FALSE(catalog_->failure_of("bad"));
}

TEST_F(BadPlugin, one_that_cannot_start_yet_is_tried_again) {
  drop("not_ready");
  const fs::path ready = home_ / "ready";
  open({{.instance_id = "it",
         .plugin_id = "provider/not_ready",
         .config = {{"ready", ready.string()}}}});
  EXPECT_EQ(reason_for("not_ready"), "create failed: the cloud does not answer");
  std::ofstream{ready};
  catalog_->rescan();
  EXPECT_EQ(status_of("provider/not_ready").state, PluginState::active);
}

TEST_F(BadPlugin, a_description_of_the_wrong_shape_is_refused_with_the_path) {
  drop("wrong_description");
  open();
  EXPECT_EQ(reason_for("wrong_description"),
            "its description is wrong: configSchema: expected an object, got an array");
}

TEST_F(BadPlugin, an_empty_file_a_folder_and_a_loop_of_links_are_no_libraries) {
  for (const char* name : {"empty", "folder", "loop"})
    write_manifest_of(name, "1.0.0", std::string(64, '0'));
  std::ofstream(folder_ / "empty" / "empty.so");
  fs::create_directories(folder_ / "folder" / "folder.so");
  fs::create_symlink("loop.so", folder_ / "loop" / "loop.so");
  open();
  EXPECT_EQ(reason_for("empty"), (folder_ / "empty/empty.so").string() + " is empty");
  EXPECT_EQ(reason_for("folder"),
            (folder_ / "folder/folder.so").string() + " is not a regular file");
  EXPECT_EQ(reason_for("loop"),
            "open " + (folder_ / "loop/loop.so").string() + ": Too many levels of symbolic links");
}

TEST_F(BadPlugin, a_wrong_hash_is_refused_with_both_and_with_what_to_do) {
  drop("good");
  write_manifest_of("good", "1.0.0", std::string(64, '0'));
  open();
  EXPECT_EQ(reason_for("good"), "the manifest expects sha256 " + std::string(64, '0') +
                                    " but good.so has " +
                                    to_hex(sha256(bytes_of(built_plugin("good")))) +
                                    "; copy the library first and the manifest last");
}

TEST_F(BadPlugin, a_manifest_that_says_something_else_than_the_library_is_refused) {
  drop_bytes("good", bytes_of(built_plugin("good")), "7.0.0");
  drop_bytes("other", bytes_of(built_plugin("good")));
  open();
  EXPECT_EQ(reason_for("good"),
            "the manifest says version \"7.0.0\" but the library says \"1.0.0\"");
  EXPECT_EQ(reason_for("other"), "the manifest says name \"other\" but the library says \"good\"");
}

TEST_F(BadPlugin, what_others_can_write_is_refused) {
  for (const auto& [file, what] :
       {std::pair("", "the plugin's folder "), std::pair("/plugin.toml", "the plugin's manifest "),
        std::pair("/good.so", "the plugin's library ")})
    for (const auto& [who, name] : {std::pair(fs::perms::others_write, "everybody"),
                                    std::pair(fs::perms::group_write, "its group")}) {
      drop("good");
      const std::string path = (folder_ / "good").string() + file;
      fs::permissions(path, who, fs::perm_options::add);
      open();
      EXPECT_EQ(reason_for("good"),
                what + path + " is writable by " + name + ": run chmod go-w '" + path + "'");
      fs::permissions(path, who, fs::perm_options::remove);
    }
}

TEST_F(BadPlugin, what_belongs_to_somebody_else_is_refused) {
  drop("good");
  // Only root can give files away; for others root's own are the only foreign ones, and trusted.
  const bool given = ::chown((folder_ / "good/plugin.toml").c_str(), 4711, 4711) == 0;
  open();
  ASSERT_EQ(given, ::geteuid() == 0);
  if (given)
    EXPECT_THAT(reason_for("good"), HasSubstr("belongs to user 4711, who can change it"));
  else
    EXPECT_EQ(status_of("provider/good").state, PluginState::active);
}

TEST_F(BadPlugin, a_broken_manifest_and_a_library_without_one_are_told_by_their_path) {
  fs::create_directories(folder_ / "broken");
  std::ofstream(folder_ / "broken/plugin.toml")
      << "name = \"Bad Name\"\nkind = 7\ncolour = \"red\"\n";
  std::ofstream(folder_ / "alone.so") << "x";
  open();
  const std::string file = (folder_ / "broken/plugin.toml").string();
  const PluginStatus broken = status_of((folder_ / "broken").string());
  ASSERT_EQ(broken.state, PluginState::rejected);
  EXPECT_EQ(
      broken.versions.front().reason,
      file + ":2:8: kind must be a string that is not empty\n" + file +
          ":1:1: version is missing\n" + file + ":1:1: file is missing\n" + file +
          ":1:1: sha256 is missing\n" + file +
          ":1:8: name must be lower-case letters, digits, - and _, and begin with a letter "
          "or digit\n" +
          file +
          ":3:10: colour is not a key of a manifest; known are name, kind, version, abi, file, "
          "sha256, isolation");
  const std::string alone = (folder_ / "alone.so").string();
  EXPECT_EQ(status_of(alone).versions.front().reason,
            "there is no plugin.toml for " + alone + "; run: muster plugin install " + alone);
}

TEST_F(BadPlugin, one_with_unique_symbols_is_welcome) {
  drop("gnu_unique");
  open();
  EXPECT_EQ(status_of("provider/gnu_unique").state, PluginState::active);
}

TEST_F(BadPlugin, the_others_go_on) {
  drop("crashes_on_load");
  drop("good");
  open();
  EXPECT_EQ(who(catalog_->channel("good-standby")), "\"1.0.0\"");
  EXPECT_TRUE(log_->contains("a plugin is refused"));
}

}  // namespace
}  // namespace muster::plugin_loader

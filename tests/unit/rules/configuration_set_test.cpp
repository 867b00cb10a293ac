#include <filesystem>
#include <fstream>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <muster/rules/configuration_set.hpp>
#include <muster/rules/pool_settings.hpp>

#include "tests/support/temporary_folder.hpp"

namespace muster::rules {
namespace {

const std::string pool =
    "[[rules]]\nruleId = \"pool\"\ndescription = \"d\"\n"
    "values = { providers = [\"dc\"], maxCapacity = 5, owner = \"o\", description = \"d\" }\n";
const std::string facts =
    "[providers.dc]\nplacements = [{ region = \"a\" }, { region = \"b\" }]\n[providers.other]\n";

TEST(ConfigurationSet, a_folder_that_is_not_there_is_an_error) {
  EXPECT_FALSE(load_folder("/nonexistent/folder"));
}

TEST(ConfigurationSet, reads_only_configuration_files) {
  EXPECT_TRUE(is_configuration_file("x/build.toml"));
  EXPECT_TRUE(is_configuration_file("build.json"));
  EXPECT_TRUE(is_configuration_file("facts.toml"));
  for (const char* other : {"x/host.toml", "muster.toml", "simulation.toml", ".build.toml",
                            "build.toml.swp", "README.md", "build.toml~", "toml"})
    EXPECT_FALSE(is_configuration_file(other)) << other;
}

std::string unreadable_of(const std::vector<SourceFile>& files, const std::string& name) {
  for (const SourceFile& file : files)
    if (file.name.ends_with("/" + name)) return file.text + file.unreadable;
  return "no such file";
}

TEST(ConfigurationSet, what_is_no_regular_file_is_a_problem_of_that_name_and_the_others_are_read) {
  const muster::testing::TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe.toml").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder / "socket.toml").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(socket);
  std::ofstream(folder / "build.toml") << "workerTypes = [\"x\"]\n" << pool;
  const auto files = read_folder(folder.path());
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(unreadable_of(*files, "pipe.toml").substr(0, 9), "is a FIFO");
  EXPECT_EQ(unreadable_of(*files, "socket.toml").substr(0, 11), "is a socket");
  const auto set = ConfigurationSet::from_files(*files);
  EXPECT_TRUE(set.find("build"));
  ASSERT_EQ(set.problems().size(), 2u);
  EXPECT_EQ(set.problems()[0].code, "unreadableFile");
  EXPECT_EQ(to_string(set.problems()[0]),
            (folder / "pipe.toml").string() +
                ": is a FIFO and not a regular file; remove it or give it another name");
}

TEST(ConfigurationSet, a_link_is_read_only_if_it_leads_to_a_configuration_in_the_same_folder) {
  const muster::testing::TemporaryFolder above;
  const std::filesystem::path folder = above / "workers";
  std::filesystem::create_directories(folder / "..data");
  std::ofstream(above / "admin-token") << "secret";
  std::ofstream(above / "other.toml") << "secret";
  std::ofstream(folder / "admin-token") << "secret";
  std::ofstream(folder / "host.toml") << "secret";
  std::ofstream(folder / "..data/mounted.toml") << "x = 1";
  const auto link = [&](const char* to, const char* name) {
    std::filesystem::create_symlink(to, folder / name);
  };
  link("../admin-token", "leak.toml");
  link((above / "admin-token").c_str(), "absolute.toml");
  link("../other.toml", "above.toml");
  link("..data/../../other.toml", "around.toml");
  link("leak.toml", "twice.toml");
  link("/proc/self/environ", "environ.toml");
  link("admin-token", "inside.toml");
  link("host.toml", "host-link.toml");
  link("/dev/zero", "zero.toml");
  link("loop.toml", "loop.toml");
  link("nothing.toml", "dangling.toml");
  link("..data/mounted.toml", "mounted.toml");
  const auto files = read_folder(folder);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(files->size(), 12u);
  for (const SourceFile& file : *files) {
    const bool good = file.name.ends_with("mounted.toml");
    EXPECT_EQ(file.text, good ? "x = 1" : "") << file.name;
    EXPECT_EQ(file.unreadable.empty(), good) << file.name;
  }
}

TEST(ConfigurationSet, the_folder_itself_may_be_a_link) {
  const muster::testing::TemporaryFolder above;
  std::filesystem::create_directory(above / "v1");
  std::ofstream(above / "v1/build.toml") << "x = 1";
  std::filesystem::create_symlink("v1", above / "workers");
  EXPECT_EQ(read_folder(above / "workers").value().at(0).text, "x = 1");
}

TEST(ConfigurationSet, loads_a_folder_with_its_facts) {
  const muster::testing::TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
  };
  write("facts.toml", facts);
  write("build.toml", "workerTypes = [\"x\", \"y\"]\n" + pool);
  write("host.toml", "not a worker configuration");
  write("bad.toml", "workerTypes = 1\n");
  std::filesystem::create_directory(folder.path() / "folder.toml");
  const auto set = load_folder(folder.path()).value();
  ASSERT_EQ(set.documents().size(), 1u);
  EXPECT_EQ(set.find_by_worker_type("y"), set.find("build"));
  EXPECT_EQ(set.find("bad"), nullptr);
  EXPECT_EQ(set.find_by_worker_type("z"), nullptr);
  EXPECT_TRUE(has_errors(set.problems()));
  EXPECT_EQ(set.problems().front().position.file, (folder.path() / "bad.toml").string());
}

TEST(ConfigurationSet, combinations_are_worker_types_times_placements_of_opted_in_providers) {
  const std::vector<SourceFile> files = {{"facts.toml", facts},
                                         {"c.toml", "workerTypes = [\"x\", \"y\"]\n" + pool}};
  const auto set = ConfigurationSet::from_files(files);
  const auto combinations = set.combinations(*set.find("c"));
  ASSERT_EQ(combinations.size(), 4u);
  EXPECT_EQ(set.count_combinations(*set.find("c")), 4u);
  EXPECT_EQ(combinations[3].facts,
            (Facts{{"workerType", "y"}, {"provider", "dc"}, {"region", "b"}}));
}

TEST(ConfigurationSet, a_provider_without_placements_has_one_that_adds_nothing) {
  const auto known = parse_known_facts(facts, "facts.toml").known;
  ASSERT_EQ(known.find("other")->placements.size(), 1u);
  EXPECT_TRUE(known.find("other")->placements[0].empty());
  EXPECT_EQ(known.fact_names(), (std::vector<std::string>{"provider", "region", "workerType"}));
}

TEST(ConfigurationSet, the_first_file_keeps_a_worker_type_that_two_claim) {
  const std::vector<SourceFile> files = {{"a.toml", "workerTypes = [\"x\"]\n" + pool},
                                         {"b.toml", "workerTypes = [\"x\"]\n" + pool}};
  const auto set = ConfigurationSet::from_files(files);
  EXPECT_EQ(set.find_by_worker_type("x")->id, "a");
  ASSERT_EQ(set.rejected().size(), 1u);
  EXPECT_EQ(set.rejected()[0]->id, "b");
}

TEST(PoolSettings, are_evaluated_with_only_the_worker_type_known) {
  const auto document =
      parse_toml("workerTypes = [\"x\", \"y\"]\n" + pool +
                     "[[rules]]\nruleId = \"y\"\nconditions = { workerType = \"y\" }\nvalues = { "
                     "maxCapacity = 9, scalingRatio = 0.5, minCapacity = 2, emailOnError = true, "
                     "teams = [\"t\"], strategy = \"cheapest\" }\n"
                     "[[rules]]\nruleId = \"p\"\nconditions = { provider = \"*\" "
                     "}\nvalues.maxCapacity = 1\n",
                 "c.toml")
          .document;
  const auto x = pool_settings(*document, "x"), y = pool_settings(*document, "y");
  EXPECT_TRUE(x.problems.empty() && y.problems.empty());
  EXPECT_EQ(x.settings.max_capacity, 5);
  EXPECT_EQ(y.settings.max_capacity, 9);
  EXPECT_EQ(y.settings.min_capacity, 2);
  EXPECT_EQ(y.settings.scaling_ratio, 0.5);
  EXPECT_TRUE(y.settings.email_on_error);
  EXPECT_EQ(y.settings.strategy, "cheapest");
  EXPECT_EQ(y.settings.teams, (std::vector<std::string>{"t"}));
  EXPECT_EQ(y.settings.providers, (std::vector<std::string>{"dc"}));
}

TEST(NearestName, suggests_what_was_meant_and_nothing_far_away) {
  const std::vector<std::string> known = {"workerType", "provider", "region", "availabilityZone"};
  EXPECT_EQ(nearest_name("provder", known), "provider");
  EXPECT_EQ(nearest_name("availability_zone", known), "availabilityZone");
  EXPECT_EQ(nearest_name("colour", known), "");
  EXPECT_EQ(nearest_name("", known), "");
}

}  // namespace
}  // namespace muster::rules

// Every plugin that this build made keeps its promises, whichever transport runs it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/contract.hpp>
#include <muster/testing/fake_host.hpp>

#include "host/plugin_loader/contract_subject.hpp"
#include "tests/support/python_service.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using plugin_loader::StoredPlugin;
using testing::ContractSubject;

ContractSubject direct(const StoredPlugin& copy) {
  const auto plugin = testing::open_plugin(copy.library.string());
  if (!plugin) throw std::runtime_error(plugin.error().message);
  return testing::direct_subject(**plugin);
}

ContractSubject in_process(const StoredPlugin& copy) {
  auto subject = plugin_loader::subject_in_process(copy);
  if (!subject) throw std::runtime_error(subject.error().message);
  return *subject;
}

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> found;
  std::istringstream roots(MUSTER_PLUGIN_FOLDERS);
  for (std::string root; std::getline(roots, root, ':');) {
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root))
      if (entry.path().filename() == plugin_loader::manifest_name)
        found.push_back(entry.path().parent_path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

enum class Transport { direct, in_process, cell };

ContractSubject subject_of(const StoredPlugin& copy, Transport transport,
                           plugin_loader::CellSpawner& spawner) {
  if (transport == Transport::direct) return direct(copy);
  if (transport == Transport::in_process) return in_process(copy);
  return plugin_loader::subject_in_cells(copy, spawner);
}

void expect_all_kept(const std::string& kind, const ContractSubject& subject, Transport transport) {
  const auto checks = testing::check_plugin(kind, subject);
  EXPECT_TRUE(testing::all_kept(checks)) << testing::report(checks);
  EXPECT_GT(checks.size(), 15u);
  for (const testing::Check& check : checks)
    EXPECT_TRUE(check.outcome != testing::Outcome::unchecked ||
                (transport == Transport::cell && check.promise == "does no I/O"))
        << check.about << " " << check.promise << ": " << check.detail;
}

std::string in_words(Transport transport) {
  return transport == Transport::direct       ? "directly"
         : transport == Transport::in_process ? "in_process"
                                              : "in_a_cell";
}

class Contract : public ::testing::TestWithParam<std::tuple<fs::path, Transport>> {};

TEST_P(Contract, is_kept) {
  const auto& [folder, transport] = GetParam();
  const testing::TemporaryFolder store;
  const auto copy = plugin_loader::store_plugin(folder, store.path());
  ASSERT_TRUE(copy) << copy.error().message;
  plugin_loader::CellSpawner spawner(MUSTER_CELL);
  expect_all_kept(copy->manifest.kind, subject_of(*copy, transport, spawner), transport);
}

std::string name_of(const ::testing::TestParamInfo<Contract::ParamType>& info) {
  const auto& [folder, transport] = info.param;
  std::string name = folder.parent_path().filename().string() + "_" + folder.filename().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name + "_" + in_words(transport);
}

INSTANTIATE_TEST_SUITE_P(plugins, Contract,
                         ::testing::Combine(::testing::ValuesIn(plugin_folders()),
                                            ::testing::Values(Transport::direct,
                                                              Transport::in_process,
                                                              Transport::cell)),
                         name_of);

// A plugin that asks a service, checked with the example of such a service that the documentation
// has: as if the plugin's own example were a configuration for it.
struct Served {
  const char* kind;
  const char* plugin;
  const char* script;
  json::object example_section = {};
};

class ContractOverHttp : public ::testing::TestWithParam<std::tuple<Served, Transport>> {};

TEST_P(ContractOverHttp, is_kept) {
  const auto& [served, transport] = GetParam();
  const testing::PythonService service(std::string(MUSTER_EXAMPLES) + "/" + served.script, {},
                                       {"SERVICE_TOKEN=an-example"});
  const testing::TemporaryFolder folder;
  const fs::path token = folder / "token";
  std::ofstream(token) << "an-example\n";
  const std::string root(MUSTER_PLUGIN_FOLDERS);
  const auto copy = plugin_loader::store_plugin(
      fs::path(root.substr(0, root.find(':'))) / served.kind / served.plugin, folder / "store");
  ASSERT_TRUE(copy) << copy.error().message;
  plugin_loader::CellSpawner spawner(MUSTER_CELL);
  const json::object config{{"url", service.url() + "/some/path/"}, {"tokenFile", token.string()}};
  const ContractSubject subject = plugin_loader::with_example(subject_of(*copy, transport, spawner),
                                                              config, served.example_section);
  expect_all_kept(served.kind, subject, transport);
  // A strategy that never got an answer would keep the contract, too: classic does.
  if (served.kind == std::string("provider")) return;
  testing::FakeContext context;
  const auto channel = subject.create(json::write(config), context);
  ASSERT_TRUE(channel) << channel.error().message;
  const SizeRequest request{WorkerPoolId("a/b"), 5, {1, 2}, {0, 20}};
  EXPECT_EQ(StrategyClient(**channel).size(request, context)->reason, "5 wait, 3 of 20 are there");
}

INSTANTIATE_TEST_SUITE_P(
    examples, ContractOverHttp,
    ::testing::Combine(
        ::testing::Values(
            Served{"provider", "bridge", "bridge_provider.py", {{"image", "worker-1"}}},
            Served{"strategy", "external", "external_strategy.py"}),
        ::testing::Values(Transport::direct, Transport::in_process, Transport::cell)),
    [](const auto& made) {
      return std::string(std::get<0>(made.param).plugin) + "_" + in_words(std::get<1>(made.param));
    });

// Machines that are woken, with the file that says which of them are awake: the example has none.
class ContractWithAStateFile : public ::testing::TestWithParam<Transport> {};

TEST_P(ContractWithAStateFile, is_kept) {
  const testing::TemporaryFolder folder;
  const std::string root(MUSTER_PLUGIN_FOLDERS);
  const auto copy = plugin_loader::store_plugin(
      fs::path(root.substr(0, root.find(':'))) / "provider" / "static", folder / "store");
  ASSERT_TRUE(copy) << copy.error().message;
  plugin_loader::CellSpawner spawner(MUSTER_CELL);
  const ContractSubject subject = subject_of(*copy, GetParam(), spawner);
  const std::string file = folder / "dc1.json";
  const auto description = json::parse_object(subject.describe().value());
  json::object config = description->at("exampleConfig").as_object();
  config["stateFile"] = file;
  expect_all_kept("provider", plugin_loader::with_example(subject, config), GetParam());
  EXPECT_GT(fs::file_size(file), 100u);
}

INSTANTIATE_TEST_SUITE_P(machines, ContractWithAStateFile,
                         ::testing::Values(Transport::direct, Transport::in_process,
                                           Transport::cell),
                         [](const auto& made) { return "static_" + in_words(made.param); });

TEST(Plugins, are_all_found) {
  std::vector<std::string> names;
  for (const fs::path& folder : plugin_folders()) names.push_back(folder.filename());
  for (const char* name : {"abi_1_0", "aws", "bridge", "by_other_compiler", "cheapest", "classic",
                           "estimator", "external", "local", "plain_c", "simulated", "static"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

}  // namespace
}  // namespace muster

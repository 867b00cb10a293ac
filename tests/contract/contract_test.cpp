// Every plugin that this build made keeps its promises, whichever transport runs it.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/contract.hpp>
#include <muster/testing/fake_host.hpp>

#include "host/plugin_loader/contract_subject.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using plugin_loader::KeptCopy;
using testing::ContractSubject;

ContractSubject direct(const KeptCopy& copy) {
  const auto plugin = testing::open_plugin(copy.library.string());
  if (!plugin) throw std::runtime_error(plugin.error().message);
  return testing::direct_subject(**plugin);
}

ContractSubject in_process(const KeptCopy& copy) {
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

class Contract : public ::testing::TestWithParam<std::tuple<fs::path, Transport>> {};

TEST_P(Contract, is_kept) {
  const auto& [folder, transport] = GetParam();
  const testing::TemporaryFolder store;
  const auto copy = plugin_loader::keep_copy(folder, store.path());
  ASSERT_TRUE(copy) << copy.error().message;
  plugin_loader::CellSpawner spawner(MUSTER_CELL);
  const ContractSubject subject = transport == Transport::direct ? direct(*copy)
                                  : transport == Transport::in_process
                                      ? in_process(*copy)
                                      : plugin_loader::subject_in_cells(*copy, spawner);
  const auto checks = testing::check_plugin(copy->manifest.kind, subject);
  EXPECT_TRUE(testing::all_kept(checks)) << testing::report(checks);
  EXPECT_GT(checks.size(), 15u);
  for (const testing::Check& check : checks)
    EXPECT_TRUE(check.outcome != testing::Outcome::unchecked ||
                (transport == Transport::cell && check.promise == "does no I/O"))
        << check.about << " " << check.promise << ": " << check.detail;
}

std::string name_of(const ::testing::TestParamInfo<Contract::ParamType>& info) {
  const auto& [folder, transport] = info.param;
  std::string name = folder.parent_path().filename().string() + "_" + folder.filename().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name + (transport == Transport::direct       ? "_directly"
                 : transport == Transport::in_process ? "_in_process"
                                                      : "_in_a_cell");
}

INSTANTIATE_TEST_SUITE_P(plugins, Contract,
                         ::testing::Combine(::testing::ValuesIn(plugin_folders()),
                                            ::testing::Values(Transport::direct,
                                                              Transport::in_process,
                                                              Transport::cell)),
                         name_of);

TEST(Plugins, are_all_found) {
  std::vector<std::string> names;
  for (const fs::path& folder : plugin_folders()) names.push_back(folder.filename());
  for (const char* name :
       {"abi_1_0", "by_clang", "cheapest", "classic", "estimator", "plain_c", "simulated"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

}  // namespace
}  // namespace muster

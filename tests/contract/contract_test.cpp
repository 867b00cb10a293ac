// Every plugin that this build made keeps its promises, whichever transport runs it.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/contract.hpp>
#include <muster/testing/fake_host.hpp>

#include "host/plugin_loader/cell_channel.hpp"
#include "host/plugin_loader/in_process_channel.hpp"
#include "host/plugin_loader/kept_copy.hpp"
#include "host/plugin_loader/manifest.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using plugin_loader::Backend;
using plugin_loader::KeptCopy;
using testing::ContractSubject;

// Sanitizers reserve terabytes of addresses; this test is about promises, not about limits.
constexpr plugin_loader::CellLimits no_limits() {
  plugin_loader::CellLimits limits;
  limits.memory_bytes = 0;
  return limits;
}

class BackendChannel final : public Channel {
 public:
  explicit BackendChannel(std::shared_ptr<Backend> backend) : backend_(std::move(backend)) {}
  Result<std::string> call(std::string_view method, std::string_view request,
                           const Context& context) override {
    return backend_->call(method, request, context).result;
  }

 private:
  std::shared_ptr<Backend> backend_;
};

plugin_loader::HostServices services() {
  return {[] { return testing::FakeContext().now(); }, [](LogLevel, std::string_view) {}};
}

ContractSubject direct(const KeptCopy& copy) {
  const auto plugin = testing::open_plugin(copy.library.string());
  if (!plugin) throw std::runtime_error(plugin.error().message);
  return testing::direct_subject(**plugin);
}

ContractSubject in_process(const KeptCopy& copy) {
  const auto library = plugin_loader::Library::open(copy.library);
  if (!library) throw std::runtime_error(library.error().message);
  ContractSubject subject = testing::direct_subject((*library)->plugin());
  subject.create = [library = *library](std::string_view config,
                                        const Context&) -> Result<std::unique_ptr<Channel>> {
    auto backend =
        plugin_loader::open_in_process(library, config, services(), 20s, nullptr, "contract");
    if (!backend) return backend.error();
    return std::make_unique<BackendChannel>(std::move(*backend));
  };
  return subject;
}

ContractSubject in_cells(const KeptCopy& copy, plugin_loader::CellSpawner& spawner) {
  const auto open = [&copy, &spawner](std::vector<json::object> configs, bool only_check) {
    const auto& manifest = copy.manifest;
    return plugin_loader::open_cell(spawner,
                                    {copy.library, manifest.kind, manifest.name, manifest.version,
                                     std::move(configs), only_check, no_limits()},
                                    services(), 20s);
  };
  ContractSubject subject;
  subject.describe = [open]() -> Result<std::string> {
    const auto checked = open({}, true);
    if (!checked) return checked.error();
    return json::write(checked->start.description);
  };
  subject.create = [open](std::string_view config,
                          const Context&) -> Result<std::unique_ptr<Channel>> {
    auto object = json::parse_object(config);
    if (!object) return object.error();  // a cell is given an object, never a text
    auto opened = open({std::move(*object)}, false);
    if (!opened) return opened.error();
    return std::make_unique<BackendChannel>(std::move(opened->backend));
  };
  return subject;
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
  const ContractSubject subject = transport == Transport::direct       ? direct(*copy)
                                  : transport == Transport::in_process ? in_process(*copy)
                                                                       : in_cells(*copy, spawner);
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
  for (const char* name : {"abi_1_0", "by_clang", "classic", "plain_c", "simulated"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

}  // namespace
}  // namespace muster

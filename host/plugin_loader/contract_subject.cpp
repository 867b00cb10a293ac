#include "host/plugin_loader/contract_subject.hpp"

#include "host/plugin_loader/cell_channel.hpp"
#include "host/plugin_loader/in_process_channel.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/secret.hpp"

namespace muster::plugin_loader {
namespace {

using namespace std::chrono_literals;

constexpr auto start_budget = 20s;

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

// The contract is checked at one fixed time, so that its outcome does not depend on the day.
HostServices services() {
  return {[] { return Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)); },
          [](LogLevel, std::string_view) {}};
}

Result<OpenedCell> open(CellSpawner& spawner, const StoredPlugin& copy,
                        std::vector<json::object> configs, bool only_check) {
  const Manifest& manifest = copy.manifest;
  return open_cell(spawner,
                   {.library = copy.library.string(),
                    .kind = manifest.kind,
                    .name = manifest.name,
                    .version = manifest.version,
                    .configs = std::move(configs),
                    .only_check = only_check,
                    .limits = {}},
                   services(), start_budget);
}

}  // namespace

Result<testing::ContractSubject> subject_in_process(const StoredPlugin& copy) {
  auto library = Library::open(copy.library);
  if (!library) return library.error();
  testing::ContractSubject subject = testing::direct_subject((*library)->plugin());
  subject.create = [library = *library](std::string_view config,
                                        const Context&) -> Result<std::unique_ptr<Channel>> {
    auto backend = open_in_process(library, config, services(), start_budget, nullptr, "");
    if (!backend) return backend.error();
    return std::make_unique<BackendChannel>(std::move(*backend));
  };
  return subject;
}

testing::ContractSubject subject_in_cells(const StoredPlugin& copy, CellSpawner& spawner) {
  testing::ContractSubject subject;
  subject.describe = [copy, &spawner]() -> Result<std::string> {
    const auto checked = open(spawner, copy, {}, true);
    if (!checked) return checked.error();
    return json::write(checked->start.description);
  };
  subject.create = [copy, &spawner](std::string_view config,
                                    const Context&) -> Result<std::unique_ptr<Channel>> {
    auto object = json::parse_object(config);
    if (!object) return object.error();  // a cell is given an object, never a text
    auto opened = open(spawner, copy, {std::move(*object)}, false);
    if (!opened) return opened.error();
    return std::make_unique<BackendChannel>(std::move(opened->backend));
  };
  return subject;
}

testing::ContractSubject with_example(testing::ContractSubject subject, const json::object& config,
                                      const json::object& section) {
  const auto decorated = [&](const std::function<Result<std::string>()>& describe) {
    return [describe, config, section]() -> Result<std::string> {
      auto described = describe();
      if (!described) return described;
      auto description = json::parse_object(*described);
      if (!description) return description.error();
      if (!config.empty()) (*description)["exampleConfig"] = config;
      if (!section.empty()) (*description)["exampleSection"] = section;
      return json::write(*description);
    };
  };
  subject.describe = decorated(subject.describe);
  if (subject.describe_confined) subject.describe_confined = decorated(subject.describe_confined);
  return subject;
}

Result<Manifest> manifest_of(const std::filesystem::path& library, CellSpawner& spawner) {
  const auto bytes = read_file(library, std::size_t{1} << 30);
  if (!bytes) return bytes.error();
  const auto opened = open(spawner, {std::filesystem::absolute(library), {}}, {}, true);
  if (!opened) return opened.error();
  const StartReply& said = opened->start;
  return Manifest{.name = said.name,
                  .kind = said.kind,
                  .version = said.version,
                  .file = said.name + ".so",
                  .sha256 = to_hex(sha256(*bytes))};
}

}  // namespace muster::plugin_loader

#include "host/plugin_loader/cell_instance.hpp"

#include <muster/bidding_strategy.hpp>
#include <muster/codec.hpp>
#include <muster/json_schema.hpp>

namespace muster::plugin_loader {
namespace {

using namespace std::chrono_literals;

constexpr auto start_budget = 1h;  // the host's own deadline ends it earlier

Result<void> check_names(const muster_plugin& plugin, const StartRequest& expected) {
  const auto differs = [](const char* what, const std::string& manifest, const char* library) {
    return Error::invalid(std::string("the manifest says ") + what + " \"" + manifest +
                          "\" but the library says \"" + library + "\"");
  };
  const auto is = [](const std::string& manifest, const char* library) {
    return manifest.empty() || manifest == library;
  };
  if (!is(expected.kind, plugin.kind)) return differs("kind", expected.kind, plugin.kind);
  if (!is(expected.name, plugin.name)) return differs("name", expected.name, plugin.name);
  if (!is(expected.version, plugin.version))
    return differs("version", expected.version, plugin.version);
  return {};
}

// The config schema, if the description has the right shape.
template <class Description>
Result<json::object> config_schema_of(const json::object& description) {
  const auto typed = from_value<Description>(json::value(description));
  if (!typed) return Error::invalid("its description is wrong: " + typed.error().message);
  return typed->config_schema;
}

// The description's schemas are the plugin's words, so they are compiled here and not in the host.
Result<void> check_config(const json::Schema& schema, const json::object& config) {
  std::string mistakes;
  for (const json::Violation& violation : schema.validate(json::value(config)))
    (mistakes += mistakes.empty() ? "" : "; ") += json::to_string(violation);
  if (mistakes.empty()) return {};
  return Error::invalid("its configuration is wrong: " + mistakes);
}

}  // namespace

Result<CellInstance::Started> CellInstance::start(const StartRequest& request,
                                                  const HostServices& services) {
  if (const auto symbols = read_symbols(request.library); !symbols) return symbols.error();
  auto library = Library::open(request.library);
  if (!library) return library.error();
  const muster_plugin& plugin = (*library)->plugin();
  if (const auto names = check_names(plugin, request); !names) return names.error();

  CallState describe("describe", "{}", CallState::Steady::now() + start_budget, services);
  const Outcome described = describe.run([&] { return plugin.call(nullptr, &describe.raw()); });
  if (!described.result)
    return Error::invalid("describe failed: " + described.result.error().message);
  auto description = json::parse_object(*described.result);
  if (!description)
    return Error::invalid("its description is wrong: " + description.error().message);
  const auto schema = std::string_view(plugin.kind) == "provider"
                          ? config_schema_of<ProviderDescription>(*description)
                          : config_schema_of<StrategyDescription>(*description);
  if (!schema) return schema.error();
  const auto compiled = json::Schema::compile(json::value(*schema));
  if (!compiled) return Error::invalid("its configSchema is wrong: " + compiled.error().message);

  Started started{std::unique_ptr<CellInstance>(new CellInstance(*library, services)),
                  {std::move(*description)}};
  started.reply.kind = plugin.kind;
  started.reply.name = plugin.name;
  started.reply.version = plugin.version;
  started.reply.abi_minor = plugin.abi_minor;
  if (MUSTER_HAS(&plugin, muster_plugin, built_with) && plugin.built_with)
    started.reply.built_with = plugin.built_with;
  for (const json::object& config : request.configs) {
    if (const auto fits = check_config(*compiled, config); !fits) return fits.error();
    if (const auto created = started.instance->create(config); !created) return created.error();
  }
  return started;
}

Result<void> CellInstance::create(const json::object& config) {
  CallState state("create", json::write(config), CallState::Steady::now() + start_budget,
                  services_);
  void* instance = nullptr;
  Outcome created = state.run([&] { return library_->plugin().create(&state.raw(), &instance); });
  if (!created.result) {
    Error error = created.result.error();
    error.message = "create failed: " + error.message;
    return error;
  }
  instances_.push_back(instance);
  return {};
}

CellInstance::~CellInstance() {
  for (void* instance : instances_) {
    CallState destroying("destroy", "", CallState::Steady::now(), services_);
    destroying.run([&] { return library_->plugin().destroy(instance), MUSTER_OK; });
  }
}

Outcome CellInstance::call(CallState& state) {
  return state.run([&] { return library_->plugin().call(instances_.front(), &state.raw()); });
}

}  // namespace muster::plugin_loader

#include "fixture.hpp"

#include <future>

#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

#include "host/api/api.hpp"
#include "host/auth/guard.hpp"
#include "host/documentation/library.hpp"
#include "plugins/provider/static/static_provider.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;

ProviderDescription cloud_description() {
  return {.description = "A cloud that is made up",
          .config_schema = {{"type", "object"}},
          .section = "cloud",
          .section_schema = {{"type", "object"}, {"properties", {{"image", {{"type", "string"}}}}}},
          .field_classes = {{"cloud.image"}, {}, {}}};
}

// One launch document for each item of `types`; one without.
Result<Expansion> expand_cloud(const ExpandRequest& request) {
  Expansion expansion;
  const json::object& section = request.document.at("cloud").as_object();
  const json::value* types = section.if_contains("types");
  if (!types) return Expansion{{{request.document}}};
  for (const json::value& type : types->as_array()) {
    json::object document = request.document;
    document["cloud"].as_object().erase("types");
    document["cloud"].as_object()["type"] = type;
    expansion.launch_documents.push_back({std::move(document)});
  }
  return expansion;
}

pools::ProviderContext provider_context() {
  pools::ProviderContext all;
  all.strategies = {"estimator"};
  all.providers[ProviderId("cloud")] = {
      .description = cloud_description(),
      .placements = {{{{"region", "eu-1"}}}, {{{"region", "us-1"}}}},
      .version = "1"};
  all.providers[ProviderId("rack")] = {.description = static_machines::StaticProvider::describe(),
                                       .placements = {{{{"region", "static"}}}},
                                       .version = "1"};
  return all;
}

std::string encoded(std::string_view text) {
  std::string all;
  for (const char c : text) all += c == '/' ? "%2F" : std::string(1, c);
  return all;
}

}  // namespace

Result<void> BreakableStore::commit(const store::Batch& batch) {
  if (broken) return Error::capacity("the disk is full");
  return inner.commit(batch);
}
Result<void> BreakableStore::scan(const store::Scan& scan, const store::RowSink& sink) const {
  return inner.scan(scan, sink);
}
Result<void> BreakableStore::backup(const std::string& file) const {
  return inner.backup(file);
}

std::string Reply::header(std::string_view name) const {
  return std::string(http::find_header(headers, name).value_or(""));
}

std::string Reply::field(std::string_view name) const {
  const json::value* found = body.is_object() ? body.get_object().if_contains(name) : nullptr;
  return found && found->is_string() ? std::string(found->get_string()) : "";
}

Fixture::Fixture(std::vector<store::Batch> before, registration::FailureLimits limits) {
  for (const store::Batch& batch : before) EXPECT_TRUE(store.commit(batch));
  const fleet::Now now{clock->now(), 1h};
  auto loaded = fleet::Fleet::load(store, {}, "host-1", now);
  EXPECT_TRUE(loaded);
  workers = std::make_unique<http::WorkerThreads>(2, 64, Log());
  auto made = events::Service::make(
      {std::make_shared<const config::HostConfiguration>(), &store, clock, Log()});
  EXPECT_TRUE(made);
  events = std::move(*made);
  fleet = std::make_unique<fleet::Service>(
      std::move(*loaded),
      fleet::ServiceParts{
          .store = &store,
          .clock = clock,
          .log = {},
          .find_plugin = [](const std::string&) { return fleet::Callee{}; },
          .rebuild_store = {},
          .listener =
              [this](const std::vector<events::Event>& durable) { events->on_durable(durable); }});
  EXPECT_TRUE(events->start([this](store::Batch batch, std::function<void()> durable) {
    return fleet->committer().submit(std::move(batch), std::move(durable));
  }));
  auto task_runs = worker_state::Service::make(
      {.configuration = std::make_shared<const config::HostConfiguration>(),
       .store = &store,
       .clock = clock,
       .submit = [this](store::Batch batch, std::function<void()> durable) {
         return fleet->committer().submit(std::move(batch), std::move(durable));
       }});
  EXPECT_TRUE(task_runs);
  runs = std::move(*task_runs);
  for (const char* id : {"cloud", "rack"})
    fleet->post([id](fleet::Fleet& of, fleet::Now at) {
      fleet::ProviderUp up;
      up.provider_id = ProviderId(id);
      const bool announces = up.provider_id == ProviderId("rack");
      up.field_classes = announces ? static_machines::StaticProvider::describe().field_classes
                                   : cloud_description().field_classes;
      up.declares_machines = announces;
      of.provider_up(up, at);
    });
  router = std::make_unique<http::Router>(Log(), auth::Guard(authority, api::route_scopes()));
  registrar = std::make_unique<registration::Registrar>(registration_dependencies(), limits);
  api = add_routes(*router, parts());
  api::add_routes(*router, own_services());
  const Sha256 digest = sha256("root");
  authority.put({.client_id = "root",
                 .kind = auth::ClientKind::token,
                 .keys = {{Secret(std::string(digest.begin(), digest.end()))}},
                 .scopes = {"*"}});
}

// Of muster's own API, with all that a host has.
api::Services Fixture::own_services() {
  const Parts shared = parts();
  api::Services services;
  static_cast<endpoints::Host&>(services) = shared;
  services.provider_context = shared.provider_context;
  services.expand = shared.expand;
  services.registrar = registrar.get();
  services.worker_logs = &worker_logs;
  services.history = &history;
  services.store = &store;
  services.backup_folder = folder_ / "backups";
  services.most_backups = 3;
  services.events = events.get();
  services.documentation = std::make_shared<documentation::Library>(documentation::Library::Parts{
      .store = &store, .commit = [this](store::Batch rows, events::Event audit) {
        return fleet->change<void>([&](fleet::Fleet& of, fleet::Now at) -> Result<void> {
          of.keep_rows(rows, at);
          of.emit_event(audit, at);
          return {};
        });
      }});
  services.runs = runs.get();
  services.provider_facts = [](const ProviderId&, std::chrono::milliseconds) {
    return std::optional<pools::ProviderFacts>();
  };
  services.diagnose = [](const ProviderId& id, const DiagnoseRequest&) -> Result<Diagnosis> {
    if (id.str() != "cloud") return Error::not_found("there is no provider " + id.str());
    return Diagnosis{{{"credentials", CheckOutcome::good, "they are accepted"}}};
  };
  services.configuration_status = [] { return std::optional<pools::Status>(); };
  services.reload_worker_configurations = [] {};
  services.configuration_files = [](bool) { return std::shared_ptr<const pools::SourceFiles>(); };
  services.previous_configuration_files = [] {
    return std::shared_ptr<const pools::SourceFiles>();
  };
  services.demand_status = [] { return std::vector<demand::SourceStatus>(); };
  services.state = [] { return std::string("ready"); };
  services.status_document = [] { return json::object{{"version", "1.2.3"}}; };
  plugin_loader::LoaderSettings plugins;
  plugins.store = folder_ / "plugins";
  plugins.cell_program = "/bin/true";  // no plugin runs here
  auto catalog = plugin_loader::PluginCatalog::open(plugins, clock, Log(), nullptr);
  EXPECT_TRUE(catalog) << catalog.error().message;
  plugins_ = std::move(*catalog);
  services.plugins = plugins_.get();
  services.plugin_folders = [] { return std::vector<std::filesystem::path>(); };
  auto opened = auth::ClientStore::open(
      store, auth::SecretBox::open(folder_ / "secrets.key").value(),
      {.authority = &authority,
       .committer = &fleet->committer(),
       .clock = clock.get(),
       .log = {},
       .commit = [this](store::Batch rows, std::vector<events::Event> told,
                        auth::ClientStore::Parts::Done done) {
         fleet->post_change(
             [rows = std::move(rows), told = std::move(told)](fleet::Fleet& of, fleet::Now at) {
               of.keep_rows(rows, at);
               for (const events::Event& event : told) of.emit_event(event, at);
             },
             std::move(done));
       }});
  EXPECT_TRUE(opened);
  client_store_ = std::move(*opened);
  services.clients = client_store_.get();
  services.metrics = &metrics_;
  return services;
}

Fixture::~Fixture() {
  store.broken = false;
  clock->advance(1h);  // a committer that waits to try again does so
  registrar.reset();   // waits for providers
  runs->stop();
  events->stop();
  fleet->stop(1s);
  router.reset();
  api.reset();
  workers.reset();
  client_store_.reset();
  plugins_.reset();
}

Parts Fixture::parts() {
  Parts parts;
  parts.fleet = fleet.get();
  parts.store = &store;
  parts.authority = &authority;
  parts.registrar = registrar.get();
  parts.runs = runs.get();
  parts.workers = workers.get();
  parts.clock = clock;
  parts.root_url = root_url;
  parts.version = "1.2.3";
  parts.providers = [this] {
    return std::vector<ProviderInfo>{{ProviderId("cloud"), "provider/cloud", cloud_runs, false},
                                     {ProviderId("rack"), "provider/static", true, true}};
  };
  parts.provider_context = provider_context;
  parts.expand = [](const ProviderId& id, const ExpandRequest& request) -> Result<Expansion> {
    if (id == ProviderId("cloud")) return expand_cloud(request);
    return static_machines::StaticProvider("static").expand(request, testing::FakeContext());
  };
  return parts;
}

registration::Dependencies Fixture::registration_dependencies() {
  registration::Dependencies host;
  host.fleet = fleet.get();
  host.authority = &authority;
  host.clock = clock;
  host.root_url = root_url;
  host.find_provider = [this](const ProviderId& id) -> std::optional<registration::ProviderState> {
    if (id == ProviderId("rack")) return registration::ProviderState{true, true};
    if (id == ProviderId("cloud")) return registration::ProviderState{cloud_runs, false};
    return std::nullopt;
  };
  host.identify = [this](const ProviderId& id, const IdentifyRequest& request,
                         const std::string& trace) -> Result<Identity> {
    last_trace = trace;
    ++identified;
    if (id == ProviderId("rack") && identify_rack) return identify_rack(request);
    if (id == ProviderId("rack"))
      return static_machines::StaticProvider("static").identify(request, testing::FakeContext());
    if (identify_cloud) return identify_cloud(request);
    const json::value* token = request.proof.if_contains("token");
    if (!token || *token != "good") return Error::auth("Token validation error");
    return Identity{request.worker_group, request.worker_id};
  };
  return host;
}

Reply Fixture::call(std::string_view name, const std::vector<std::string>& parameters,
                    Options options) {
  const Endpoint& called = endpoint(name);
  std::string path(base_path), route = public_route(called);
  for (const std::string& value : parameters) {
    const auto open = route.find('<');
    path += route.substr(0, open) + encoded(value);
    route = route.substr(route.find('>') + 1);
  }
  path += route;
  const Reply reply = send(std::string(called.method), path, options,
                           options.body.is_null() ? "" : json::write(options.body),
                           options.body.is_null() ? "" : "application/json");
  if (reply.status == 200 && !called.output.empty()) {
    const auto mistakes = schemas().refuse(called.output, reply.body);
    EXPECT_FALSE(mistakes) << name << *mistakes << "\n" << reply.text;
  }
  return reply;
}

Reply Fixture::send(const std::string& method, const std::string& path, const Options& options,
                    const std::string& body, const std::string& type) {
  http::Request request;
  request.method = method;
  request.path = path;
  request.query = options.query;
  request.has_query = !options.query.empty();
  request.body = body;
  request.peer = options.peer;
  request.id = "request-1";
  request.host_header = "muster.example.com";
  request.headers.push_back({"Host", request.host_header});
  if (!type.empty()) request.headers.push_back({"Content-Type", type});
  if (!options.trace_parent.empty())
    request.headers.push_back({"traceparent", options.trace_parent});
  if (!options.token.empty())
    request.headers.push_back({"Authorization", "Bearer " + options.token});
  const auto answered = std::make_shared<std::promise<http::Response>>();
  auto future = answered->get_future();
  const http::Reply reply(
      [answered](http::Response&& response) { answered->set_value(std::move(response)); }, request);
  router->route(std::move(request), reply);
  if (future.wait_for(20s) != std::future_status::ready) {
    ADD_FAILURE() << method << " " << path << " is not answered";
    return {};
  }
  http::Response response = future.get();
  Reply got{response.status, std::move(response.headers), std::move(response.body), nullptr};
  if (auto parsed = json::parse(got.text)) got.body = std::move(*parsed);
  return got;
}

std::string Fixture::client(const std::vector<std::string>& scopes) {
  const std::string token = "token-" + std::to_string(++clients_);
  const Sha256 digest = sha256(token);
  authority.put({.client_id = "client-" + std::to_string(clients_),
                 .kind = auth::ClientKind::token,
                 .keys = {{Secret(std::string(digest.begin(), digest.end()))}},
                 .scopes = scopes});
  return token;
}

void Fixture::let_run() {
  EXPECT_TRUE(fleet->change<int>([](fleet::Fleet&, fleet::Now) { return Result<int>(0); }));
}

json::object Fixture::pool_body(const std::string& provider) const {
  return {{"providerId", provider},
          {"description", "machines of the lab"},
          {"owner", "lab@example.com"},
          {"emailOnError", false},
          {"config", {{"workerConfig", {{"idleTimeout", 7}}}}}};
}

json::object Fixture::cloud_pool_body() const {
  json::object body = pool_body("cloud");
  body["config"] = {{"minCapacity", 0},
                    {"maxCapacity", 10},
                    {"launchConfigs", {{{"region", "eu-1"}, {"image", "one"}}}}};
  return body;
}

json::object Fixture::machine_body(const std::string& secret) const {
  return {{"expires", later(24h)}, {"providerInfo", {{"staticSecret", secret}}}};
}

std::string Fixture::later(std::chrono::seconds from_now) const {
  return format_time(clock->now() + from_now);
}

void Fixture::advance(std::chrono::milliseconds time) {
  EXPECT_TRUE(fleet->change<bool>([](fleet::Fleet&, fleet::Now) { return Result<bool>(true); }));
  EXPECT_TRUE(muster::testing::eventually([&] { return fleet->committer().waiting() == 0; }));
  clock->advance(time);
}

}  // namespace muster::taskcluster_api

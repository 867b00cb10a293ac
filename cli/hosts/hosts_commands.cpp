// `muster hosts`, `muster hosts hand-over` and `muster store copy`.
#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/terminal.hpp"
#include "host/postgres/store_copy.hpp"

namespace muster::cli {
namespace {

struct HostsOptions {
  HostOptions host;
  bool as_json = false;
  std::string from, to;
};

void list_hosts(const HostsOptions& options) {
  const json::value answer = answer_of(connect(options.host).get(api_path + "hosts"));
  if (options.as_json) return print_json(answer);
  const auto hosts =
      answer.is_object() ? objects_of(answer.get_object(), "hosts") : std::vector<json::object>();
  if (hosts.empty()) return print("This host shares its database with no other.\n");
  for (const json::object& host : hosts) {
    const json::value* epoch = host.if_contains("epoch");
    const json::value* seen = host.if_contains("seenSecondsAgo");
    const json::value* lag = host.if_contains("lagSeconds");
    print(text_of(host, "role") + "  " + text_of(host, "name") + "  " + text_of(host, "address") +
          "  muster " + text_of(host, "version") + (epoch ? "  epoch " + json::write(*epoch) : "") +
          (seen ? "  seen " + json::write(*seen) + " s ago" : "") +
          (lag ? "  lag " + json::write(*lag) + " s" : "") + "\n");
    if (host.contains("problem")) print("  cannot lead: " + text_of(host, "problem") + "\n");
  }
}

void hand_over(const HostsOptions& options) {
  const json::value answer =
      answer_of(connect(options.host).post(api_path + "hosts/hand-over", json::object()));
  if (options.as_json) return print_json(answer);
  print("The leading host hands over. `muster hosts` shows who leads next.\n");
}

void copy(const HostsOptions& options) {
  const auto copied = postgres::copy_store(options.from, options.to);
  if (!copied) fail(copied.error());
  if (options.as_json)
    return print_json(json::object{{"tables", copied->tables}, {"rows", copied->rows}});
  print("copied and compared " + std::to_string(copied->rows) + " rows of " +
        std::to_string(copied->tables) + " tables\n");
}

}  // namespace

void add_hosts_commands(CLI::App& app) {
  const auto options = std::make_shared<HostsOptions>();
  const auto as_json = [&](CLI::App* command) {
    command->add_flag("--json", options->as_json, "Print JSON");
  };
  CLI::App* hosts =
      app.add_subcommand("hosts", "Hosts that share a database: which one leads, epochs, versions");
  add_host_options(*hosts, options->host);
  as_json(hosts);
  hosts->require_subcommand(0, 1);
  CLI::App* hand =
      hosts->add_subcommand("hand-over", "Let another host lead; the one that leads now follows");
  add_host_options(*hand, options->host);
  as_json(hand);
  hand->callback([options] { hand_over(*options); });
  hosts->callback([options, hosts] {
    if (hosts->get_subcommands().empty()) list_hosts(*options);
  });
  CLI::App* store = app.add_subcommand("store", "Move everything from one database to another");
  store->require_subcommand(1);
  CLI::App* copying = store->add_subcommand(
      "copy", "Copy a whole store and compare it row by row; no host may run on either");
  copying->add_option("--from", options->from, "sqlite:FILE or postgres:ADDRESS")->required();
  copying->add_option("--to", options->to, "The same; it must be empty")->required();
  as_json(copying);
  copying->callback([options] { copy(*options); });
}

}  // namespace muster::cli

// A host among several that share a database: it follows, leads, and begins again.
#include <cstdlib>
#include <fstream>
#include <unistd.h>

#include "host/daemon.hpp"
#include "host/postgres/lead_table.hpp"
#include "host/wiring/open_store.hpp"
#include "lib/base/secret.hpp"

namespace muster {
namespace {

// The machine and the port, so that two hosts of one machine differ.
std::string default_name(std::uint16_t port) {
  char name[65] = "";
  ::gethostname(name, sizeof name - 1);
  return std::string(name).substr(0, 40) + ":" + std::to_string(port);
}

// Two hosts of one name differ in it, and one that starts again does not.
std::string place_of(const std::filesystem::path& data_directory) {
  char machine[257] = "";
  ::gethostname(machine, sizeof machine - 1);
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return to_hex(sha256(std::string(machine) + "\n" + boot + "\n" + data_directory.string()));
}

// What step_down() of the process before said.
std::chrono::milliseconds stand_back() {
  const char* text = ::getenv("MUSTER_STAND_BACK");
  const std::chrono::milliseconds time(text ? std::atoll(text) : 0);
  ::unsetenv("MUSTER_STAND_BACK");
  return time;
}

}  // namespace

void Daemon::follow(const std::string& url) {
  const config::HostsSettings& hosts = configuration_->hosts;
  host_name_ = hosts.name.empty() ? default_name(server_->port()) : hosts.name;
  const leadership::LeaseTimes times{hosts.lease};
  postgres::ConnectionSettings database = connection_settings(*configuration_, host_name_);
  state_ = std::make_unique<FollowerState>(
      FollowerState::Parts{.database = database,
                           .data_directory = data_directory_->path(),
                           .clock = &clock_,
                           .log = log_});
  database.statement_timeout = database.connect_timeout = times.margin();
  keeper_ = std::make_unique<leadership::Keeper>(
      leadership::Keeper::Parts{.table = postgres::lead_table(std::move(database), times.silence()),
                                .times = times,
                                .self = {.name = host_name_,
                                         .address = hosts.address.empty() ? url : hosts.address,
                                         .version = MUSTER_VERSION,
                                         .place = place_of(data_directory_->path())},
                                .describe =
                                    [this](leadership::HostEntry& self) {
                                      self.problem = state_->problem();
                                      self.lag = state_->lag();
                                    },
                                .stand_back = stand_back(),
                                .role_changed =
                                    [this] {
                                      if (watches_role_) signals_.wake();
                                    },
                                .log = log_});
  follower_ = std::make_unique<FollowerFront>(
      FollowerFront::Parts{.view = [this] { return keeper_->view(); },
                           .name = host_name_,
                           .ca_file = hosts.ca_file,
                           .clock = &clock_,
                           .log = log_});
  server_->use(follower_->router());
  write_address_files();
}

void Daemon::describe_hosts(ApiDependencies& dependencies) {
  if (!keeper_) return;
  dependencies.role = [this] { return std::string(to_string(keeper_->view().role)); };
  dependencies.hand_over = [this] { hand_over(); };
  dependencies.hosts = [this]() -> Result<json::array> {
    auto hosts = keeper_->hosts();
    if (!hosts) return hosts.error();
    const leadership::Lead lead = keeper_->view().lead;
    json::array list;
    for (const leadership::HostEntry& host : *hosts) {
      const bool leads = host.name == lead.holder;
      const bool gone = host.seen_ago > configuration_->hosts.lease;
      json::object entry{{"name", host.name},
                         {"role", leads  ? "leading"
                                  : gone ? "gone"
                                         : "following"},
                         {"address", host.address},
                         {"version", host.version},
                         {"seenSecondsAgo", static_cast<double>(host.seen_ago.count()) / 1000}};
      if (leads) entry["epoch"] = lead.epoch;
      if (!host.problem.empty()) entry["problem"] = host.problem;
      if (host.lag && !leads) entry["lagSeconds"] = static_cast<double>(host.lag->count()) / 1000;
      list.push_back(std::move(entry));
    }
    return list;
  };
}

bool Daemon::check_role() {
  if (!keeper_) return true;
  const leadership::View view = keeper_->view();
  if (view.role == leadership::Role::leading && !fleet_) lead();
  const bool lost = keeper_->view().role == leadership::Role::lost;
  if (lost && !begins_again_) begins_again_ = std::chrono::milliseconds(0);
  if (handed_over_) begins_again_ = configuration_->hosts.lease;
  return !begins_again_;
}

// A host that has the lead and cannot use it gives others the chance.
void Daemon::lead() {
  warm_ = state_->finish();
  const auto failed = start_fleet(public_url());
  warm_.reset();
  if (!failed && fleet_) return serve_api();
  log_.error("this host cannot lead: " + no_fleet_);
  begins_again_ = configuration_->hosts.lease;
}

void Daemon::hand_over() {
  handed_over_ = true;
  signals_.wake();
}

void Daemon::give_lead_back() {
  if (!keeper_ || keeper_->view().role != leadership::Role::leading) return;
  keeper_->stop_acting("the host stops");
  keeper_->release();
}

// Nothing of the time in which it led stays: the process begins anew. Requests that come meanwhile
// wait for the next leader.
ExitCode Daemon::step_down() {
  watches_role_ = false;
  const leadership::View view = keeper_->view();
  const bool orderly = view.role == leadership::Role::leading;
  log_.info(orderly ? "this host hands over the lead" : "this host leads no more",
            {{"reason", view.problem}, {"epoch", view.lead.epoch}});
  constexpr std::chrono::seconds patience(5);
  server_->use(follower_->router());
  history_sampler_.reset();
  if (fleet_) {
    fleet_->fleet().request_waiters().close();
    fleet_->stop(orderly ? std::chrono::milliseconds(patience) : std::chrono::milliseconds(0));
  }
  give_lead_back();
  server_->drain([this] { signals_.wake(); });
  if (notifications_) notifications_->stop();
  const auto until = clock_.steady() + (orderly ? patience : std::chrono::seconds(1));
  for (Signals::Event event = wait(until);
       event != Signals::Event::woken && event != Signals::Event::timeout; event = wait(until))
    if (event == Signals::Event::stop) {
      begins_again_.reset();
      break;
    }
  server_->stop();
  return ExitCode::ok;
}

}  // namespace muster

// muster-agent in a cloud: a server that plays both the metadata service and the host.
#include <atomic>
#include <csignal>
#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "tests/integration/musterd_process.hpp"
#include "tests/support/scripted_server.hpp"

namespace muster::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace std::chrono_literals;

Time from_now(std::chrono::milliseconds time) {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now()) +
         time;
}

const std::string names = R"({"workerPoolId": "a/b", "providerId": "p", "workerGroup": "g"})";
const std::string tags =
    R"({"name": "vm-1", "tagsList": [{"name": "worker-pool-id", "value": "a/b"},
  {"name": "provider-id", "value": "p"}, {"name": "worker-group", "value": "g"}]})";

struct Cloud {
  const char* kind;
  std::map<std::string, std::string> metadata;  // by the beginning of the path
  const char* notice_path;
  std::function<std::string()> notice;  // what stands there when the machine is taken away
};

const std::vector<Cloud> clouds{
    {"aws",
     {{"/latest/api/token", "token"},
      {"/latest/dynamic/instance-identity/document", R"({"instanceId": "i-1"})"},
      {"/latest/dynamic/instance-identity/signature", "c2ln"},
      {"/latest/user-data", names}},
     "/latest/meta-data/spot/instance-action",
     [] { return R"({"action": "terminate", "time": ")" + format_time(from_now(2min)) + "\"}"; }},
    {"google",
     {{"/computeMetadata/v1/instance/attributes/taskcluster", names},
      {"/computeMetadata/v1/instance/id", "4711"},
      {"/computeMetadata/v1/instance/service-accounts/default/identity", "e30.e30.sig"}},
     "/computeMetadata/v1/instance/preempted",
     [] { return "TRUE"; }},
    {"azure",
     {{"/metadata/instance/compute", tags},
      {"/metadata/attested/document", R"({"encoding": "pkcs7", "signature": "c2ln"})"}},
     "/metadata/scheduledevents",
     [] {
       return R"({"Events": [{"EventType": "Preempt", "EventStatus": "Scheduled", "Resources": ["vm-1"]}]})";
     }}};

class MachineInACloud : public ::testing::TestWithParam<Cloud> {
 protected:
  MachineInACloud() {
    std::ofstream(folder / "agent.toml")
        << "rootUrl = \"" << server.url() << "\"\nfolder = \"state\"\n[identity]\nkind = \""
        << GetParam().kind << "\"\nmetadataUrl = \"" << server.url()
        << "\"\n[timings]\nretryMin = \"50ms\"\nretryMax = \"200ms\"\n"
        << "interruptionCheck = \"100ms\"\n[worker]\ncommand = [\"" << (folder / "worker").string()
        << "\"]\n";
    std::ofstream(folder / "worker")
        << "#!/bin/sh\ntrap 'echo \"worker told to end\"; exit 0' TERM\necho \"worker runs as "
           "$MUSTER_WORKER_ID\"\nwhile :; do sleep 1000 & wait $!; done\n";
    ::chmod((folder / "worker").c_str(), 0700);
  }

  std::string answer(const std::string& request) const {
    const auto begin = request.find(' ') + 1;
    const std::string path = request.substr(begin, request.find(' ', begin) - begin);
    const Cloud& cloud = GetParam();
    for (const auto& [beginning, text] : cloud.metadata)
      if (path.starts_with(beginning)) return ScriptedServer::ok(text);
    if (path.starts_with(cloud.notice_path))
      return taken ? ScriptedServer::ok(cloud.notice())
                   : ScriptedServer::with_status("404 Not Found", "");
    if (path == "/api/worker-manager/v1/worker/register")
      return host_answers ? ScriptedServer::ok(R"({"credentials": {"clientId": "c", "accessToken":
          "t", "certificate": "{}"}, "secret": "s", "expires": ")" +
                                               format_time(from_now(1h)) + "\"}")
                          : ScriptedServer::with_status("503 Service Unavailable", "");
    return ScriptedServer::ok("{}");
  }

  std::unique_ptr<Process> start() const {
    return std::make_unique<Process>(
        "muster-agent", std::vector<std::string>{"--config", (folder / "agent.toml").string()});
  }

  // The first request that begins so; how many there were if there is none.
  std::size_t place_of(const std::string& beginning) const {
    const auto requests = server.requests();
    const auto found = std::ranges::find_if(
        requests, [&](const std::string& request) { return request.starts_with(beginning); });
    return static_cast<std::size_t>(found - requests.begin());
  }

  std::atomic<bool> taken = false, host_answers = true;
  TemporaryFolder folder;
  ScriptedServer server{[this](const std::string& request) { return answer(request); }};
};

TEST_P(MachineInACloud, that_is_taken_away_before_it_could_register_ends_with_the_code_for_it) {
  host_answers = false;
  taken = true;
  EXPECT_EQ(start()->exit_code(), 22);
}

TEST_P(MachineInACloud, that_is_taken_away_tells_the_host_at_once_stops_its_worker_and_is_removed) {
  const auto agent = start();
  agent->wait_for("worker runs as ");
  taken = true;
  EXPECT_EQ(agent->exit_code(), 22);
  EXPECT_THAT(agent->output(), AllOf(HasSubstr("interrupted: "), HasSubstr("worker told to end")));
  const std::size_t all = server.requests().size();
  const std::size_t told = place_of("POST /api/muster/v1/pools/a%2Fb/workers/g/");
  const std::size_t removed = place_of("DELETE /api/worker-manager/v1/workers/a%2Fb/g/");
  EXPECT_LT(told, removed);
  EXPECT_LT(removed, all);
  EXPECT_THAT(server.requests().at(told),
              AllOf(HasSubstr("/interruption HTTP/1.1"), HasSubstr("\"at\":")));
}

INSTANTIATE_TEST_SUITE_P(clouds, MachineInACloud, ::testing::ValuesIn(clouds),
                         [](const auto& made) { return made.param.kind; });

}  // namespace
}  // namespace muster::testing

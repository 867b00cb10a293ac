// How muster-agent ends. Documented for operators in `muster-agent --help` and docs/agent.md.
#pragma once

namespace muster::agent {

enum class ExitCode : int {
  ok = 0,                  // ended as it should: stopped, told to end, or the work is finished
  internal = 1,            // a bug, or the machine refuses something basic
  usage = 2,               // the command line is wrong
  configuration = 3,       // the configuration has mistakes, or another agent has the folder
  worker_failed = 10,      // the implementation failed by itself
  no_longer_current = 20,  // the host said 410: the worker's configuration is outdated
  cannot_refresh = 21,     // renewal refused, or the new configuration could not be written
  interrupted = 22,        // the cloud takes the machine away
  never_registered = 23,   // no credentials were ever obtained
  lease_over = 24,         // the host was out of reach past the end of the credentials
};

}  // namespace muster::agent

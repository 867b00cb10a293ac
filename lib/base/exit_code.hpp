// How a daemon ends: musterd and muster-relay. Documented for operators in `--help` and
// docs/operating.md.
#pragma once

namespace muster {

enum class ExitCode : int {
  ok = 0,
  failed = 1,                 // could not start or go on, or was stopped before all was drained;
                              // with --check: the configuration has mistakes
  usage = 2,                  // the command line is wrong
  configuration = 3,          // the configuration has mistakes
  data_directory_in_use = 4,  // another host has it
  cannot_listen = 5,          // the address is taken or not ours
  disk_fails = 6,             // the disk is full or does not work: a later start may do better
};

}  // namespace muster

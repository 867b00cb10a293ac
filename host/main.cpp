// musterd: the daemon.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/check_configuration.hpp"
#include "host/command_line.hpp"
#include "host/config/default_configuration.hpp"
#include "host/daemon.hpp"
#include "host/start_again.hpp"
#include "lib/base/atomic_file.hpp"

namespace {

using namespace muster;

// Memory of a large body goes back to the system when it is freed. By default the C library keeps
// more and more of it: up to 32 MiB of each allocation, and twice that at the end of each heap.
void return_large_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
}

void print_mistakes(const std::vector<config::Mistake>& mistakes, const std::string& file) {
  for (const config::Mistake& mistake : mistakes)
    std::fprintf(stderr, "%s\n", config::to_string(mistake, file).c_str());
}

ExitCode check(const config::Report& report, const std::string& built_in) {
  const auto text =
      report.file.empty() || !report.configuration || report.configuration->file.empty()
          ? Result<std::string>(built_in)
          : read_file(report.configuration->file, std::size_t{16} << 20);
  if (!text) {
    std::fprintf(stderr, "%s\n", text.error().message.c_str());
    return ExitCode::failed;
  }
  const CheckedConfiguration checked = check_configuration(report, *text);
  print_mistakes(checked.mistakes, report.file);
  for (const std::string& problem : checked.problems) std::fprintf(stderr, "%s\n", problem.c_str());
  if (!checked.good) return ExitCode::failed;
  std::printf("%s is good: providers %zu, strategies %zu\n", report.file.c_str(),
              report.configuration->providers.size(), report.configuration->strategies.size());
  return ExitCode::ok;
}

ExitCode run(const CommandLine& command_line) {
  const config::Defaults defaults =
      config::with_overrides(config::defaults_for(std::filesystem::read_symlink("/proc/self/exe"),
                                                  config::process_environment, ::geteuid() == 0),
                             command_line.data_directory, command_line.listen);
  const std::string built_in = config::default_configuration_text(defaults);
  if (command_line.print_default_config) {
    std::fputs(built_in.c_str(), stdout);
    return ExitCode::ok;
  }
  const config::Report report = command_line.config
                                    ? config::read_own_configuration(*command_line.config, defaults)
                                    : config::read_configuration_text(built_in, {}, defaults);
  if (command_line.check || !report.configuration) print_mistakes(report.mistakes, report.file);
  if (command_line.check) return check(report, built_in);
  if (!report.configuration) return ExitCode::configuration;
  ::umask(0077);
  return_large_memory();
  Daemon daemon(command_line, defaults, report);
  const ExitCode code = daemon.run();
  if (const auto stand_back = daemon.begins_again()) {
    std::fflush(nullptr);
    start_again(*stand_back);
    return ExitCode::failed;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    muster::CommandLine command_line;
    if (const auto code = muster::parse_command_line(argc, argv, command_line)) return *code;
    const auto code = static_cast<int>(run(command_line));
    std::fflush(nullptr);
    ::_exit(code);  // without the exit handlers of plugins, and of threads that hang in them
  } catch (const std::exception& error) {
    std::fprintf(stderr, "musterd: %s\n", error.what());
    return static_cast<int>(muster::ExitCode::failed);
  }
}

// musterd: the daemon.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/command_line.hpp"
#include "host/config/default_configuration.hpp"
#include "host/daemon.hpp"
#include "host/pools/offline_check.hpp"

namespace {

using namespace muster;

// Memory of a large body goes back to the system when it is freed. By default the C library keeps
// more and more of it: up to 32 MiB of each allocation, and twice that at the end of each heap.
void return_large_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 4 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
}

void print_mistakes(const config::Report& report) {
  for (const config::Mistake& mistake : report.mistakes)
    std::fprintf(stderr, "%s\n", config::to_string(mistake, report.file).c_str());
}

// As far as that is possible without starting providers, and without fetching a repository.
bool worker_configurations_are_good(const config::HostConfiguration& configuration) {
  const auto& workers = configuration.worker_configurations;
  if (!workers || !workers->git.empty() || !std::filesystem::exists(workers->folder)) return true;
  const auto files = rules::read_folder(workers->folder);
  if (!files) {
    std::fprintf(stderr, "%s\n", files.error().message.c_str());
    return false;
  }
  const auto problems = pools::check_offline(*files, {});
  for (const rules::Problem& problem : problems)
    std::fprintf(stderr, "%s\n", rules::to_string(problem).c_str());
  return !rules::has_errors(problems);
}

ExitCode check(const config::Report& report) {
  if (!report.configuration || !worker_configurations_are_good(*report.configuration))
    return ExitCode::failed;
  std::printf("%s is good: providers %zu, strategies %zu\n", report.file.c_str(),
              report.configuration->providers.size(), report.configuration->strategies.size());
  return ExitCode::ok;
}

ExitCode run(const CommandLine& command_line) {
  const config::Defaults defaults =
      config::defaults_for(std::filesystem::read_symlink("/proc/self/exe"),
                           config::process_environment, ::geteuid() == 0);
  const std::string built_in = config::default_configuration_text(defaults);
  if (command_line.print_default_config) {
    std::fputs(built_in.c_str(), stdout);
    return ExitCode::ok;
  }
  const config::Report report = command_line.config
                                    ? config::read_own_configuration(*command_line.config, defaults)
                                    : config::read_configuration_text(built_in, {}, defaults);
  if (command_line.check || !report.configuration) print_mistakes(report);
  if (command_line.check) return check(report);
  if (!report.configuration) return ExitCode::configuration;
  ::umask(0077);
  return_large_memory();
  return Daemon(command_line, defaults, report).run();
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

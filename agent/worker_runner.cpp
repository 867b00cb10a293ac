#include "agent/worker_runner.hpp"

namespace muster::agent {

ReadConfiguration read_worker_runner(const std::filesystem::path&, std::string_view) {
  return {};
}

}  // namespace muster::agent

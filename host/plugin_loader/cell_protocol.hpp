// What the host tells a cell to start with, and what the cell answers.
#pragma once

#include <string>
#include <vector>

#include <muster/fields.hpp>
#include <muster/json.hpp>

namespace muster::plugin_loader {

// What a cell may use. Zero: no limit of ours.
struct CellLimits {
  std::int64_t memory_bytes = std::int64_t{1} << 30;  // address space
  std::int64_t open_files = 1024;
  std::int64_t cpu_seconds = 0;  // of its life; then it is killed and started again
  std::int64_t processes = 0;    // of the cell's user, all together
  std::string user = {};         // to run as; needs a host that runs as root
  std::vector<std::string> environment =
      {};  // names of the host's variables that the cell gets, too

  static constexpr auto fields(auto visit) {
    return visit(optional("memoryBytes", &CellLimits::memory_bytes),
                 optional("openFiles", &CellLimits::open_files),
                 optional("cpuSeconds", &CellLimits::cpu_seconds),
                 optional("processes", &CellLimits::processes), optional("user", &CellLimits::user),
                 optional("environment", &CellLimits::environment));
  }
  friend bool operator==(const CellLimits&, const CellLimits&) = default;
};

struct StartRequest {
  std::string library;    // absolute path of the host's copy
  std::string kind = {};  // what the library must say of itself; empty: whatever it says
  std::string name = {};
  std::string version = {};
  std::vector<json::object> configs = {};  // an instance is made of each; the first one serves
  bool only_check = false;                 // destroy them again and leave
  CellLimits limits = {};

  static constexpr auto fields(auto visit) {
    return visit(required("library", &StartRequest::library), optional("kind", &StartRequest::kind),
                 optional("name", &StartRequest::name), optional("version", &StartRequest::version),
                 required("configs", &StartRequest::configs),
                 optional("onlyCheck", &StartRequest::only_check),
                 optional("limits", &StartRequest::limits));
  }
};

struct StartReply {
  json::object description;
  std::string kind = {};  // what the library says of itself
  std::string name = {};
  std::string version = {};
  std::int64_t abi_minor = 0;
  std::string built_with = {};

  static constexpr auto fields(auto visit) {
    return visit(required("description", &StartReply::description),
                 required("kind", &StartReply::kind), required("name", &StartReply::name),
                 required("version", &StartReply::version),
                 optional("abiMinor", &StartReply::abi_minor),
                 optional("builtWith", &StartReply::built_with));
  }
};

}  // namespace muster::plugin_loader

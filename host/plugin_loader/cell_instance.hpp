// The plugin inside a cell.
#pragma once

#include <memory>

#include "host/plugin_loader/call_state.hpp"
#include "host/plugin_loader/cell_protocol.hpp"
#include "host/plugin_loader/library.hpp"

namespace muster::plugin_loader {

class CellInstance {
 public:
  struct Started {
    std::unique_ptr<CellInstance> instance;
    StartReply reply;
  };

  // Symbol table, load, descriptor, description, schema, create: the first of them that is wrong is
  // the error. Only ever called where a crash does no harm.
  static Result<Started> start(const StartRequest& request, const HostServices& services);

  ~CellInstance();
  CellInstance(const CellInstance&) = delete;
  CellInstance& operator=(const CellInstance&) = delete;

  Outcome call(CallState& state);

 private:
  CellInstance(std::shared_ptr<const Library> library, HostServices services)
      : library_(std::move(library)), services_(std::move(services)) {}
  Result<void> create(const json::object& config);

  const std::shared_ptr<const Library> library_;
  const HostServices services_;
  std::vector<void*> instances_;
};

}  // namespace muster::plugin_loader

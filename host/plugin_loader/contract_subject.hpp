// The contract's view of a plugin behind the host's own transports, for `muster plugin check` and
// for the tests.
#pragma once

#include <muster/testing/contract.hpp>

#include "host/plugin_loader/cell_spawner.hpp"
#include "host/plugin_loader/manifest.hpp"
#include "host/plugin_loader/plugin_store.hpp"

namespace muster::plugin_loader {

// In this process. A plugin that crashes takes the caller along: check it in cells first.
Result<testing::ContractSubject> subject_in_process(const StoredPlugin& copy);

// Each instance in a cell of its own. `copy` is copied, `spawner` is borrowed.
testing::ContractSubject subject_in_cells(const StoredPlugin& copy, CellSpawner& spawner);

// The same plugin with another example: what the contract launches with. What is empty stays
// as the plugin describes it.
testing::ContractSubject with_example(testing::ContractSubject subject, const json::object& config,
                                      const json::object& section = {});

// Opens a library whose manifest is not there (yet) and asks it who it is. The sha256 is that of
// its bytes.
Result<Manifest> manifest_of(const std::filesystem::path& library, CellSpawner& spawner);

}  // namespace muster::plugin_loader

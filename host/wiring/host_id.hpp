// Who this host is: the id that its instances carry as the tag muster-host. It lives in a file of
// its own beside the database, so that a host which loses its database still knows what is its own.
#pragma once

#include <filesystem>
#include <string>

#include "host/store/store.hpp"
#include "lib/base/log.hpp"

namespace muster {

struct HostId {
  std::string id;
  bool store_lost_it = false;  // the file knows the host, and the store does not: it was lost
};

// The id in the file and in the store, which are made equal; a new one if neither has one. The file
// is durable when this returns; the fleet writes the store's copy. Fails as `config`, and changes
// nothing, if the two disagree, or if the file cannot be understood and the store has none: only an
// operator knows which host this is meant to be.
Result<HostId> settle_host_id(const std::filesystem::path& file, const store::Store& store,
                              const Log& log);

}  // namespace muster

#include "host/wiring/host_id.hpp"

#include <optional>

#include "host/fleet/model/rows.hpp"
#include "host/store/host_id_form.hpp"
#include "host/store/row.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/secret.hpp"

namespace muster {
namespace {

struct InFile {
  std::string id;       // empty: there is none
  std::string problem;  // why it cannot be understood
};

Result<InFile> read_id(const std::filesystem::path& file) {
  auto text = read_file(file, 4096);
  if (!text && text.error().error_class == ErrorClass::not_found) return InFile{};
  if (!text && text.error().error_class != ErrorClass::invalid) return text.error();
  if (!text) return InFile{{}, text.error().message};
  while (text->ends_with('\n')) text->pop_back();
  if (store::is_host_id(*text)) return InFile{*text, {}};
  return InFile{{}, file.string() + " holds no host id"};
}

Result<std::string> stored_id(const store::Store& store) {
  std::string id;
  const auto read = store::read_rows<fleet::HostRow>(store, [&](const fleet::HostRow& row) {
    if (row.name == "hostId") id = row.value;
  });
  if (!read) return read.error();
  return id;
}

Error disagreement(const std::filesystem::path& file, const std::string& in_file,
                   const std::string& in_store) {
  return Error::config("the file " + file.string() + " says that this is host " + in_file +
                       ", and the database is of host " + in_store +
                       ". To go on as the host of the database, write " + in_store +
                       " into the file; to go on as " + in_file +
                       ", move the database away. Instances carry the id of their host as the tag "
                       "muster-host, and no other host touches them");
}

}  // namespace

Result<HostId> settle_host_id(const std::filesystem::path& file, const store::Store& store,
                              const Log& log) {
  const auto in_file = read_id(file);
  if (!in_file) return in_file.error();
  const auto in_store = stored_id(store);
  if (!in_store) return in_store.error();
  if (!in_file->id.empty()) {
    if (!in_store->empty() && *in_store != in_file->id)
      return disagreement(file, in_file->id, *in_store);
    return HostId{in_file->id, in_store->empty()};
  }
  if (!in_file->problem.empty() && in_store->empty())
    return Error::config(in_file->problem +
                         ", and the database does not know it either: write the id into the file "
                         "(instances carry it as the tag muster-host), or remove the file to begin "
                         "as another host");
  if (!in_file->problem.empty())
    log.warning("the host id is written again from the database", {{"reason", in_file->problem}});
  HostId settled{in_store->empty() ? random_token().reveal().substr(0, 12) : *in_store};
  const auto written = write_file_atomically(file, settled.id + "\n", 0600);
  if (written) return settled;
  if (in_store->empty()) return Error::transient(written.error().message);
  log.error("the host id is not kept beside the database: the next start tries again",
            {{"error", written.error().message}});
  return settled;
}

}  // namespace muster

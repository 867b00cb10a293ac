// Keeps a simulated cloud in a file, so that its machines outlive the process that runs it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <utility>

#include "plugins/provider/simulated/cloud.hpp"

namespace muster::simulated {

// A state that several processes may use in turn: the old and the new version of a plugin during a
// swap, or several instances of one provider. Each call holds a lock on <path>.lock, reads what
// others changed, and has its own change on the disk before it answers. THREADS: one at a time.
class StateFile {
 public:
  explicit StateFile(std::string path) : path_(std::move(path)) {}

  // Reads the file if it is not what was read or written last; nothing: it is, or there is none
  // yet. `invalid` if it is damaged: nobody but a person knows whether it may be thrown away.
  Result<std::optional<State>> refresh();

  // All or nothing, durable: a new file is renamed over the old one.
  Result<void> store(const State& state);

  // The next refresh() reads, whatever the file looks like.
  void distrust() { seen_ = {}; }

  // Released with the object. Gives up as `cancelled` when the context says so.
  class Lock {
   public:
    explicit Lock(int file) : file_(file) {}
    ~Lock();
    Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
    Lock& operator=(Lock&&) = delete;

   private:
    int file_;
  };
  Result<Lock> lock(const Context& context) const;

 private:
  // Changes whenever another process replaces the file.
  struct Identity {
    ino_t inode = 0;
    off_t size = -1;
    timespec changed{};

    bool same_as(const struct stat& file) const;
  };

  std::string path_;
  Identity seen_;
};

// A cloud and its file as one provider.
class KeptCloud final : public Provider {
 public:
  KeptCloud(std::unique_ptr<Cloud> cloud, std::string path)
      : cloud_(std::move(cloud)), file_(std::move(path)) {}

  Result<Placements> placements(const PlacementsRequest&, const Context&) override;
  Result<Expansion> expand(const ExpandRequest&, const Context&) override;
  Result<Bids> bid(const BidRequest&, const Context&) override;
  Result<Allocation> allocate(const AllocateRequest&, const Context&) override;
  Result<Listing> list(const ListRequest&, const Context&) override;
  Result<Termination> terminate(const TerminateRequest&, const Context&) override;
  Result<Identity> identify(const IdentifyRequest&, const Context&) override;
  Result<Prices> prices(const PricesRequest&, const Context&) override;
  Result<Quotas> quotas(const QuotasRequest&, const Context&) override;
  Result<Notices> notices(const NoticesRequest&, const Context&) override;

  // Reads the file for the first time; changes nothing.
  Result<void> load();

 private:
  template <class Reply, class Request>
  Result<Reply> kept(Result<Reply> (Provider::*method)(const Request&, const Context&),
                     const Request& request, const Context& context);

  std::unique_ptr<Cloud> cloud_;
  StateFile file_;
};

}  // namespace muster::simulated

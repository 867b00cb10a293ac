// The connections that scans and backups read through. As many as read at once; a few are kept.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "host/store/sqlite_connection.hpp"

namespace muster::store::sqlite {

// THREADS: any.
class Readers {
 public:
  // `vfs`: see Connection::open(); borrowed.
  Readers(std::filesystem::path file, const char* vfs) : file_(std::move(file)), vfs_(vfs) {}

  // A connection, until the lease ends.
  class Lease {
   public:
    Lease(Readers& readers, std::unique_ptr<Connection> connection)
        : readers_(&readers), connection_(std::move(connection)) {}
    Lease(Lease&& other) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (connection_) readers_->give_back(std::move(connection_));
    }
    Connection& operator*() const { return *connection_; }

   private:
    Readers* readers_;
    std::unique_ptr<Connection> connection_;
  };
  // Fails as `transient` while they are closed.
  Result<Lease> take();

  // Ends all connections: who reads is asked to stop (closed()), and waited for so long. Fails as
  // `transient` if somebody goes on reading; then they are open again.
  Result<void> close(std::chrono::milliseconds patience);
  void open();
  bool closed() const { return closed_; }

 private:
  void give_back(std::unique_ptr<Connection> connection);

  std::filesystem::path file_;
  const char* vfs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Connection>> idle_;
  std::size_t leased_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace muster::store::sqlite

#include "host/store/sqlite_readers.hpp"

namespace muster::store::sqlite {
namespace {

constexpr std::size_t most_idle = 4;

Error being_replaced(const std::filesystem::path& file) {
  return Error::transient("the database " + file.string() + " is being replaced: try again");
}

}  // namespace

Result<Readers::Lease> Readers::take() {
  {
    const std::lock_guard guard(mutex_);
    if (closed_) return being_replaced(file_);
    ++leased_;
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(connection));
    }
  }
  auto connection = Connection::open(file_, Access::read, vfs_);
  if (connection) return Lease(*this, std::move(*connection));
  give_back(nullptr);
  return connection.error();
}

void Readers::give_back(std::unique_ptr<Connection> connection) {
  // A connection that is not kept ends before it counts as given back: close() relies on it.
  std::unique_lock guard(mutex_);
  if (connection && !closed_ && idle_.size() < most_idle) {
    idle_.push_back(std::move(connection));
  } else {
    guard.unlock();
    connection.reset();
    guard.lock();
  }
  --leased_;
  changed_.notify_all();
}

Result<void> Readers::close(std::chrono::milliseconds patience) {
  std::unique_lock guard(mutex_);
  closed_ = true;
  if (!changed_.wait_for(guard, patience, [&] { return leased_ == 0; })) {
    closed_ = false;
    return Error::transient("the database " + file_.string() +
                            " cannot be replaced while it is being read");
  }
  idle_.clear();
  return {};
}

void Readers::open() {
  const std::lock_guard guard(mutex_);
  closed_ = false;
}

}  // namespace muster::store::sqlite

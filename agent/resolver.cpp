#include "agent/resolver.hpp"

#include <cstring>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

namespace muster::agent {
namespace {

constexpr std::size_t stack_bytes = 512 * 1024;

Result<std::vector<Address>> look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  const int failed = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failed != 0)
    return Error::transient("cannot find the address of " + host + ": " + ::gai_strerror(failed));
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one; one = one->ai_next) {
    Address address;
    std::memcpy(&address.storage, one->ai_addr, one->ai_addrlen);
    address.length = one->ai_addrlen;
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return addresses;
}

}  // namespace

struct Lookup::Shared {
  std::string host;
  std::uint16_t port = 0;
  FileDescriptor done;
  std::mutex mutex;
  Result<std::vector<Address>> answer = Error::transient("the lookup did not begin");

  void finish(Result<std::vector<Address>> found) {
    {
      const std::lock_guard guard(mutex);
      answer = std::move(found);
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(done.get(), &one, sizeof one);
  }

  static void* run(void* argument) {
    const std::unique_ptr<std::shared_ptr<Shared>> shared(
        static_cast<std::shared_ptr<Shared>*>(argument));
    (*shared)->finish(look_up((*shared)->host, (*shared)->port, AI_ADDRCONFIG));
    return nullptr;
  }
};

Lookup::Lookup(EventLoop& loop, const std::string& host, std::uint16_t port, Done done)
    : loop_(loop), shared_(std::make_shared<Shared>()) {
  shared_->host = host;
  shared_->port = port;
  shared_->done = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  watch_ = loop.watch(shared_->done.get(), POLLIN, [this, done = std::move(done)](short) {
    loop_.remove(watch_);
    watch_ = 0;
    const auto shared = shared_;  // `done` may destroy this object
    const auto call = done;
    const std::lock_guard guard(shared->mutex);
    call(std::move(shared->answer));
  });
  if (auto numeric = look_up(host, port, AI_NUMERICHOST)) {
    shared_->finish(std::move(numeric));
    return;
  }
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, stack_bytes);
  auto argument = std::make_unique<std::shared_ptr<Shared>>(shared_);
  pthread_t thread;
  const int failed = ::pthread_create(&thread, &attributes, Shared::run, argument.get());
  ::pthread_attr_destroy(&attributes);
  if (failed == 0)
    (void)argument.release();  // the thread's
  else
    shared_->finish(Error::transient("cannot start a thread for a lookup"));
}

Lookup::~Lookup() {
  loop_.remove(watch_);
}

}  // namespace muster::agent

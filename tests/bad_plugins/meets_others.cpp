// Nothing is wrong with this one. Its method "meet" returns only when as many calls are inside as
// the barrier in the file that the request names says: {"barrier":"<path>"}. The file is shared, so
// the calls may be in different processes.
#include <cstdint>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "well_behaved.hpp"

static muster_status meet(void* instance, const muster_call* call) {
  const std::string request(call->request.data, call->request.size);
  const auto from = request.find(":\"") + 2;
  const std::string path = request.substr(from, request.find('"', from) - from);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  void* const memory =
      ::mmap(nullptr, sizeof(pthread_barrier_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return MUSTER_INTERNAL;
  ::pthread_barrier_wait(static_cast<pthread_barrier_t*>(memory));
  ::munmap(memory, sizeof(pthread_barrier_t));
  return well_behaved::answer(call, std::to_string(::getpid()) + " " +
                                        std::to_string(reinterpret_cast<std::uintptr_t>(instance)));
}

static muster_status call(void* instance, const muster_call* call) {
  return well_behaved::method_of(call) == "meet" ? meet(instance, call)
                                                 : well_behaved::call(instance, call);
}

EXPORT_PLUGIN(well_behaved::create, call, well_behaved::destroy);

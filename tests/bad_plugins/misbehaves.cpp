// Loads well, and does in a call what its request says: {"do":"crash"}.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

#include "well_behaved.hpp"

namespace {

struct Odd : std::runtime_error {  // its type information lives in this library alone
  using runtime_error::runtime_error;
};

muster_status fail(const muster_call* call, muster_status status, std::string_view text) {
  well_behaved::answer(call, text);
  return status;
}

muster_status answer_a_gigabyte(const muster_call* call) {
  const std::string part(1 << 20, 'x');
  for (int i = 0; i < 1024; ++i) well_behaved::answer(call, part);
  return MUSTER_OK;
}

void eat_memory() {
  for (;;) {
    char* block = static_cast<char*>(std::malloc(64 << 20));
    if (block == nullptr) std::abort();
    std::memset(block, 1, 64 << 20);
  }
}

void leave_a_child() {
  if (::fork() == 0) {
    for (;;) ::pause();
  }
}

muster_status wait_politely(const muster_call* call) {
  while (call->cancelled(call->self) == 0) ::usleep(1000);
  return fail(call, MUSTER_CANCELLED, "gave up politely");
}

muster_status call(void* instance, const muster_call* request) {
  const std::string_view text(request->request.data, request->request.size);
  const auto asked = [&](std::string_view what) {
    return text.find(what) != std::string_view::npos;
  };
  if (well_behaved::method_of(request) == "describe") return well_behaved::describe(request);
  if (asked("throw across")) throw Odd("thrown across the boundary");
  if (asked("throw an int")) throw 42;
  if (asked("crash")) std::raise(SIGSEGV);
  if (asked("exit")) std::exit(0);
  if (asked("hang"))
    for (;;) ::pause();
  if (asked("wait")) return wait_politely(request);
  if (asked("bug")) return fail(request, MUSTER_INTERNAL, "vector::at");
  if (asked("gigabyte")) return answer_a_gigabyte(request);
  if (asked("eat memory")) eat_memory();
  if (asked("leave a child")) leave_a_child();
  if (asked("stop")) std::raise(SIGSTOP);
  if (asked("no utf-8")) return well_behaved::answer(request, "{\"placements\":\"\xff\xfe\"}");
  if (asked("deep")) return well_behaved::answer(request, std::string(100'000, '['));
  if (asked("wrong type")) return well_behaved::answer(request, R"({"placements":[{"facts":7}]})");
  if (asked("strange status")) return fail(request, 4711, "what is this");
  if (asked("talk")) std::fputs("last words of the plugin\n", stderr);
  if (asked("die")) std::abort();
  return well_behaved::call(instance, request);
}

}  // namespace

EXPORT_PLUGIN(well_behaved::create, call, well_behaved::destroy);

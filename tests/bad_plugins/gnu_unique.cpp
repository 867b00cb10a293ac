// A static inside an exported inline function: with g++'s defaults glibc never unloads such a
// library. Nothing here depends on unloading, so it is welcome.
#include "well_behaved.hpp"

#pragma GCC visibility push(default)
inline int& counter() {
  static int count = 0;
  return count;
}
#pragma GCC visibility pop
#ifdef __clang__  // it makes no such symbol by itself
__asm__(
    ".pushsection .bss\n"
    ".globl unique_counter\n"
    ".type unique_counter, @gnu_unique_object\n"
    ".size unique_counter, 4\n"
    "unique_counter: .zero 4\n"
    ".popsection\n");
#endif

static muster_status call(void* instance, const muster_call* request) {
  ++counter();
  return well_behaved::call(instance, request);
}

EXPORT_PLUGIN(well_behaved::create, call, well_behaved::destroy);

// Dies in a static constructor, before any function of its interface is called.
#include <csignal>

#include "well_behaved.hpp"

namespace {
struct Crasher {
  Crasher() { std::raise(SIGSEGV); }
} crasher;
}  // namespace

EXPORT_PLUGIN(well_behaved::create, well_behaved::call, well_behaved::destroy);

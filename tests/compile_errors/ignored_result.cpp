// Must not compile as it is: nobody looks at what save() returns. With LOOKED_AT it must.
#include <muster/error.hpp>

muster::Result<void> save();
muster::Result<int> count();

int main() {
#ifdef LOOKED_AT
  if (!save()) return 1;
  return count() ? 0 : 1;
#elif defined(IGNORES_A_VALUE)
  count();
#else
  save();
#endif
}

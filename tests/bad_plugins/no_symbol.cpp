// A perfectly fine shared library that is no plugin.
extern "C" __attribute__((visibility("default"))) int hello() {
  return 42;
}

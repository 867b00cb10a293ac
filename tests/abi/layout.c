/* The layout of every struct and the value of every name in abi.h, as plugins out there were
 * compiled with. A line here is never changed and never removed; a new field adds one, and moves a
 * sizeof. Compiled as C and as C++. */
#include <muster/abi.h>

#ifdef __cplusplus
#define PIN(condition) static_assert(condition, #condition)
#else
#define PIN(condition) _Static_assert(condition, #condition)
#endif

#ifdef MUSTER_TEST_CHANGED_LAYOUT /* as if somebody had inserted a field at the front */
#define AT(type, field) (offsetof(type, field) + sizeof(void*))
#else
#define AT(type, field) offsetof(type, field)
#endif

PIN(MUSTER_ABI_MAJOR == 1);
PIN(MUSTER_ABI_MINOR >= 1);
PIN(sizeof(MUSTER_PLUGIN_SYMBOL) == sizeof("muster_plugin_v1"));

PIN(sizeof(muster_status) == 4);
PIN(MUSTER_OK == 0);
PIN(MUSTER_INVALID == 1);
PIN(MUSTER_NOT_FOUND == 2);
PIN(MUSTER_CAPACITY == 3);
PIN(MUSTER_QUOTA == 4);
PIN(MUSTER_THROTTLE == 5);
PIN(MUSTER_AUTH == 6);
PIN(MUSTER_CONFIG == 7);
PIN(MUSTER_TRANSIENT == 8);
PIN(MUSTER_UNSUPPORTED == 9);
PIN(MUSTER_CANCELLED == 10);
PIN(MUSTER_INTERNAL == 11);

PIN(MUSTER_LOG_DEBUG == 0);
PIN(MUSTER_LOG_INFO == 1);
PIN(MUSTER_LOG_WARNING == 2);
PIN(MUSTER_LOG_ERROR == 3);

#if UINTPTR_MAX == UINT64_MAX
PIN(AT(muster_bytes, data) == 0);
PIN(AT(muster_bytes, size) == 8);
PIN(sizeof(muster_bytes) == 16);

PIN(AT(muster_call, struct_size) == 0);
PIN(AT(muster_call, method) == 8);
PIN(AT(muster_call, request) == 24);
PIN(AT(muster_call, self) == 40);
PIN(AT(muster_call, cancelled) == 48);
PIN(AT(muster_call, reply) == 56);
PIN(AT(muster_call, log) == 64);
PIN(AT(muster_call, now) == 72);
PIN(AT(muster_call, time_left) == 80);
PIN(sizeof(muster_call) == 88);

PIN(AT(muster_plugin, struct_size) == 0);
PIN(AT(muster_plugin, abi_minor) == 4);
PIN(AT(muster_plugin, kind) == 8);
PIN(AT(muster_plugin, name) == 16);
PIN(AT(muster_plugin, version) == 24);
PIN(AT(muster_plugin, create) == 32);
PIN(AT(muster_plugin, call) == 40);
PIN(AT(muster_plugin, destroy) == 48);
PIN(AT(muster_plugin, built_with) == 56);
PIN(sizeof(muster_plugin) == 64);
#else
#error "the layout is pinned for 64-bit machines only; add the numbers of this one"
#endif

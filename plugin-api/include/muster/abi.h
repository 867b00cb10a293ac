/* The binary contract between muster and a plugin: everything that crosses the border of a shared
 * library, and nothing else ever does. Plain C, so that a plugin's compiler, C++ standard and C++
 * library are its own business.
 *
 * A plugin exports one object, `muster_plugin_v1`. A call carries a method's name and a JSON
 * request in; the plugin answers with a status and with bytes handed to `reply`. No allocation made
 * on one side is freed on the other, and no exception may cross.
 *
 * Versions. The major version is part of the symbol's name, so a plugin of another major is refused
 * from its symbol table, before any of its code runs. Minor versions only append fields: each
 * struct begins with its own size, and a reader looks at a field only if `struct_size` covers it
 * (MUSTER_HAS). New abilities are new methods or new JSON fields, which need no new version at all.
 *
 *   1.0  the first
 *   1.1  muster_call.now, muster_call.time_left, muster_plugin.built_with
 */
#ifndef MUSTER_ABI_H
#define MUSTER_ABI_H

#include <stddef.h>
#include <stdint.h>

#define MUSTER_ABI_MAJOR 1
#define MUSTER_ABI_MINOR 1
#define MUSTER_PLUGIN_SYMBOL "muster_plugin_v1"
#define MUSTER_PLUGIN_SYMBOL_PREFIX "muster_plugin_v"

/* Whether the struct that `pointer` points to is new enough to have `field`. */
#define MUSTER_HAS(pointer, type, field) \
  ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

#ifdef __cplusplus
extern "C" {
#endif

/* UTF-8 text. Borrowed: valid until the function that received it returns. */
typedef struct muster_bytes {
  const char* data;
  size_t size;
} muster_bytes;

/* How a call ended. Each one makes the host react differently; after any but OK the bytes handed to
 * `reply` are the failure: a JSON object {"message", "scope", "holdSeconds", "code"} or plain text,
 * which is then the message. */
typedef int32_t muster_status;
enum {
  MUSTER_OK = 0,
  MUSTER_INVALID = 1,   /* the request is wrong: not retried, shown to the operator */
  MUSTER_NOT_FOUND = 2, /* what the request names is gone */
  MUSTER_CAPACITY =
      3, /* the cloud has no room in this scope: the next bid is tried, the scope is held */
  MUSTER_QUOTA = 4,    /* the account's limit is reached in this scope: as above, held for longer */
  MUSTER_THROTTLE = 5, /* too many calls: the provider is called less often */
  MUSTER_AUTH = 6,     /* credentials are refused: the provider is held, the operator is told */
  MUSTER_CONFIG = 7,   /* the launch configuration cannot work: it is held until it is edited */
  MUSTER_TRANSIENT = 8,   /* passing trouble: retried with backoff */
  MUSTER_UNSUPPORTED = 9, /* the method is unknown to the plugin: the ability is not offered */
  MUSTER_CANCELLED = 10,  /* the plugin saw `cancelled` and gave up */
  MUSTER_INTERNAL = 11    /* a bug in the plugin; several in a row quarantine it */
};

enum { MUSTER_LOG_DEBUG = 0, MUSTER_LOG_INFO = 1, MUSTER_LOG_WARNING = 2, MUSTER_LOG_ERROR = 3 };

/* One request. Every pointer is valid until create() or call() returns, and no longer; the
 * functions may be called from any thread of the plugin until then. OWNERSHIP: the host's. */
typedef struct muster_call {
  uint32_t struct_size;
  muster_bytes method;          /* "bid", "allocate", ...; "create" in create() */
  muster_bytes request;         /* a JSON object; the instance's configuration in create() */
  void* self;                   /* handed back to the functions below */
  int (*cancelled)(void* self); /* non-zero: the deadline passed or the host stops; return soon */
  void (*reply)(void* self,
                muster_bytes part); /* appends a part of the answer; the host copies it */
  void (*log)(void* self, int level, muster_bytes line);
  int64_t (*now)(void* self); /* since 1.1: the host's clock, milliseconds since the Unix epoch */
  int64_t (*time_left)(void* self); /* since 1.1: milliseconds until the deadline, never below 0 */
} muster_call;

/* The exported object. OWNERSHIP: the plugin's; it and its strings live as long as the library is
 * mapped. */
typedef struct muster_plugin {
  uint32_t struct_size;
  uint32_t abi_minor;  /* the minor version the plugin was built against */
  const char* kind;    /* "provider" or "strategy" */
  const char* name;    /* equals the manifest's */
  const char* version; /* equals the manifest's */
  /* Checks the configuration in call->request and makes an instance of it. Has no effect outside
   * the process: the host calls it more than once, first in a child process that only checks. */
  muster_status (*create)(const muster_call* call, void** instance);
  /* One thread at a time for each instance; different instances run in parallel. `instance` is null
   * for "describe", which does no I/O. */
  muster_status (*call)(void* instance, const muster_call* call);
  /* After this no thread of the instance may be left. */
  void (*destroy)(void* instance);
  const char*
      built_with; /* since 1.1: the toolchain, for people who look for a cause; may be null */
} muster_plugin;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MUSTER_ABI_H */

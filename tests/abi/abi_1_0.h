/* The plugin ABI as its first version, 1.0, was. Frozen: a plugin that was built against it must
 * load for as long as the major version is 1. Never edit it. */
#ifndef MUSTER_ABI_1_0_H
#define MUSTER_ABI_1_0_H

#include <stddef.h>
#include <stdint.h>

#define MUSTER_ABI_MAJOR 1
#define MUSTER_ABI_MINOR 0
#define MUSTER_PLUGIN_SYMBOL "muster_plugin_v1"

typedef struct muster_bytes {
  const char* data;
  size_t size;
} muster_bytes;

typedef int32_t muster_status;
enum {
  MUSTER_OK = 0,
  MUSTER_INVALID = 1,
  MUSTER_NOT_FOUND = 2,
  MUSTER_CAPACITY = 3,
  MUSTER_QUOTA = 4,
  MUSTER_THROTTLE = 5,
  MUSTER_AUTH = 6,
  MUSTER_CONFIG = 7,
  MUSTER_TRANSIENT = 8,
  MUSTER_UNSUPPORTED = 9,
  MUSTER_CANCELLED = 10,
  MUSTER_INTERNAL = 11
};

enum { MUSTER_LOG_DEBUG = 0, MUSTER_LOG_INFO = 1, MUSTER_LOG_WARNING = 2, MUSTER_LOG_ERROR = 3 };

typedef struct muster_call {
  uint32_t struct_size;
  muster_bytes method;
  muster_bytes request;
  void* self;
  int (*cancelled)(void* self);
  void (*reply)(void* self, muster_bytes part);
  void (*log)(void* self, int level, muster_bytes line);
} muster_call;

typedef struct muster_plugin {
  uint32_t struct_size;
  uint32_t abi_minor;
  const char* kind;
  const char* name;
  const char* version;
  muster_status (*create)(const muster_call* call, void** instance);
  muster_status (*call)(void* instance, const muster_call* call);
  void (*destroy)(void* instance);
} muster_plugin;

#endif /* MUSTER_ABI_1_0_H */

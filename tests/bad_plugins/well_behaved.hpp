// A provider that does nothing wrong, on the bare ABI. Each bad plugin changes one thing.
#pragma once

#include <string>
#include <string_view>

#include <muster/abi.h>

#ifndef MUSTER_PLUGIN_NAME
#error "MUSTER_PLUGIN_NAME comes from CMake"
#endif

namespace well_behaved {

inline std::string_view method_of(const muster_call* call) {
  return {call->method.data, call->method.size};
}

inline muster_status answer(const muster_call* call, std::string_view text) {
  call->reply(call->self, {text.data(), text.size()});
  return MUSTER_OK;
}

inline muster_status describe(const muster_call* call) {
  return answer(
      call,
      R"({"name":")" MUSTER_PLUGIN_NAME R"(","version":")" MUSTER_PLUGIN_VERSION
      R"(","description":"a test","configSchema":{"type":"object"},"section":"test","sectionSchema":{}})");
}

inline muster_status create(const muster_call*, void** instance) {
  *instance = new int(1);
  return MUSTER_OK;
}

// Answers "who" with its version, whatever else with its request.
inline muster_status call(void*, const muster_call* call) {
  const std::string_view method = method_of(call);
  if (method == "describe") return describe(call);
  if (method == "who") return answer(call, "\"" MUSTER_PLUGIN_VERSION "\"");
  return answer(call, {call->request.data, call->request.size});
}

inline void destroy(void* instance) {
  delete static_cast<int*>(instance);
}

}  // namespace well_behaved

#define EXPORT_PLUGIN(Create, Call, Destroy)                     \
  extern "C" __attribute__((visibility("default")))              \
  const muster_plugin muster_plugin_v1 = {sizeof(muster_plugin), \
                                          MUSTER_ABI_MINOR,      \
                                          "provider",            \
                                          MUSTER_PLUGIN_NAME,    \
                                          MUSTER_PLUGIN_VERSION, \
                                          Create,                \
                                          Call,                  \
                                          Destroy,               \
                                          "test"}

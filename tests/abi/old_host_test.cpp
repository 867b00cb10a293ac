// Today's plugin in a host of ABI 1.0, which knows neither now() nor time_left().
#include <dlfcn.h>
#include <string>

#include <gtest/gtest.h>

extern "C" {
#include "tests/abi/abi_1_0.h"
}

namespace {

struct Call {
  Call(const char* method, std::string text) : request(std::move(text)) {
    raw.struct_size = sizeof raw;
    raw.method = {method, std::char_traits<char>::length(method)};
    raw.request = {request.data(), request.size()};
    raw.self = this;
    raw.cancelled = [](void*) { return 0; };
    raw.reply = [](void* self, muster_bytes part) {
      static_cast<Call*>(self)->answer.append(part.data, part.size);
    };
    raw.log = [](void*, int, muster_bytes) {};
  }
  const std::string request;
  muster_call raw{};
  std::string answer;
};

TEST(OldHost, runs_a_plugin_of_a_newer_minor_version) {
  void* library = ::dlopen(MUSTER_PLUGIN_FILE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto* plugin = static_cast<const muster_plugin*>(::dlsym(library, MUSTER_PLUGIN_SYMBOL));
  ASSERT_NE(plugin, nullptr);
  EXPECT_GE(plugin->struct_size, sizeof(muster_plugin));
  EXPECT_GE(plugin->abi_minor, 1u);
  const std::string config =
      R"({"regions":[{"name":"r","zones":["z"]}],"instanceTypes":[{"name":"t"}]})";
  Call create("create", config);
  void* instance = nullptr;
  ASSERT_EQ(plugin->create(&create.raw, &instance), MUSTER_OK) << create.answer;
  Call list("list", R"({"owner":{"hostId":"h","providerId":"p","epoch":1}})");
  EXPECT_EQ(plugin->call(instance, &list.raw), MUSTER_OK);  // asks the time, which is not told
  EXPECT_NE(list.answer.find("\"instances\""), std::string::npos) << list.answer;
  plugin->destroy(instance);
}

}  // namespace

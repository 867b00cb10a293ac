// Makes a plugin of a class. The whole of a plugin's boundary code is one line:
//
//   class Lab final : public muster::Provider { ... };
//   MUSTER_PLUGIN(Lab);
//
// Name and version come from muster_add_plugin(), the kind from the base class. No exception leaves
// the library: each becomes an `internal` failure with the exception's text.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>

#include <muster/abi.h>
#include <muster/bidding_strategy.hpp>
#include <muster/codec.hpp>
#include <muster/context.hpp>
#include <muster/provider.hpp>

namespace muster::plugin {

// A call as the author sees it. Works with hosts of any minor version.
class CallContext final : public Context {
 public:
  explicit CallContext(const muster_call& call) : call_(call) {}

  bool cancelled() const noexcept override;
  std::chrono::milliseconds time_left() const noexcept override;
  Time now() const noexcept override;
  void log(LogLevel level, std::string_view line) const noexcept override;

 private:
  const muster_call& call_;
};

// Runs author code so that every way out is a status and bytes.
muster_status contain(const muster_call& call,
                      const std::function<Result<std::string>(const Context&)>& body) noexcept;

// Finds the method, reads the request, writes the answer. A request of the wrong shape is
// `invalid`, with the path of the mistake; a method that does not exist is `unsupported`.
Result<std::string> dispatch(Provider& provider, std::string_view method, std::string_view request,
                             const Context& context);
Result<std::string> dispatch(BiddingStrategy& strategy, std::string_view method,
                             std::string_view request, const Context& context);

template <class T>
struct Export {
  static constexpr bool is_provider = std::is_base_of_v<Provider, T>;
  static_assert(is_provider || std::is_base_of_v<BiddingStrategy, T>,
                "a plugin derives from muster::Provider or muster::BiddingStrategy");
  using Interface = std::conditional_t<is_provider, Provider, BiddingStrategy>;
  static constexpr const char* kind = is_provider ? "provider" : "strategy";

  static muster_status create(const muster_call* call, void** instance) noexcept {
    return contain(*call, [&](const Context& context) -> Result<std::string> {
      const auto config = json::parse_object({call->request.data, call->request.size});
      if (!config) return config.error();
      Result<std::unique_ptr<Interface>> made = T::create(*config, context);
      if (!made) return made.error();
      *instance = made->release();
      return std::string();
    });
  }

  static void destroy(void* instance) noexcept { delete static_cast<Interface*>(instance); }
};

// `Name` and `Version` are functions: strings cannot be template arguments.
template <class T, const char* (*Name)(), const char* (*Version)()>
muster_status call(void* instance, const muster_call* call) noexcept {
  return contain(*call, [&](const Context& context) -> Result<std::string> {
    const std::string_view method(call->method.data, call->method.size);
    if (method == "describe") {
      auto description = T::describe();
      description.name = Name();
      description.version = Version();
      return encode(description);
    }
    if (instance == nullptr) return Error::invalid(std::string(method) + " needs an instance");
    return dispatch(*static_cast<typename Export<T>::Interface*>(instance), method,
                    {call->request.data, call->request.size}, context);
  });
}

}  // namespace muster::plugin

#define MUSTER_PLUGIN(Type)                                                                  \
  static const char* muster_plugin_name() {                                                  \
    return MUSTER_PLUGIN_NAME;                                                               \
  }                                                                                          \
  static const char* muster_plugin_version() {                                               \
    return MUSTER_PLUGIN_VERSION;                                                            \
  }                                                                                          \
  extern "C" __attribute__((visibility("default"))) const muster_plugin muster_plugin_v1 = { \
      sizeof(muster_plugin),                                                                 \
      MUSTER_ABI_MINOR,                                                                      \
      muster::plugin::Export<Type>::kind,                                                    \
      MUSTER_PLUGIN_NAME,                                                                    \
      MUSTER_PLUGIN_VERSION,                                                                 \
      &muster::plugin::Export<Type>::create,                                                 \
      &muster::plugin::call<Type, &muster_plugin_name, &muster_plugin_version>,              \
      &muster::plugin::Export<Type>::destroy,                                                \
      "C++ compiler " __VERSION__}

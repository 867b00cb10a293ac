#include <dlfcn.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

namespace muster::testing {
namespace {

std::string_view view(muster_bytes bytes) {
  return bytes.size == 0 ? std::string_view() : std::string_view(bytes.data, bytes.size);
}

// One call as the plugin sees it.
class Call {
 public:
  Call(std::string_view method, std::string_view request, const Context& context)
      : context_(context) {
    call_.struct_size = sizeof call_;
    call_.method = {method.data(), method.size()};
    call_.request = {request.data(), request.size()};
    call_.self = this;
    call_.cancelled = [](void* self) { return of(self).context_.cancelled() ? 1 : 0; };
    call_.reply = [](void* self, muster_bytes part) { of(self).reply_ += view(part); };
    call_.log = [](void* self, int level, muster_bytes line) {
      of(self).context_.log(static_cast<LogLevel>(level), view(line));
    };
    call_.now = [](void* self) {
      return std::int64_t{of(self).context_.now().time_since_epoch().count()};
    };
    call_.time_left = [](void* self) {
      return std::int64_t{of(self).context_.time_left().count()};
    };
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const muster_call* abi() const { return &call_; }

  Result<std::string> outcome(muster_status status) && {
    if (status == MUSTER_OK) return std::move(reply_);
    return decode_failure(status, reply_);
  }

 private:
  static Call& of(void* self) { return *static_cast<Call*>(self); }

  const Context& context_;
  muster_call call_{};
  std::string reply_;
};

}  // namespace

void FakeContext::log(LogLevel level, std::string_view line) const noexcept {
  const std::lock_guard lock(mutex_);
  lines_.push_back({level, std::string(line)});
}

std::vector<LogLine> FakeContext::log_lines() const {
  const std::lock_guard lock(mutex_);
  return lines_;
}

Result<std::unique_ptr<Channel>> DirectChannel::create(const muster_plugin& plugin,
                                                       std::string_view config,
                                                       const Context& context) {
  Call call("create", config, context);
  void* instance = nullptr;
  const muster_status status = plugin.create(call.abi(), &instance);
  const auto outcome = std::move(call).outcome(status);
  if (!outcome) return outcome.error();
  if (instance == nullptr) return Error::internal("create succeeded but made no instance");
  return std::unique_ptr<Channel>(new DirectChannel(plugin, instance));
}

DirectChannel::~DirectChannel() {
  plugin_.destroy(instance_);
}

Result<std::string> DirectChannel::call(std::string_view method, std::string_view request,
                                        const Context& context) {
  const std::lock_guard lock(mutex_);
  Call call(method, request, context);
  const muster_status status = plugin_.call(instance_, call.abi());
  return std::move(call).outcome(status);
}

Result<std::string> describe(const muster_plugin& plugin) {
  const FakeContext context;
  Call call("describe", "{}", context);
  const muster_status status = plugin.call(nullptr, call.abi());
  return std::move(call).outcome(status);
}

Result<const muster_plugin*> open_plugin(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return Error::invalid(reason ? reason : path + " cannot be loaded");
  }
  const void* symbol = ::dlsym(library, MUSTER_PLUGIN_SYMBOL);
  if (symbol == nullptr) return Error::invalid(path + " exports no " MUSTER_PLUGIN_SYMBOL);
  return static_cast<const muster_plugin*>(symbol);
}

}  // namespace muster::testing

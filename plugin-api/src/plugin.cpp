#include <exception>

#include <muster/plugin.hpp>
#include <muster/trace.hpp>

namespace muster::plugin {
namespace {

template <class Interface, class Request, class Reply>
using Member = Result<Reply> (Interface::*)(const Request&, const Context&);

template <class Interface, class Request, class Reply>
Result<std::string> answer(Interface& object, Member<Interface, Request, Reply> method,
                           std::string_view text, const Context& context) {
  const auto request = decode<Request>(text);
  if (!request) return request.error();
  const auto reply = (object.*method)(*request, TracedContext(context, trace_in(text)));
  if (!reply) return reply.error();
  return encode(*reply);
}

Error unknown(std::string_view method) {
  return Error::unsupported("there is no method \"" + std::string(method) + "\"");
}

void reply(const muster_call& call, std::string_view bytes) noexcept {
  call.reply(call.self, {bytes.data(), bytes.size()});
}

}  // namespace

bool CallContext::cancelled() const noexcept {
  return call_.cancelled(call_.self) != 0;
}

std::chrono::milliseconds CallContext::time_left() const noexcept {
  using namespace std::chrono_literals;
  if (MUSTER_HAS(&call_, muster_call, time_left) && call_.time_left)
    return std::chrono::milliseconds(call_.time_left(call_.self));
  return cancelled() ? 0ms : 1s;  // an older host does not say
}

Time CallContext::now() const noexcept {
  if (MUSTER_HAS(&call_, muster_call, now) && call_.now)
    return Time(std::chrono::milliseconds(call_.now(call_.self)));
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

void CallContext::log(LogLevel level, std::string_view line) const noexcept {
  call_.log(call_.self, static_cast<int>(level), {line.data(), line.size()});
}

muster_status contain(const muster_call& call,
                      const std::function<Result<std::string>(const Context&)>& body) noexcept {
  try {
    const CallContext context(call);
    const Result<std::string> result = body(context);
    reply(call, result ? *result : encode_failure(result.error()));
    return result ? MUSTER_OK : static_cast<muster_status>(result.error().error_class);
  } catch (const std::exception& error) {
    reply(call, error.what());
  } catch (...) {
    reply(call, "threw something that is not a std::exception");
  }
  return MUSTER_INTERNAL;
}

Result<std::string> dispatch(Provider& provider, std::string_view method, std::string_view request,
                             const Context& context) {
  const auto to = [&](auto member) { return answer(provider, member, request, context); };
  if (method == "placements") return to(&Provider::placements);
  if (method == "expand") return to(&Provider::expand);
  if (method == "bid") return to(&Provider::bid);
  if (method == "allocate") return to(&Provider::allocate);
  if (method == "list") return to(&Provider::list);
  if (method == "terminate") return to(&Provider::terminate);
  if (method == "identify") return to(&Provider::identify);
  if (method == "notices") return to(&Provider::notices);
  if (method == "diagnose") return to(&Provider::diagnose);
  return unknown(method);
}

Result<std::string> dispatch(BiddingStrategy& strategy, std::string_view method,
                             std::string_view request, const Context& context) {
  const auto to = [&](auto member) { return answer(strategy, member, request, context); };
  if (method == "size") return to(&BiddingStrategy::size);
  if (method == "select") return to(&BiddingStrategy::select);
  return unknown(method);
}

}  // namespace muster::plugin

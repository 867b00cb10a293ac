// Plugins that keep every promise but one.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include <muster/plugin.hpp>
#include <muster/testing/contract.hpp>
#include <muster/testing/fake_host.hpp>

namespace muster::testing {

// Any object as a channel, without the C boundary. Exceptions become `internal`, as they do there.
template <class Interface>
class ObjectChannel final : public Channel {
 public:
  ObjectChannel(std::unique_ptr<Interface> object, std::string flaw)
      : object_(std::move(object)), flaw_(std::move(flaw)) {}

  Result<std::string> call(std::string_view method, std::string_view request,
                           const Context& context) override {
    if (flaw_ == "takes nonsense for a request" && !json::parse_object(request)) return "{}";
    if (flaw_ == "knows every method" && method == "no_such_method") return "{}";
    if (flaw_ == "stays when cancelled" && context.cancelled()) stay();
    if (flaw_ == "dislikes newer hosts" && request.find("fieldOf") != request.npos)
      return Error::invalid("unknown member");
    if (flaw_ == "breaks after nonsense") {
      broken_ = broken_ || request == "nonsense";
      if (broken_ && json::parse_object(request)) return Error::internal("broken");
    }
    try {
      auto answer = plugin::dispatch(*object_, method, request, context);
      if (!answer && flaw_ == "is silent about mistakes") return Error::invalid("wrong");
      if (!answer && flaw_ == "calls mistakes transient") return Error::transient("wrong");
      return answer;
    } catch (const std::exception& error) {
      return Error::internal(error.what());
    }
  }

 private:
  static void stay() {
    using Clock = std::chrono::steady_clock;
    for (const auto end = Clock::now() + std::chrono::milliseconds(20); Clock::now() < end;)
      std::this_thread::yield();
  }

  std::unique_ptr<Interface> object_;
  std::string flaw_;
  bool broken_ = false;
};

// The promises that were not kept, as "about: promise".
inline std::vector<std::string> not_kept(const std::vector<Check>& checks) {
  std::vector<std::string> found;
  for (const Check& check : checks)
    if (check.outcome == Outcome::broken) found.push_back(check.about + ": " + check.promise);
  return found;
}

}  // namespace muster::testing

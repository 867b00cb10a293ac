#include <csignal>
#include <fstream>

#include <gtest/gtest.h>

#include <muster/plugin.hpp>
#include <muster/testing/fake_host.hpp>

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

muster_status answer(const muster_call* call, std::string_view text) {
  call->reply(call->self, {text.data(), text.size()});
  return MUSTER_OK;
}

muster_status make(const muster_call* call, void** instance) {
  if (call->request.size == 0) return MUSTER_INVALID;
  *instance = new std::string(call->request.data, call->request.size);
  return MUSTER_OK;
}

void unmake(void* instance) {
  delete static_cast<std::string*>(instance);
}

muster_plugin plugin_with(muster_status (*call)(void*, const muster_call*)) {
  return {sizeof(muster_plugin), 1, "provider", "p", "1", make, call, unmake, nullptr};
}

TEST(DirectChannel, tells_why_there_is_no_instance) {
  const auto plugin = plugin_with(nullptr);
  EXPECT_EQ(DirectChannel::create(plugin, "", FakeContext()).error().error_class,
            ErrorClass::invalid);
  auto lying = plugin;
  lying.create = [](const muster_call*, void**) -> muster_status { return MUSTER_OK; };
  EXPECT_EQ(DirectChannel::create(lying, "{}", FakeContext()).error().message,
            "create succeeded but made no instance");
}

TEST(DirectChannel, hands_over_everything_that_a_call_carries) {
  const auto plugin = plugin_with([](void* instance, const muster_call* call) -> muster_status {
    call->log(call->self, MUSTER_LOG_WARNING, {"careful", 7});
    std::string text = *static_cast<std::string*>(instance) + "|" +
                       std::string(call->method.data, call->method.size) + "|" +
                       std::string(call->request.data, call->request.size) + "|" +
                       std::to_string(call->now(call->self)) + "|" +
                       std::to_string(call->time_left(call->self)) + "|" +
                       std::to_string(call->cancelled(call->self));
    answer(call, text.substr(0, 5));
    return answer(call, text.substr(5));
  });
  FakeContext context(Time(5s));
  context.advance(250ms);
  context.set_time_left(99ms);
  const auto channel = DirectChannel::create(plugin, "config", context);
  ASSERT_TRUE(channel);
  EXPECT_EQ((*channel)->call("method", "request", context).value(),
            "config|method|request|5250|99|0");
  context.cancel();
  EXPECT_EQ((*channel)->call("m", "r", context).value(), "config|m|r|5250|99|1");
  EXPECT_EQ(context.log_lines().at(0), (LogLine{LogLevel::warning, "careful"}));
}

TEST(DirectChannel, a_status_and_its_bytes_are_an_error) {
  const auto plugin = plugin_with([](void*, const muster_call* call) -> muster_status {
    answer(call, R"({"message":"full","scope":{"zone":"a"}})");
    return MUSTER_CAPACITY;
  });
  const auto channel = DirectChannel::create(plugin, "{}", FakeContext());
  EXPECT_EQ((*channel)->call("m", "", FakeContext()).error(), Error::capacity("full").in_zone("a"));
}

TEST(FakeContext, no_time_left_is_cancelled) {
  FakeContext context;
  EXPECT_FALSE(context.cancelled());
  context.set_time_left(0ms);
  EXPECT_TRUE(context.cancelled());
}

TEST(DescribeConfined, lets_a_pure_description_through) {
  const auto plugin = plugin_with([](void*, const muster_call* call) -> muster_status {
    return answer(call, std::string(300'000, 'x'));
  });
  const auto described = describe_confined(plugin);
  ASSERT_TRUE(described) << described.error().message;
  EXPECT_EQ(described->size(), 300'000u);
}

TEST(DescribeConfined, names_the_system_call_of_one_that_is_not) {
  const auto reader = plugin_with([](void*, const muster_call* call) -> muster_status {
    std::string line;
    std::getline(std::ifstream("/etc/hostname"), line);
    return answer(call, line);
  });
  EXPECT_EQ(describe_confined(reader).error().message,
            "describe made the system call openat (a file)");
}

TEST(DescribeConfined, survives_a_crash_and_passes_failures_on) {
  const auto crashing = plugin_with([](void*, const muster_call*) -> muster_status {
    ::raise(SIGKILL);
    return MUSTER_OK;
  });
  EXPECT_EQ(describe_confined(crashing).error().message, "describe was killed by Killed");
  const auto failing = plugin_with([](void*, const muster_call* call) -> muster_status {
    answer(call, "not today");
    return MUSTER_TRANSIENT;
  });
  EXPECT_EQ(describe_confined(failing).error(), Error::transient("not today"));
}

TEST(OpenPlugin, says_why_a_library_cannot_be_opened) {
  EXPECT_EQ(open_plugin("/nowhere/x.so").error().error_class, ErrorClass::invalid);
  EXPECT_NE(open_plugin("libm.so.6").error().message.find("exports no muster_plugin_v1"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::testing

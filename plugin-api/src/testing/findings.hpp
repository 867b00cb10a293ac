// What the contract suites share: how a promise is looked at and how a finding is worded.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/codec.hpp>
#include <muster/testing/contract.hpp>
#include <muster/testing/fake_host.hpp>

namespace muster::testing {

struct Finding {
  Outcome outcome;
  std::string detail = {};
};

inline Finding kept() {
  return {Outcome::kept};
}
inline Finding broken(std::string detail) {
  return {Outcome::broken, std::move(detail)};
}
inline Finding unchecked(std::string why) {
  return {Outcome::unchecked, std::move(why)};
}

class Findings {
 public:
  // Whatever `look` throws is a broken promise, too.
  void promise(std::string about, std::string sentence, const std::function<Finding()>& look);

  std::vector<Check> take() { return std::move(checks_); }

 private:
  std::vector<Check> checks_;
};

// "invalid: capacity: is missing"
std::string words(const Error& error);

// The beginning of a text that may be long or unprintable.
std::string excerpt(std::string_view text);

// What a failed call of the plugin looks like in a finding: "list failed as transient: ...".
template <class T>
std::string failure_of(std::string_view method, const Result<T>& result) {
  return std::string(method) + " failed as " + words(result.error());
}

// How a call ended that should not have succeeded, or not like this.
template <class T>
std::string how_it_ended(const Result<T>& result) {
  return result ? "it succeeded" : "it failed as " + words(result.error());
}

// A good request of each method, so that the common checks can make bad ones of it.
struct SampleRequest {
  std::string method;
  json::object request;
  std::vector<std::string> required;  // names of members that must be there
};

template <class T>
SampleRequest sample(std::string method, const T& request) {
  SampleRequest made{std::move(method), codec::to_value(request).as_object(), {}};
  const auto note = [&](const auto& field) {
    if (field.is_required) made.required.emplace_back(field.name);
  };
  T::fields([&](const auto&... field) { (note(field), ...); });
  return made;
}

// describe and what it says; nothing if there is no description that the rest could use.
std::optional<json::object> check_description(Findings& findings, const ContractSubject& subject);

// The schema under `schema_key` is one, and accepts the example under `example_key`.
void check_schema(Findings& findings, const json::object& description, const char* schema_key,
                  const char* example_key);

// create: refuses what is wrong, makes an instance of the example.
void check_creation(Findings& findings, const ContractSubject& subject,
                    const json::object& description);

// Requests that are malformed, come from a newer host, or are cancelled.
void check_requests(Findings& findings, const ContractSubject& subject, Channel& channel,
                    const std::vector<SampleRequest>& samples);

// Copies of `example` that its schema refuses, each with one member of the wrong kind; with the
// member's name.
std::vector<std::pair<std::string, json::object>> wrong_copies(const json::object& example,
                                                               const json::value& schema);

}  // namespace muster::testing

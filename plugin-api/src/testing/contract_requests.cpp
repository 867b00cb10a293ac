// What a plugin makes of requests that are wrong, newer than itself, or no longer wanted.
#include <algorithm>
#include <array>
#include <chrono>

#include "findings.hpp"

namespace muster::testing {
namespace {

using std::chrono::steady_clock;

bool refused(const Result<std::string>& answer) {
  return !answer && answer.error().error_class == ErrorClass::invalid &&
         !answer.error().message.empty();
}

std::vector<std::string> malformed_texts() {
  std::string deep = "{\"x\":";
  deep.append(100'000, '[');
  std::string closed = deep;
  closed.append(100'000, ']');
  closed += '}';
  return {"",
          "{",
          "nonsense",
          "[]",
          "null",
          "7",
          "\"text\"",
          "{} and more",
          "{'a':1}",
          "{\"a\":\"\xff\xfe\"}",
          "{\"a\":\"\xc0\xaf\"}",
          std::string("{}\0", 3),
          deep,
          closed};
}

// Members whose content is nobody's but the plugin's.
bool free_form(std::string_view name) {
  static constexpr std::array<std::string_view, 7> names{
      "document", "proof", "registration", "providerData", "bidData", "data", "strategy"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Every value that has the wrong type for the place where `good` stands.
std::vector<json::value> wrong_for(const json::value& good) {
  if (good.is_object()) return {json::value(true), json::array()};
  if (good.is_array()) return {json::value(true), json::object()};
  if (good.is_string()) return {json::value(7), json::object()};
  if (good.is_double()) return {json::value("7"), json::array()};
  return {json::value("7"), json::array(), json::value(1e300), json::value(0.5)};  // whole numbers
}

// Calls `visit(path)` while `place` holds a wrong value, for every value of the request. Stops when
// it returns false.
bool with_each_wrong_value(json::value& place, const std::string& path,
                           const std::function<bool(const std::string&)>& visit) {
  const json::value good = place;
  for (const json::value& wrong : wrong_for(good)) {
    place = wrong;
    const bool go_on = visit(path);
    place = good;
    if (!go_on) return false;
  }
  if (place.is_object())
    for (auto& member : place.get_object()) {
      const std::string name(member.key());
      if (name == "bidData" || name == "data") continue;  // any type is right
      if (free_form(name)) {
        json::value& content = member.value();
        const json::value kept_aside = content;
        content = true;
        const bool go_on = visit(path + "." + name);
        content = kept_aside;
        if (!go_on) return false;
      } else if (!with_each_wrong_value(member.value(), path + "." + name, visit)) {
        return false;
      }
    }
  if (place.is_array())
    for (json::value& item : place.get_array())
      if (!with_each_wrong_value(item, path + "[]", visit)) return false;
  return true;
}

class Requests {
 public:
  Requests(const ContractSubject& subject, Channel& channel)
      : channel_(channel), patience_(subject.patience) {
    context_.set_time_left(subject.deadline);
  }

  Finding malformed(const SampleRequest& sample) {
    for (const std::string& text : malformed_texts())
      if (const auto answer = channel_.call(sample.method, text, context_); !refused(answer))
        return broken("sent '" + excerpt(text) + "', " + how_it_ended(answer));
    return kept();
  }

  Finding wrong_types(const SampleRequest& sample) {
    Finding finding = kept();
    json::value request = sample.request;
    with_each_wrong_value(request, "", [&](const std::string& path) {
      const auto answer = channel_.call(sample.method, json::write(request), context_);
      if (refused(answer)) return true;
      finding = broken("with a wrong value at " + (path.empty() ? "the top" : path.substr(1)) +
                       ", " + how_it_ended(answer));
      return false;
    });
    return finding;
  }

  Finding missing(const SampleRequest& sample) {
    for (const std::string& name : sample.required) {
      json::object request = sample.request;
      request.erase(name);
      const auto answer = channel_.call(sample.method, json::write(request), context_);
      if (!refused(answer)) return broken("without " + name + ", " + how_it_ended(answer));
      if (answer.error().message.find(name) == std::string::npos)
        return broken("without " + name +
                      ", the message does not name it: " + answer.error().message);
    }
    return kept();
  }

  Finding unknown_methods() {
    for (const std::string& method :
         {std::string("no_such_method"), std::string(), std::string("create"),
          std::string(100'000, 'x'), std::string("\xff\xfe"), std::string("list\0", 5)}) {
      const auto answer = channel_.call(method, "{}", context_);
      if (answer || (answer.error().error_class != ErrorClass::unsupported &&
                     answer.error().error_class != ErrorClass::invalid))
        return broken("asked for \"" + excerpt(method) + "\", " + how_it_ended(answer));
    }
    return kept();
  }

  Finding newer_fields(const SampleRequest& sample) {
    json::object request = sample.request;
    request["fieldOfANewerHost"] = json::array{1, json::object{{"a", nullptr}}};
    const auto plain = channel_.call(sample.method, json::write(sample.request), context_);
    const auto newer = channel_.call(sample.method, json::write(request), context_);
    if (plain.has_value() == newer.has_value() &&
        (plain || plain.error().error_class == newer.error().error_class))
      return kept();
    return broken("with such a member, " + how_it_ended(newer) + "; without, " +
                  how_it_ended(plain));
  }

  // A plugin may have finished before it looked; what it may not do is stay.
  Finding cancelled(const SampleRequest& sample) {
    FakeContext cancelled;
    cancelled.cancel();
    const auto begin = steady_clock::now();
    const auto answer = channel_.call(sample.method, json::write(sample.request), cancelled);
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - begin);
    if (took > patience_)
      return broken("it took " + std::to_string(took.count()) + " ms to return");
    if (!answer && answer.error().message.empty())
      return broken("it failed as " + words(answer.error()));
    return kept();
  }

  Finding still_works(const SampleRequest& sample) {
    const auto answer = channel_.call(sample.method, json::write(sample.request), context_);
    if (!answer) return broken("after all that, " + failure_of(sample.method, answer));
    return kept();
  }

 private:
  Channel& channel_;
  const std::chrono::milliseconds patience_;
  FakeContext context_;
};

// One promise about all methods; the first that breaks it is named.
Finding each(const std::vector<SampleRequest>& samples,
             const std::function<Finding(const SampleRequest&)>& look) {
  for (const SampleRequest& sample : samples) {
    Finding finding = look(sample);
    if (finding.outcome == Outcome::kept) continue;
    finding.detail = sample.method + ": " + finding.detail;
    return finding;
  }
  return kept();
}

}  // namespace

void check_requests(Findings& findings, const ContractSubject& subject, Channel& channel,
                    const std::vector<SampleRequest>& samples) {
  Requests requests(subject, channel);
  const auto promise = [&](const char* sentence, Finding (Requests::*look)(const SampleRequest&)) {
    findings.promise("requests", sentence, [&] {
      return each(samples, [&](const SampleRequest& sample) { return (requests.*look)(sample); });
    });
  };
  promise("what is no JSON object in UTF-8 is refused as invalid", &Requests::malformed);
  promise("values of the wrong type are refused as invalid", &Requests::wrong_types);
  promise("a missing member is refused as invalid and named", &Requests::missing);
  findings.promise("requests", "methods that do not exist are refused as unsupported",
                   [&] { return requests.unknown_methods(); });
  promise("members that the plugin does not know are ignored", &Requests::newer_fields);
  promise("a cancelled call returns at once", &Requests::cancelled);
  findings.promise("requests", "the instance works on after all of them",
                   [&] { return requests.still_works(samples.front()); });
}

}  // namespace muster::testing

// What a plugin says about itself, and what it makes of a configuration.
#include <chrono>

#include "findings.hpp"

namespace muster::testing {
namespace {

Finding described_alike(const ContractSubject& subject, const std::string& first) {
  const auto second = subject.describe();
  if (!second) return broken("the second describe failed as " + words(second.error()));
  if (*second != first) return broken("first " + excerpt(first) + ", then " + excerpt(*second));
  return kept();
}

Finding described_without_io(const ContractSubject& subject, const std::string& first) {
  if (!subject.describe_confined)
    return unchecked("this transport cannot confine the plugin; the direct one can");
  const auto confined = subject.describe_confined();
  if (!confined && confined.error().error_class == ErrorClass::unsupported)
    return unchecked(confined.error().message);
  if (!confined) return broken(confined.error().message);
  if (*confined != first) return broken("without I/O it answers " + excerpt(*confined));
  return kept();
}

Finding says_who_it_is(const json::object& description) {
  for (const char* key : {"name", "version", "description"}) {
    const json::value* said = description.if_contains(key);
    if (!said || !said->is_string() || said->get_string().empty())
      return broken("\"" + std::string(key) +
                    "\" is missing or empty: `muster plugin list` shows it");
  }
  return kept();
}

Finding refuses_wrong_members(const ContractSubject& subject, const json::object& example,
                              const json::value& schema) {
  const FakeContext context;
  for (const auto& [member, config] : wrong_copies(example, schema)) {
    const auto made = subject.create(json::write(config), context);
    if (made || made.error().error_class != ErrorClass::invalid)
      return broken("with " + member + " = " + json::write(config.at(member)) +
                    ", which its schema refuses, " + how_it_ended(made));
  }
  return kept();
}

}  // namespace

std::optional<json::object> check_description(Findings& findings, const ContractSubject& subject) {
  std::string text;
  std::optional<json::object> description;
  findings.promise("describe", "answers with a JSON object, without an instance", [&]() -> Finding {
    const auto answer = subject.describe();
    if (!answer) return broken(failure_of("describe", answer));
    auto parsed = json::parse_object(*answer);
    if (!parsed) return broken(words(parsed.error()) + " in " + excerpt(*answer));
    text = *answer;
    description = std::move(*parsed);
    return kept();
  });
  if (!description) return description;
  findings.promise("describe", "answers the same each time",
                   [&] { return described_alike(subject, text); });
  findings.promise("describe", "does no I/O", [&] { return described_without_io(subject, text); });
  findings.promise("describe", "says name, version and what the plugin is for",
                   [&] { return says_who_it_is(*description); });
  return description;
}

void check_creation(Findings& findings, const ContractSubject& subject,
                    const json::object& description) {
  const auto given = [&](const char* key) {
    const json::value* found = description.if_contains(key);
    return found && found->is_object() ? found->get_object() : json::object();
  };
  const FakeContext context;
  findings.promise("create", "refuses what is no JSON object as invalid", [&]() -> Finding {
    for (const std::string_view config : {"", "{", "nonsense", "[]", "7", "{\"a\":\"\xff\"}"}) {
      const auto made = subject.create(config, context);
      if (made || made.error().error_class != ErrorClass::invalid)
        return broken("given '" + excerpt(config) + "', " + how_it_ended(made));
    }
    return kept();
  });
  findings.promise("create", "refuses members of the wrong type as invalid", [&] {
    return refuses_wrong_members(subject, given("exampleConfig"), given("configSchema"));
  });
  findings.promise(
      "create", "takes the example configuration, more than once at a time", [&]() -> Finding {
        const std::string config = json::write(given("exampleConfig"));
        const auto first = subject.create(config, context);
        if (!first) return broken(failure_of("create", first));
        const auto second = subject.create(config, context);
        if (!second)
          return broken("a second instance beside the first: " + failure_of("create", second));
        return kept();
      });
}

}  // namespace muster::testing

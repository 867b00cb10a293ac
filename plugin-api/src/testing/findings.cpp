#include "findings.hpp"

#include <algorithm>
#include <exception>

namespace muster::testing {

void Findings::promise(std::string about, std::string sentence,
                       const std::function<Finding()>& look) {
  Finding finding{Outcome::broken};
  try {
    finding = look();
  } catch (const std::exception& error) {
    finding.detail = std::string("the check threw: ") + error.what();
  }
  checks_.push_back(
      {std::move(about), std::move(sentence), finding.outcome, std::move(finding.detail)});
}

std::string words(const Error& error) {
  return std::string(to_string(error.error_class)) + ": " +
         (error.message.empty() ? "(no message)" : error.message);
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t limit = 160;
  std::string shown;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    shown += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  if (text.size() > limit) shown += "... (" + std::to_string(text.size()) + " bytes)";
  return shown;
}

std::vector<Check> check_plugin(std::string_view kind, const ContractSubject& subject) {
  if (kind == "provider") return check_provider(subject);
  if (kind == "strategy") return check_strategy(subject);
  return {{"plugin", "its kind is provider or strategy", Outcome::broken,
           "its kind is \"" + std::string(kind) + "\""}};
}

ContractSubject direct_subject(const muster_plugin& plugin) {
  return {[&plugin] { return describe(plugin); },
          [&plugin](std::string_view config, const Context& context) {
            return DirectChannel::create(plugin, config, context);
          },
          [&plugin] { return describe_confined(plugin); }};
}

bool all_kept(const std::vector<Check>& checks) {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& check) { return check.outcome == Outcome::broken; });
}

std::string report(const std::vector<Check>& checks) {
  const auto count = [&](Outcome outcome) {
    return std::count_if(checks.begin(), checks.end(),
                         [&](const Check& check) { return check.outcome == outcome; });
  };
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.about.size());
  std::string text;
  for (const Check& check : checks) {
    text += check.outcome == Outcome::kept     ? "  ok      "
            : check.outcome == Outcome::broken ? "  BROKEN  "
                                               : "  --      ";
    text += check.about + std::string(width - check.about.size() + 2, ' ') + check.promise + "\n";
    if (!check.detail.empty()) text += std::string(width + 12, ' ') + check.detail + "\n";
  }
  text += std::to_string(count(Outcome::kept)) + " promises kept, " +
          std::to_string(count(Outcome::broken)) + " broken";
  if (const auto open = count(Outcome::unchecked); open > 0)
    text += ", " + std::to_string(open) + " could not be checked";
  return text + "\n";
}

}  // namespace muster::testing

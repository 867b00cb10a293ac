#include "host/pools/finding.hpp"

#include <muster/rules/problem.hpp>

namespace muster::pools {

std::string to_string(const Finding& finding) {
  std::string text = rules::format_path(finding.path);
  text += (text.empty() ? "" : ": ") + finding.reason;
  return finding.remedy.empty() ? text : text + "; " + finding.remedy;
}

Finding unknown_key(rules::Path table, const std::string& key,
                    const std::vector<std::string>& known, std::string code) {
  const std::string nearest = rules::nearest_name(key, known);
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  table.push_back(key);
  return {std::move(table), "is not known",
          nearest.empty() ? "known are " + all : "did you mean " + nearest + "?", std::move(code)};
}

}  // namespace muster::pools

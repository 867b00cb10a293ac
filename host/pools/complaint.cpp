#include "host/pools/complaint.hpp"

#include <muster/rules/problem.hpp>

namespace muster::pools {

std::string to_string(const Complaint& complaint) {
  std::string text = rules::format_path(complaint.path);
  text += (text.empty() ? "" : ": ") + complaint.reason;
  return complaint.remedy.empty() ? text : text + "; " + complaint.remedy;
}

Complaint unknown_key(rules::Path table, const std::string& key,
                      const std::vector<std::string>& known, std::string code) {
  const std::string nearest = rules::nearest_name(key, known);
  std::string all;
  for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
  table.push_back(key);
  return {std::move(table), "is not known",
          nearest.empty() ? "known are " + all : "did you mean " + nearest + "?", std::move(code)};
}

}  // namespace muster::pools

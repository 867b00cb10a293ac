// What is wrong with a part of a document, before it is known where that part was written: a worker
// configuration finds the line by asking which rule set the path, the API shows the path itself.
#pragma once

#include <string>
#include <vector>

#include <muster/rules/path.hpp>
#include <muster/rules/problem.hpp>

namespace muster::pools {

struct Finding {
  rules::Path path;  // from the document's root; an index into an array is part of `reason`
  std::string reason;
  std::string remedy = {};  // what to write; may be empty
  std::string code = "badPoolSetting";
  rules::Severity severity = rules::Severity::error;
};
using Findings = std::vector<Finding>;

// "lifecycle.idleTimeout: must be ...; write ..."
std::string to_string(const Finding& finding);

// An unknown key of a table, with the nearest known one.
Finding unknown_key(rules::Path table, const std::string& key,
                    const std::vector<std::string>& known, std::string code);

}  // namespace muster::pools

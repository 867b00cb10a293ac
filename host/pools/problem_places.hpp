// Where in the files a finding about an evaluated document belongs.
#pragma once

#include <map>
#include <tuple>

#include <muster/rules/document.hpp>
#include <muster/rules/facts.hpp>

#include "host/pools/finding.hpp"

namespace muster::pools {

// Collects findings about many evaluated documents. The same words about the same line are one
// problem, whatever number of worker types and placements it is met for.
class ProblemPlaces {
 public:
  // The line is that of the rule which set the path for these facts; if none did, that of the
  // worker type.
  void add(const rules::Document& document, const rules::Facts& facts, const Finding& finding);

  bool empty() const { return found_.empty(); }
  rules::Problems take();

 private:
  using Key = std::tuple<rules::SourcePosition, std::string, std::string>;  // place, key, reason
  struct Found {
    rules::Problem problem;
    std::string first;  // the facts it was first met for
    std::size_t count = 0;
  };

  std::map<Key, Found> found_;
};

}  // namespace muster::pools

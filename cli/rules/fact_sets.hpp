// All the facts that a worker configuration is evaluated for, and how to speak of many at once.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <muster/rules/configuration_set.hpp>
#include <muster/rules/evaluate.hpp>

namespace muster::cli {

struct FactSets {
  std::vector<rules::Facts> facts;
  // True: each is a launch configuration. False: nothing is known of providers, so these are the
  // cases that the rules' own conditions tell apart.
  bool known = false;

  std::string noun() const { return known ? "launch configuration" : "case"; }
};

// Of the document at hand; `also` given: its conditions tell apart too.
FactSets fact_sets_of(const rules::ConfigurationSet& set, const rules::Document& document,
                      const rules::Document* also = nullptr);

// Only those that agree with the given facts.
void keep_matching(FactSets& cases, const rules::Facts& facts);

// Evaluates with reasons; the same rules give the same outcome, so that is done once. Keeps a
// reference to the document.
class Evaluations {
 public:
  explicit Evaluations(const rules::Document& document) : document_(document) {}
  const rules::Evaluation& operator()(const rules::Facts& facts);

 private:
  const rules::Document& document_;
  std::map<std::vector<std::size_t>, std::unique_ptr<rules::Evaluation>> by_rules_;
};

// A set of facts said shortly: each named fact has one of the values; others may be anything.
struct Box {
  std::vector<std::pair<std::string, std::vector<std::string>>> facts;
  std::size_t count = 0;  // how many of the group it holds
  friend bool operator==(const Box&, const Box&) = default;
};

// Boxes that together hold exactly the group (indexes into `all`), in terms of what tells it apart
// from the others.
std::vector<Box> describe(const std::vector<std::size_t>& group,
                          const std::vector<rules::Facts>& all);

// `provider=ec2 region=us-east-1,us-west-2`; "everywhere" for a box without facts.
std::string to_string(const Box& box);
std::string to_string(const rules::Facts& facts);

}  // namespace muster::cli

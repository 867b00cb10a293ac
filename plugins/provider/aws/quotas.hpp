// Which of the account's quotas a machine counts against, and where to raise it.
#pragma once

#include <string>
#include <vector>

#include <muster/error.hpp>

#include "plugins/provider/aws/section.hpp"

namespace muster::aws {

struct Quota {
  std::string name;  // "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"
  std::string code;  // "L-1216C47A"; empty: the family is not known
};

// Quotas are by family and market; they count virtual processors.
class Quotas {
 public:
  Quotas();
  Quota of(const std::string& instance_type, bool is_spot) const;

  // A quota error says which quota, how much and where to raise it; other errors stay as they are.
  Error explain(Error error, const Machine& machine) const;

 private:
  struct Row {
    std::vector<std::string> families;
    std::string name, on_demand, spot;
  };
  std::vector<Row> rows_;
};

// Whether the error is about a quota that the types of a family share.
bool is_of_family(const Error& error);

// Where a person raises it.
std::string quota_page(const std::string& region, const std::string& code);

}  // namespace muster::aws

#include <muster/rules/problem_json.hpp>

namespace muster::rules {

json::object to_json(const Problem& problem) {
  return {{"severity", to_string(problem.severity)},
          {"file", problem.position.file},
          {"line", problem.position.line},
          {"column", problem.position.column},
          {"key", problem.key},
          {"reason", problem.reason},
          {"remedy", problem.remedy},
          {"code", problem.code}};
}

}  // namespace muster::rules

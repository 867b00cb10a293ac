// Evaluation for hosts: many facts, the same rules again and again, and now and then an edit.
//
// Three things are remembered. For each document, which clauses allow each value of a fact that was
// seen. For each document, the result for each set of matching rules: facts that match the same
// rules share one result. Over all documents and over edits, the result for each sequence of
// effects (what rules set and unset, without their conditions and names): after an edit, everything
// that the edited rule had no part in is found again, as the very same object.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <muster/json.hpp>
#include <muster/rules/document.hpp>
#include <muster/rules/facts.hpp>

namespace muster::rules {

struct Effect;

// Immutable. After an edit, a caller compares pointers: the same pointer is the same result.
struct Evaluated {
  json::object document;
  std::vector<std::shared_ptr<const Effect>> effects;  // what it was made from
};

struct EvaluatorStatistics {
  std::uint64_t found = 0;      // answers that needed no evaluation
  std::uint64_t evaluated = 0;  // answers that did
  std::size_t results = 0;      // results alive now, those of the last edit included
};

// Owned by one thread at a time; the results may be read and kept by any.
class Evaluator {
 public:
  Evaluator();
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;

  // Adds the document, or replaces the one of the same id. Results of the replaced one stay known
  // until it is replaced again. Idempotent.
  void update(std::shared_ptr<const Document> document);
  void remove(std::string_view id);

  // The document for these facts; null if there is no document of that id.
  std::shared_ptr<const Evaluated> evaluate(std::string_view id, const Facts& facts);

  EvaluatorStatistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muster::rules

// What every rule did to every path, kept while rules apply, and reported at the end.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <muster/rules/evaluate.hpp>

namespace muster::rules {

class History {
 public:
  History() { root_.state = Slot::State::table; }

  void apply(const Rule& rule, std::size_t index);

  // Fills document, leaves and deleted.
  void report(Evaluation& evaluation) const;

 private:
  // One act on one slot. `ended_by` is the rule that replaced it, once one has.
  struct Act {
    std::size_t order;  // counts all acts of an evaluation
    std::size_t rule;
    Position position;
    const Node* value;  // nullptr: deleted. Else a value of the rule, which outlives the history
    std::size_t ended_by = none;
  };
  static constexpr std::size_t none = ~std::size_t{0};

  // What is known of one path. Slots are never removed, so that histories outlive values.
  struct Slot {
    enum class State { absent, leaf, table };
    std::string name;
    State state = State::absent;
    std::vector<Act> acts;  // while it was a leaf, or deleted as one
    std::vector<Slot> children;
    std::vector<std::size_t> order;  // present children, in the order of the document

    Slot* find(std::string_view child);
    Slot& child(const std::string& child);
  };

  struct Place {  // of an act
    std::size_t rule;
    Position position;
  };

  void assign(Slot& slot, const Node& node, std::size_t rule);
  void assign_member(Slot& slot, const Member& member, std::size_t rule);
  void remove_child(Slot& slot, std::string_view name, const Place& by);
  void remove(Slot& slot, const Place& by);
  void log(Slot& slot, const Place& by, const Node* value);
  void log_empty(Slot& slot, const Place& by);
  static void end_last(Slot& slot, std::size_t rule);

  struct Teller;
  std::size_t acts_ = 0;
  Slot root_;
};

}  // namespace muster::rules

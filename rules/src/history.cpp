#include "history.hpp"

#include <algorithm>

namespace muster::rules {

History::Slot* History::Slot::find(std::string_view child) {
  const auto found = std::find_if(children.begin(), children.end(),
                                  [&](const Slot& slot) { return slot.name == child; });
  return found == children.end() ? nullptr : &*found;
}

History::Slot& History::Slot::child(const std::string& child) {
  if (Slot* found = find(child)) return *found;
  children.emplace_back().name = child;
  return children.back();
}

void History::end_last(Slot& slot, std::size_t rule) {
  if (slot.acts.empty() || slot.acts.back().ended_by != none) return;
  // That a table was empty for a moment, within one rule, does not matter.
  const Act& last = slot.acts.back();
  if (last.rule == rule && last.value && last.value->is_table())
    slot.acts.pop_back();
  else
    slot.acts.back().ended_by = rule;
}

void History::log(Slot& slot, const Place& by, const Node* value) {
  end_last(slot, by.rule);
  const bool nothing_to_delete = slot.acts.empty() || !slot.acts.back().value;
  if (!value && nothing_to_delete) return;
  slot.acts.push_back({acts_++, by.rule, by.position, value});
}

void History::log_empty(Slot& slot, const Place& by) {
  static const Node empty_table{{}, {}, Node::Table{}};
  if (&slot != &root_) log(slot, by, &empty_table);
}

void History::apply(const Rule& rule, std::size_t index) {
  for (const Unset& unset : rule.unset) {
    Slot* slot = &root_;
    for (std::size_t i = 0; slot && i + 1 < unset.path.size(); ++i) {
      slot = slot->find(unset.path[i]);
      if (slot && slot->state != Slot::State::table) slot = nullptr;
    }
    if (slot) remove_child(*slot, unset.path.back(), {index, unset.position});
  }
  for (const Member& member : *rule.values.table()) assign_member(root_, member, index);
}

void History::assign_member(Slot& slot, const Member& member, std::size_t rule) {
  if (member.node.is_null()) return remove_child(slot, member.name, {rule, member.node.key});
  Slot& child = slot.child(member.name);
  if (child.state == Slot::State::absent) {
    if (slot.order.empty()) end_last(slot, rule);
    slot.order.push_back(static_cast<std::size_t>(&child - slot.children.data()));
  }
  assign(child, member.node, rule);
}

void History::assign(Slot& slot, const Node& node, std::size_t rule) {
  const Place place{rule, node.key};
  if (!node.is_table()) {
    log(slot, place, &node);
    slot.state = Slot::State::leaf;
    for (Slot& child : slot.children) remove(child, place);
    slot.order.clear();
    return;
  }
  const bool made = slot.state != Slot::State::table;
  if (made) end_last(slot, rule);
  slot.state = Slot::State::table;
  for (const Member& member : *node.table()) assign_member(slot, member, rule);
  if (made && slot.order.empty()) log_empty(slot, place);
}

void History::remove_child(Slot& slot, std::string_view name, const Place& by) {
  Slot* child = slot.find(name);
  if (!child || child->state == Slot::State::absent) return;
  remove(*child, by);
  std::erase(slot.order, static_cast<std::size_t>(child - slot.children.data()));
  if (slot.order.empty()) log_empty(slot, by);
}

void History::remove(Slot& slot, const Place& by) {
  if (slot.state == Slot::State::absent) return;
  if (slot.state == Slot::State::leaf || slot.order.empty()) log(slot, by, nullptr);
  slot.state = Slot::State::absent;
  for (Slot& child : slot.children) remove(child, by);
  slot.order.clear();
}

// Walks the slots once all rules have applied.
struct History::Teller {
  Evaluation& evaluation;
  Path path;
  std::vector<const Slot*> above;

  struct Told {
    std::size_t order;
    Change change;
  };

  static Change change_of(const Act& act, const Path& where) {
    return {act.rule, act.position, where,
            act.value ? std::optional(to_json(*act.value)) : std::nullopt};
  }

  // What stood below a leaf while it was a table.
  static void tell_below(const Slot& slot, Path& where, std::vector<Told>& told) {
    for (const Slot& child : slot.children) {
      where.push_back(child.name);
      for (const Act& act : child.acts) told.push_back({act.order, change_of(act, where)});
      tell_below(child, where, told);
      where.pop_back();
    }
  }

  // A value further up counts as replaced by this slot if the rule that turned it into a table is
  // one of those that wrote this slot.
  void tell_above(const Slot& slot, std::vector<Told>& told) const {
    Path where;
    for (std::size_t i = 0; i < above.size(); ++i) {
      if (i > 0) where.push_back(above[i]->name);
      const auto& acts = above[i]->acts;
      const auto last = std::find_if(acts.rbegin(), acts.rend(), [&](const Act& act) {
        return std::any_of(slot.acts.begin(), slot.acts.end(),
                           [&](const Act& own) { return own.rule == act.ended_by; });
      });
      for (auto act = acts.begin(); act != last.base(); ++act)
        told.push_back({act->order, change_of(*act, where)});
    }
  }

  // A scalar that takes a table's place deletes what was below. The scalar itself says enough.
  static bool is_side_effect(const Change& deletion, const std::vector<Told>& told,
                             const Slot& slot) {
    const auto same = [&](std::size_t rule, Position position) {
      return rule == deletion.rule && position == deletion.position;
    };
    const Act& last = slot.acts.back();
    return (last.value && same(last.rule, last.position)) ||
           std::any_of(told.begin(), told.end(), [&](const Told& other) {
             return other.change.value && same(other.change.rule, other.change.position);
           });
  }

  std::vector<Change> earlier(const Slot& slot, std::size_t own_acts) {
    std::vector<Told> told;
    tell_above(slot, told);
    for (std::size_t i = 0; i < own_acts; ++i)
      told.push_back({slot.acts[i].order, change_of(slot.acts[i], path)});
    if (slot.state == Slot::State::leaf) tell_below(slot, path, told);
    std::sort(told.begin(), told.end(),
              [](const Told& a, const Told& b) { return a.order < b.order; });
    std::vector<Change> changes;
    for (const Told& each : told)
      if (each.change.value || !is_side_effect(each.change, told, slot))
        changes.push_back(each.change);
    return changes;
  }

  void tell_leaf(const Slot& slot, json::object& into) {
    const Act& act = slot.acts.back();
    json::value value = to_json(*act.value);
    evaluation.leaves.push_back(
        {path, value, act.rule, act.position, earlier(slot, slot.acts.size() - 1)});
    into.emplace(slot.name, std::move(value));
    if (slot.state != Slot::State::table) return;
    above.push_back(&slot);
    for (const Slot& child : slot.children) tell_deleted(child);
    above.pop_back();
  }

  void tell_deleted(const Slot& slot) {
    path.push_back(slot.name);
    if (!slot.acts.empty() && !slot.acts.back().value && slot.acts.back().ended_by == none)
      evaluation.deleted.push_back({path, slot.acts.back().rule, slot.acts.back().position,
                                    earlier(slot, slot.acts.size() - 1)});
    above.push_back(&slot);
    for (const Slot& child : slot.children) tell_deleted(child);
    above.pop_back();
    path.pop_back();
  }

  void tell_table(const Slot& slot, json::object& into) {
    above.push_back(&slot);
    for (const std::size_t i : slot.order) {
      const Slot& child = slot.children[i];
      path.push_back(child.name);
      if (child.state == Slot::State::table && !child.order.empty())
        tell_table(child, into.emplace(child.name, json::object{}).first->value().get_object());
      else
        tell_leaf(child, into);
      path.pop_back();
    }
    for (const Slot& child : slot.children)
      if (child.state == Slot::State::absent) tell_deleted(child);
    above.pop_back();
  }
};

void History::report(Evaluation& evaluation) const {
  Teller teller{evaluation, {}, {}};
  teller.tell_table(root_, evaluation.document);
}

}  // namespace muster::rules

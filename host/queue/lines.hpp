// The lines in which requests wait, and the groups of workers that they wait for. Plain values;
// Queue alone changes them. Apart from model.hpp because its includes are heavy.
#pragma once

#include <compare>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>

#include "host/queue/model.hpp"

namespace muster::queue {

// Where a line stands among those that could use the same workers: by what its team used in
// proportion to its weight; within a team by priority and age.
struct Turn {
  double share = 0;
  std::int64_t minus_priority = 0;
  std::int64_t number = 0;
  Index line = no_index;
  friend auto operator<=>(const Turn&, const Turn&) = default;
};
// In their order; each knows how many are before it.
template <class T>
using Ranked = boost::multi_index_container<
    T, boost::multi_index::indexed_by<
           boost::multi_index::ranked_unique<boost::multi_index::identity<T>>>>;
using Turns = Ranked<Turn>;
// The same by the time since when it waits for a grant.
struct Age {
  Time since{};
  std::int64_t number = 0;
  Index line = no_index;
  friend auto operator<=>(const Age&, const Age&) = default;
};

// The requests of one team for the same workers, in their order.
struct Line {
  Index team = no_index;  // no_index: the slot is free
  Index pool = no_index;
  std::vector<std::string> tags;
  struct Place {
    std::int64_t minus_priority = 0, number = 0;
    Index request = no_index;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Places = Ranked<Place>;
  // Those for which a worker within reach is large enough, in the order of their turns, and those
  // that wait until there is one: they delay no other request.
  Places waiting, too_large;
  std::int64_t requests = 0;                 // that belong here, waiting or not
  std::map<Resources, std::int64_t> wanted;  // "active-task" that waits, by what a request needs
  Time since{};                              // when it began to wait, or was granted something last
  struct Reach {
    Index group = no_index;
    bool fallback = false;
  };
  std::vector<Reach> reach;
  bool indexed = false;   // it waits in the orders of its groups
  bool to_place = false;  // its head is to be tried
  Turn turn;
  Age age;
  Index reserved = no_index;  // a worker kept for it until its head fits there
};

// What there is of workers that take work: pool and size.
struct Shape {
  Index pool = no_index;
  Resources has;
  friend auto operator<=>(const Shape&, const Shape&) = default;
};

// Workers that the same lines can use: shared, of one pool or of one team, with the same tags.
struct Group {
  ScopeKind scope = ScopeKind::shared;
  Index owner = no_index;
  std::vector<std::string> tags;
  std::map<std::int64_t, std::vector<Index>> open;  // with room, by what they have in use
  std::set<Index> workers;                          // all of them
  std::map<Shape, std::int64_t> shapes;             // of those that take work: how many have it
  std::vector<Shape> sorted_by;  // the shapes by which its lines were last sorted out
  Turns by_share;
  std::set<Age> by_age;
};

}  // namespace muster::queue

#include "cli/import/places.hpp"

#include <algorithm>
#include <set>

#include "cli/import/documents.hpp"

namespace muster::importing {
namespace {

// A type of machine at a place, in the markets where it is bought.
struct Type {
  const LaunchChoice* first = nullptr;
  std::vector<const LaunchChoice*> bought = {};  // one for each market

  bool has_market(const std::string& market) const {
    return std::ranges::any_of(bought, [&](const auto* each) { return each->market == market; });
  }
};

struct Gathered {
  std::string region, zone;
  std::vector<const LaunchChoice*> choices = {};
};

std::string place_name(const Gathered& place) {
  return place.zone.empty() ? place.region : place.zone;
}

// Where the two say different things that one launch document cannot; empty if nowhere.
std::string conflict(const LaunchChoice& leader, const LaunchChoice& other) {
  if (const std::string at = first_difference(leader.section, other.section); !at.empty())
    return at;
  if (const std::string at = first_difference(leader.worker_config, other.worker_config);
      !at.empty())
    return "workerConfig." + at;
  return "";
}

std::string conflict_of_type(const LaunchChoice& leader, const LaunchChoice& other) {
  if (const std::string at = first_difference(leader.launch, other.launch); !at.empty()) return at;
  if (leader.capacity != other.capacity) return "capacityPerInstance";
  return leader.market == other.market && leader.max_price != other.max_price ? "maxPrice" : "";
}

class PlaceDocument {
 public:
  PlaceDocument(const Cloud& cloud, const Gathered& place, PoolReport& report)
      : cloud_(cloud), place_(place), report_(report), leader_(*place.choices.front()) {}

  json::object make() {
    for (const LaunchChoice* choice : place_.choices) add(*choice);
    keep_equal_markets();
    json::object section;
    std::vector<const json::object*> launches;
    for (const Type& type : types_) launches.push_back(&type.first->launch);
    const json::object common = common_part(launches);
    json::array markets, listed;
    for (const LaunchChoice* bought : types_.front().bought)
      markets.push_back(json::string(bought->market));
    keep_prices_of_one_market();
    const auto price = common_price();
    for (const Type& type : types_) listed.push_back(entry(type, common, price.has_value()));
    section["market"] = std::move(markets);
    if (price) section["maxPrice"] = *price;
    section[cloud_.types_key] = std::move(listed);
    for (const auto& [key, value] : leader_.section) section[key] = value;
    if (!common.empty()) section["launch"] = common;
    json::object document{{cloud_.name, std::move(section)}};
    if (!leader_.worker_manager.empty()) document["workerManager"] = leader_.worker_manager;
    if (!leader_.worker_config.empty()) document["workerConfig"] = leader_.worker_config;
    return document;
  }

 private:
  void lose(const LaunchChoice& choice, const std::string& reason) {
    report_.lose(choice.name, "", reason);
  }

  void add(const LaunchChoice& choice) {
    if (const std::string at = conflict(leader_, choice); !at.empty())
      return lose(choice, "it differs from " + leader_.name + " in " + at + ", both in " +
                              place_name(place_) + "; a worker type of its own could have it");
    for (const char* key : {"initialWeight", "maxCapacity"}) {
      const json::value* own = choice.worker_manager.if_contains(key);
      const json::value* there = leader_.worker_manager.if_contains(key);
      if ((own == nullptr) != (there == nullptr) || (own && *own != *there))
        report_.lose(choice.name, std::string("workerManager.") + key,
                     "one place has one " + std::string(key) + "; that of " + leader_.name +
                         " is used in " + place_name(place_));
    }
    const auto known = std::ranges::find_if(
        types_, [&](const Type& type) { return type.first->type == choice.type; });
    if (known == types_.end()) return types_.push_back({&choice, {&choice}});
    if (const std::string at = conflict_of_type(*known->first, choice); !at.empty())
      return lose(choice, "it differs from " + known->first->name + " in " + at +
                              " for the same type " + choice.type + " in " + place_name(place_) +
                              "; a worker type of its own could have it" + subnet_advice(at));
    if (known->has_market(choice.market)) {
      ++report_.carried;  // the same twice
    } else {
      known->bought.push_back(&choice);
    }
  }

  std::string subnet_advice(const std::string& at) const {
    return at == "SubnetId" && place_.zone.empty()
               ? ", or say the zones of both subnets with --subnet-zone"
               : "";
  }

  // All types are bought in the same markets.
  void keep_equal_markets() {
    std::vector<const LaunchChoice*> first = types_.front().bought;
    std::vector<Type> kept;
    for (Type& type : types_) {
      const bool has_all = std::ranges::all_of(
          first, [&](const auto* bought) { return type.has_market(bought->market); });
      std::erase_if(type.bought, [&](const LaunchChoice* bought) {
        if (has_all && types_.front().has_market(bought->market)) return false;
        lose(*bought, "in " + place_name(place_) + " the type " + type.first->type +
                          " is not bought in the same markets as " + types_.front().first->type +
                          "; a worker type of its own could have it");
        return true;
      });
      report_.carried += type.bought.size();
      if (!type.bought.empty()) kept.push_back(type);
    }
    types_ = std::move(kept);
  }

  // A limit holds for all markets of a type.
  void keep_prices_of_one_market() {
    if (types_.front().bought.size() == 1) return;
    for (const Type& type : types_)
      for (const LaunchChoice* bought : type.bought)
        if (bought->max_price)
          report_.lose(bought->name, "maxPrice",
                       "it would hold for the other markets of " + bought->type + ", too");
  }
  static std::optional<double> price_of(const Type& type) {
    return type.bought.size() == 1 ? type.bought.front()->max_price : std::nullopt;
  }
  std::optional<double> common_price() const {
    const auto price = price_of(types_.front());
    const bool same =
        std::ranges::all_of(types_, [&](const Type& type) { return price_of(type) == price; });
    return same ? price : std::nullopt;
  }

  json::object entry(const Type& type, const json::object& common, bool price_is_common) const {
    json::object made{{cloud_.type_key, type.first->type}};
    if (type.first->capacity != 1) made["capacity"] = type.first->capacity;
    if (const auto price = price_of(type); price && !price_is_common) made["maxPrice"] = *price;
    if (json::object own = difference(type.first->launch, common); !own.empty())
      made["launch"] = std::move(own);
    return made;
  }

  const Cloud& cloud_;
  const Gathered& place_;
  PoolReport& report_;
  const LaunchChoice& leader_;
  std::vector<Type> types_;
};

// A region's launch configurations name zones, or none does.
std::vector<const LaunchChoice*> without_ambiguous(const std::vector<LaunchChoice>& choices,
                                                   PoolReport& report) {
  std::set<std::string> with_zones;
  for (const LaunchChoice& choice : choices)
    if (!choice.zone.empty()) with_zones.insert(choice.region);
  std::vector<const LaunchChoice*> kept;
  for (const LaunchChoice& choice : choices) {
    if (choice.zone.empty() && with_zones.contains(choice.region))
      report.lose(choice.name, "",
                  "it names no zone, though others in " + choice.region +
                      " do; say the zone of its subnet with --subnet-zone");
    else
      kept.push_back(&choice);
  }
  return kept;
}

}  // namespace

std::vector<Place> gather(const Cloud& cloud, const std::vector<LaunchChoice>& choices,
                          PoolReport& report) {
  std::vector<Gathered> gathered;
  for (const LaunchChoice* choice : without_ambiguous(choices, report)) {
    const auto known = std::ranges::find_if(gathered, [&](const Gathered& place) {
      return place.region == choice->region && place.zone == choice->zone;
    });
    if (known == gathered.end())
      gathered.push_back({choice->region, choice->zone, {choice}});
    else
      known->choices.push_back(choice);
  }
  std::vector<Place> places;
  for (const Gathered& place : gathered)
    places.push_back({place.region, place.zone, PlaceDocument(cloud, place, report).make()});
  return places;
}

}  // namespace muster::importing

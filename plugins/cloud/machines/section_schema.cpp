#include "plugins/cloud/machines/section.hpp"

namespace muster::cloud {
namespace {

json::object types_schema(const Words& words, const char* type_pattern) {
  json::object type{
      {"type", "object"},
      {"additionalProperties", false},
      {"required", json::array{words.entry_key}},
      {"properties",
       json::object{
           {words.entry_key, json::object{{"type", "string"},
                                          {"pattern", type_pattern},
                                          {"description", std::string("As ") + words.cloud +
                                                              " calls it: " + words.example_type}}},
           {"capacity",
            json::object{{"type", "integer"},
                         {"minimum", 1},
                         {"description",
                          "Tasks at once; workerManager.capacityPerInstance, or 1, unless given"}}},
           {"maxPrice",
            price_schema((std::string("Instead of ") + words.section + ".maxPrice").c_str())},
           {"launch", json::object{{"$ref", "#/properties/launch"},
                                   {"description", std::string("Laid over ") + words.section +
                                                       ".launch for this type"}}}}}};
  return {{"type", "array"},
          {"minItems", 1},
          {"items", std::move(type)},
          {"description", "What may be launched, each a launch configuration of its own"}};
}

}  // namespace

void refuse(json::object& properties, const std::vector<SetByMuster>& set_by_muster) {
  for (const auto& [name, instead] : set_by_muster)
    properties[name] = json::object{{"enum", json::array{instead}}, {"description", instead}};
}

json::object price_schema(const char* description) {
  return {{"type", "number"}, {"exclusiveMinimum", 0}, {"description", description}};
}

json::object texts_schema(const char* description, const char* keys, std::int64_t longest_value) {
  return {{"type", "object"},
          {"propertyNames", json::object{{"pattern", keys}, {"maxLength", 128}}},
          {"additionalProperties", json::object{{"type", "string"}, {"maxLength", longest_value}}},
          {"description", description}};
}

json::object section_properties(const Words& words, json::object launch, const char* type_pattern) {
  return {{"launch", std::move(launch)},
          {words.types_key, types_schema(words, type_pattern)},
          {"market",
           json::object{{"type", "array"},
                        {"minItems", 1},
                        {"uniqueItems", true},
                        {"items", json::object{{"enum", json::array{words.spot, words.on_demand}}}},
                        {"description", std::string("How machines are bought, each a launch "
                                                    "configuration of its own; ") +
                                            words.on_demand + " unless given"}}},
          {"maxPrice", price_schema("Dollars that an hour of a machine may cost at most")},
          {"userData", user_data_schema()}};
}

FieldClasses field_classes_of(const Words& words) {
  const std::string section = words.section;
  return {.static_fields = {section + ".launch", section + "." + words.type_key,
                            section + ".market", section + ".userData"},
          .dynamic_fields = {},
          .behavioural_fields = {section + ".tags", section + ".maxPrice"}};
}

}  // namespace muster::cloud

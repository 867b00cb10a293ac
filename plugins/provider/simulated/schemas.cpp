// What operators may write, for the host's checks and for people.
#include "plugins/provider/simulated/settings.hpp"

namespace muster::simulated {
namespace {

json::object described(const char* type, const char* description) {
  return {{"type", type}, {"description", description}};
}

json::object at_least(json::object schema, double minimum) {
  schema["minimum"] = minimum;
  return schema;
}

json::object number(const char* description) {
  return at_least(described("number", description), 0);
}

json::object count(const char* description) {
  return at_least(described("integer", description), 0);
}

json::object text(const char* description) {
  return described("string", description);
}

json::object probability(const char* description) {
  json::object schema = number(description);
  schema["maximum"] = 1;
  return schema;
}

json::object table(json::object properties, json::array needed = {}) {
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", std::move(needed)},
          {"properties", std::move(properties)}};
}

json::object list_of(json::object items, const char* description) {
  return {{"type", "array"}, {"description", description}, {"items", std::move(items)}};
}

json::object failure_rule() {
  return table(
      {{"method", text("Which call; allocate unless given")},
       {"class", text("invalid, notFound, capacity, quota, throttle, auth, config, transient, "
                      "unsupported, cancelled or internal")},
       {"message", text("What the error says")},
       {"code", text("The cloud's own word for it")},
       {"region", text("Only there; becomes the error's scope")},
       {"zone", text("Only there; becomes the error's scope")},
       {"instanceType", text("Only for it; becomes the error's scope")},
       {"probability", probability("How often; always unless given")},
       {"after", count("The first so many calls or launches are spared")},
       {"times", count("So many failures at most")},
       {"fromSeconds", number("Not before, since the cloud's first call")},
       {"untilSeconds", number("Not later, since the cloud's first call")},
       {"holdSeconds", count("For how long not to try again")},
       {"afterEffect", described("boolean", "The launch is made, only its answer is lost")}});
}

}  // namespace

json::object config_schema() {
  return table(
      {{"seed", count("Everything that is drawn depends on it")},
       {"preset", json::object{{"enum", json::array{"aws", "google", "azure"}},
                               {"description",
                                "Adds failures, interruptions and boot times as this cloud has "
                                "them"}}},
       {"regions", list_of(table({{"name", text("\"eu-1\"")},
                                  {"zones", list_of({{"type", "string"}}, "\"eu-1a\"")}},
                                 {"name", "zones"}),
                           "Where machines can be")},
       {"instanceTypes",
        list_of(table({{"name", text("\"small\"")},
                       {"capacity", at_least(described("integer", "Tasks at once"), 1)},
                       {"pricePerHour", number("Around which the price moves")},
                       {"perZone", count("Machines of this type in each zone; 1000 unless given")}},
                      {"name"}),
                "What machines there are")},
       {"prices",
        table({{"volatility", probability("0.2: between 80 % and 120 % of the base")},
               {"periodSeconds", at_least(described("number", "A price turns this often"), 1)}})},
       {"quotas", list_of(table({{"region", text("All regions together unless given")},
                                 {"instanceType", text("All types together unless given")},
                                 {"instances", count("So many at most")}},
                                {"instances"}),
                          "The account's limits")},
       {"boot", table({{"minSeconds", number("The quickest boot")},
                       {"maxSeconds", number("The slowest boot")},
                       {"never", probability("Machines that stay pending for ever")}})},
       {"shutdownSeconds", number("From terminate to gone")},
       {"failures",
        list_of(failure_rule(), "Calls that fail; the first rule that applies decides")},
       {"slow", list_of(table({{"method", text("Which call")},
                               {"seconds", number("It takes so long")},
                               {"probability", probability("How often; always unless given")}},
                              {"method", "seconds"}),
                        "Calls that take their time")},
       {"interruptions",
        table({{"perHour", number("How often a machine is taken away")},
               {"noticeSeconds", number("It is announced so long before")},
               {"launches", list_of({{"type", "integer"}}, "The nth launches are taken away")},
               {"afterSeconds", number("so long after they were made")}})},
       {"secret", text("Secret with which workers prove their identity; without it none can")},
       {"stateFile", text("Absolute path; keeps the machines when the process restarts")}});
}

json::object section_schema() {
  return table({{"instanceTypes", list_of({{"type", "string"}}, "All of the cloud unless given")},
                {"image", text("What the machines boot from")}});
}

json::object example_config() {
  return {{"seed", 1},
          {"regions",
           json::array{json::object{{"name", "eu-1"}, {"zones", json::array{"eu-1a", "eu-1b"}}},
                       json::object{{"name", "us-1"}, {"zones", json::array{"us-1a"}}}}},
          {"instanceTypes",
           json::array{json::object{{"name", "small"}, {"capacity", 1}, {"pricePerHour", 0.05}},
                       json::object{{"name", "large"}, {"capacity", 4}, {"pricePerHour", 0.18}}}},
          {"quotas", json::array{json::object{{"region", "us-1"}, {"instances", 20}}}},
          {"boot", json::object{{"minSeconds", 5}, {"maxSeconds", 15}}},
          {"secret", "only for the example"}};
}

}  // namespace muster::simulated

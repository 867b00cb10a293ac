// What is checked without a host is what a host refuses.
#include "host/pools/offline_check.hpp"

#include <gmock/gmock.h>

#include "tests/unit/host/pools/fixture.hpp"

namespace muster::pools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Files = std::vector<rules::SourceFile>;

// The providers of a host that has them, as its operators would write them down.
std::string facts_of(const ProviderContext& context) {
  std::string text;
  for (const auto& [id, facts] : context.providers) {
    text += "[providers." + id.str() + "]\nplugin = \"" + facts.description.section +
            "\"\nplacements = [\n";
    for (const Placement& placement : facts.placements) {
      std::string line;
      for (const auto& [name, value] : placement.facts)
        line += (line.empty() ? "{ " : ", ") + name + " = \"" + value + "\"";
      text += "  " + line + " },\n";
    }
    text += "]\n";
  }
  return text;
}

InstalledPlugins plugins_of(const Fixture& fixture) {
  InstalledPlugins plugins;
  for (const auto& [id, facts] : fixture.provider_context.providers)
    plugins.providers.push_back(facts.description);
  plugins.strategies = fixture.provider_context.strategies;
  return plugins;
}

// Each has a mistake, or several.
const char* const bad_values[] = {
    "lifecycle.idleTimout = \"5m\"\n",
    "lifecycle.registrationTimeout = \"ten minutes\"\n",
    "lifecycle.registrationTimeout = 0\n",
    "lifecycle.reregistrationTimeout = \"40d\"\n",
    "lifecycle.warmCapacity = -1\n",
    "lifecycle.warmCapacity = 11\n",
    "lifecycle.cycling.budget = \"lots\"\n",
    "lifecycle.cycling.budget = 0\n",
    "lifecycle.cycling.bugdet = 1\n",
    "lifecycle.cycling.windows = [{ days = [\"monday\"] }]\n",
    "lifecycle.cycling.windows = [{ from = \"25:00\" }]\n",
    "lifecycle.cycling = 5\n",
    "lifecycle = []\n",
    "workerManager.capacityPerInstance = 0\n",
    "workerManager.capacityPerInstance = \"2\"\n",
    "workerManager.initalWeight = 1\n",
    "workerManager.initialWeight = 2\n",
    "workerManager.maxCapacity = -1\n",
    "workerManager = 1\n",
    "workerConfig = \"x\"\n",
    "workerConfig.queue.resources.memory = \"64\"\n",
    "workerConfig.queue.teem = \"ios\"\n",
    "workerConfig.queue = 1\n",
    "minCapacity = 11\n",
    "scalingRatio = \"x\"\n",
    "emailOnError = \"yes\"\n",
    "teams = \"ios\"\n",
    "placementStrategies = [\"pakc\"]\n",
    "publicWorkerKeys = [\"garbage\"]\n",
    "payloadSchema = 3\n",
    "payloadSchema.properties.a.type = \"strng\"\n",
    "payloadSchema.required = \"a\"\n",
    "strategy = { name = 5 }\n",
    "simulated.instanceTipes = [\"small\"]\n",
    "simulated.image = 5\n",
    "simulated = \"x\"\n",
    "simulated.instanceTypes = [3]\nworkerManager.initialWeight = 7\nlifecycle.idleTimout = 1\n",
};

TEST(OfflineCheck, what_a_host_refuses_is_refused_at_the_same_place_and_in_the_same_words) {
  for (const char* values : bad_values) {
    Fixture host;
    const Files files = {{"build.toml", configuration(values)}};
    const Outcome refused = host.build(files);
    EXPECT_FALSE(refused.configuration) << values;
    Files with_facts = files;
    with_facts.push_back({"facts.toml", facts_of(host.provider_context)});
    EXPECT_EQ(texts_of(check_offline(with_facts, plugins_of(host))), texts_of(refused.problems))
        << values;
    // Without facts nobody knows the places, but the line and the mistake are the same.
    const auto factless = check_offline(files, plugins_of(host));
    ASSERT_TRUE(rules::has_errors(factless)) << values;
    EXPECT_EQ(factless.front().position, refused.problems.front().position) << values;
    EXPECT_EQ(factless.front().code, refused.problems.front().code) << values;
  }
}

TEST(OfflineCheck, what_a_host_takes_passes_with_and_without_facts) {
  Fixture host;
  const Files files = {{"build.toml", configuration("simulated.image = \"i\"\n"
                                                    "workerManager.initialWeight = 0.5\n"
                                                    "lifecycle.idleTimeout = \"5m\"\n"
                                                    "strategy = \"cheapest\"\n")}};
  EXPECT_TRUE(host.build(files).configuration);
  EXPECT_THAT(check_offline(files, plugins_of(host)), IsEmpty());
  Files with_facts = files;
  with_facts.push_back({"facts.toml", facts_of(host.provider_context)});
  EXPECT_THAT(check_offline(with_facts, plugins_of(host)), IsEmpty());
}

TEST(OfflineCheck, a_structural_mistake_hides_no_other) {
  const Fixture host;
  const std::string text = configuration(
      "lifecycle.idleTimout = 1\nsimulated.imge = \"x\"\n"
      "[[rules]]\nruleId = \"two\"\ndescripton = \"d\"\n"
      "[rules.values]\nminCapacity = \"x\"\nworkerManager.capacityPerInstance = 0\n");
  for (const bool facts : {false, true}) {
    Files files = {{"build.toml", text}};
    if (facts) files.push_back({"facts.toml", facts_of(host.provider_context)});
    const std::string texts = texts_of(check_offline(files, plugins_of(host)));
    EXPECT_THAT(texts, HasSubstr("build.toml:14:1: rules[1].descripton: unknown key; did you mean "
                                 "description?"));
    EXPECT_THAT(texts, HasSubstr("build.toml:10:11: lifecycle.idleTimout: is not known"));
    EXPECT_THAT(texts, HasSubstr("build.toml:11:11: simulated.imge"));
    EXPECT_THAT(texts, HasSubstr("build.toml:16:1: minCapacity"));
    EXPECT_THAT(texts, HasSubstr("build.toml:17:15: workerManager.capacityPerInstance: is 0"));
  }
}

TEST(OfflineCheck, what_could_not_be_read_is_not_called_missing) {
  const std::string text =
      "workerTypes = [\"build\"]\n[[rules]]\nruleId = \"all\"\nvales = { owner = \"x\" }\n";
  EXPECT_EQ(texts_of(check_offline(Files{{"build.toml", text}}, {})),
            "build.toml:4:1: rules[0].vales: unknown key; did you mean values?\n");
}

TEST(OfflineCheck, values_of_a_rule_for_some_places_only_are_checked_without_knowing_the_places) {
  const Fixture host;
  const std::string text = configuration(
      "[[rules]]\nruleId = \"east\"\ndescription = \"d\"\n"
      "conditions = [{ region = [\"[!u]*\", \"us-?ast-*\"], provider = \"s*\" }]\n"
      "[rules.values]\nsimulated.imge = \"x\"\nworkerManager.maxCapacity = -1\n");
  const std::string texts = texts_of(check_offline(Files{{"build.toml", text}}, plugins_of(host)));
  EXPECT_THAT(texts, AllOf(HasSubstr("build.toml:15:11: simulated.imge"),
                           HasSubstr("build.toml:16:15: workerManager.maxCapacity")));
}

TEST(OfflineCheck, a_strategy_that_nobody_knows_is_a_warning_as_it_may_be_the_hosts_own) {
  InstalledPlugins plugins;
  plugins.strategies = {"cheapest", "classic"};
  const auto warnings_about = [&](const std::string& name) {
    const auto problems = check_offline(
        Files{{"build.toml", configuration("strategy = \"" + name + "\"\n")}}, plugins);
    EXPECT_FALSE(rules::has_errors(problems)) << name;
    return texts_of(problems, rules::Severity::warning);
  };
  EXPECT_THAT(warnings_about("cheapst"), HasSubstr("did you mean cheapest?"));
  EXPECT_THAT(warnings_about("nosuch"),
              AllOf(HasSubstr("\"nosuch\" is not a strategy that comes with muster"),
                    HasSubstr("known strategies are cheapest, classic"), HasSubstr("--plugins")));
  EXPECT_THAT(warnings_about("classic"), IsEmpty());
  plugins.strategies = {};  // nothing is installed: nobody can say
  EXPECT_THAT(warnings_about("nosuch"), IsEmpty());
}

TEST(OfflineCheck, sections_of_plugins_that_nobody_has_are_not_judged) {
  const Fixture host;
  const auto problems =
      check_offline(Files{{"build.toml", configuration("cloudy.size = 3\n")}}, plugins_of(host));
  EXPECT_THAT(texts_of(problems), Not(HasSubstr("cloudy")));
}

}  // namespace
}  // namespace muster::pools

// The public test suite of JSON Schema, as Debian packages it: `json-schema-test-suite` has the
// older drafts, `libtest-json-schema-acceptance-perl` a later state with 2019-09 and 2020-12.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>

#include <gtest/gtest.h>

#include <muster/json_schema.hpp>

namespace muster::json {
namespace {

namespace fs = std::filesystem;

const fs::path old_suite = "/usr/share/json-schema-test-suite";
const fs::path new_suite = "/usr/share/perl5/auto/share/dist/Test-JSON-Schema-Acceptance";

value read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  auto parsed = parse(text);
  if (!parsed) throw std::runtime_error(file.string() + ": " + parsed.error().message);
  return *parsed;
}

// The suite expects its own server at this address to have the remote schemas.
SchemaRegistry remotes(const fs::path& suite) {
  SchemaRegistry registry;
  for (const auto& file : fs::recursive_directory_iterator(suite / "remotes"))
    if (file.is_regular_file())
      registry.emplace(
          "http://localhost:1234/" + fs::relative(file, suite / "remotes").generic_string(),
          read(file.path()));
  return registry;
}

struct Outcome {
  int passed = 0;
  std::set<std::string> failed;  // "file: group: case"
};

void run_group(const object& group, const std::string& name, const SchemaRegistry& registry,
               const SchemaOptions& options, Outcome& outcome) {
  const auto schema = Schema::compile(group.at("schema"), registry, options);
  for (const value& item : group.at("tests").as_array()) {
    const object& one = item.as_object();
    const bool valid = one.at("valid").as_bool();
    const bool good = schema && schema->validate(one.at("data")).empty() == valid;
    if (good)
      ++outcome.passed;
    else
      outcome.failed.insert(name + ": " + std::string(one.at("description").as_string()));
  }
}

// Since 2019-09 formats are checked on demand only, so the files outside optional/format run
// without.
Outcome run(const fs::path& suite, const std::string& draft_name, Draft draft) {
  Outcome outcome;
  const SchemaRegistry registry = remotes(suite);
  const fs::path top = suite / "tests" / draft_name;
  for (const auto& file : fs::recursive_directory_iterator(top)) {
    if (file.path().extension() != ".json") continue;
    const std::string name = fs::relative(file, top).generic_string();
    SchemaOptions options;
    options.draft = draft;
    options.check_formats = name.starts_with("optional/");
    value groups;
    try {
      groups = read(file.path());
    } catch (const std::runtime_error&) {
      outcome.failed.insert(name);
      continue;
    }
    for (const value& group : groups.as_array())
      run_group(group.as_object(),
                name + ": " + std::string(group.as_object().at("description").as_string()),
                registry, options, outcome);
  }
  return outcome;
}

// What we do not do, and why. A line stands for every case that begins with it; a line that no
// failing case begins with fails the test, so the list cannot outlive its reasons.
struct Exception {
  std::string_view prefix;
  std::string_view reason;
};

constexpr std::string_view no_metaschemas =
    "refers to the standard's own metaschema, which is not built in: compile() checks schemas";
constexpr std::string_view content_is_a_note =
    "contentEncoding and contentMediaType are notes to people, as all later drafts have it";
constexpr std::string_view no_idna =
    "idn-hostname is checked as a host name with non-ASCII letters, without the tables of IDNA";
constexpr std::string_view no_vocabularies =
    "a metaschema cannot take keywords away: a schema that writes one means it";

void expect_all_pass_but(const Outcome& outcome, int at_least,
                         const std::vector<Exception>& exceptions) {
  EXPECT_GE(outcome.passed, at_least) << "is the suite installed in full?";
  std::set<std::string_view> used;
  for (const std::string& failed : outcome.failed) {
    const auto excuse =
        std::find_if(exceptions.begin(), exceptions.end(),
                     [&](const Exception& one) { return failed.starts_with(one.prefix); });
    if (excuse == exceptions.end())
      ADD_FAILURE() << failed;
    else
      used.insert(excuse->prefix);
  }
  for (const Exception& one : exceptions)
    EXPECT_TRUE(used.contains(one.prefix))
        << one.prefix << ": passes now; \"" << one.reason << "\" is not a reason any more";
}

TEST(JsonSchemaSuite, draft_6) {
  expect_all_pass_but(run(old_suite, "draft6", Draft::draft6), 490,
                      {{"definitions.json: ", no_metaschemas},
                       {"ref.json: remote ref, containing refs itself", no_metaschemas}});
}

TEST(JsonSchemaSuite, draft_7) {
  expect_all_pass_but(run(old_suite, "draft7", Draft::draft7), 550,
                      {{"definitions.json: ", no_metaschemas},
                       {"ref.json: remote ref, containing refs itself", no_metaschemas},
                       {"optional/content.json: ", content_is_a_note},
                       {"optional/format/idn-hostname.json: ", no_idna}});
}

TEST(JsonSchemaSuite, draft_7_as_later_amended) {
  expect_all_pass_but(run(new_suite, "draft7", Draft::draft7), 1350,
                      {{"definitions.json: ", no_metaschemas},
                       {"ref.json: remote ref, containing refs itself", no_metaschemas},
                       {"optional/content.json: ", content_is_a_note},
                       {"optional/format/idn-hostname.json: ", no_idna}});
}

TEST(JsonSchemaSuite, draft_2019_09) {
  expect_all_pass_but(run(new_suite, "draft2019-09", Draft::draft2019_09), 1730,
                      {{"anchor.json: invalid anchors", no_metaschemas},
                       {"defs.json: ", no_metaschemas},
                       {"id.json: Invalid use of fragments", no_metaschemas},
                       {"id.json: Valid use of empty fragments", no_metaschemas},
                       {"id.json: Unnormalized $ids", no_metaschemas},
                       {"ref.json: URN base URI with f-component", no_metaschemas},
                       {"ref.json: remote ref, containing refs itself", no_metaschemas},
                       {"optional/format/idn-hostname.json: ", no_idna},
                       {"vocabulary.json: ", no_vocabularies}});
}

TEST(JsonSchemaSuite, draft_2020_12) {
  expect_all_pass_but(run(new_suite, "draft2020-12", Draft::draft2020_12), 1740,
                      {{"anchor.json: invalid anchors", no_metaschemas},
                       {"defs.json: ", no_metaschemas},
                       {"id.json: Invalid use of fragments", no_metaschemas},
                       {"id.json: Valid use of empty fragments", no_metaschemas},
                       {"id.json: Unnormalized $ids", no_metaschemas},
                       {"ref.json: URN base URI with f-component", no_metaschemas},
                       {"ref.json: remote ref, containing refs itself", no_metaschemas},
                       {"optional/ecmascript-regex.json: \\a is not", no_metaschemas},
                       {"optional/format/idn-hostname.json: ", no_idna},
                       {"vocabulary.json: ", no_vocabularies}});
}

}  // namespace
}  // namespace muster::json

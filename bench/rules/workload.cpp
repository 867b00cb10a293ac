#include "workload.hpp"

namespace muster::rules::bench {
namespace {

using Conditions = std::vector<std::pair<std::string, std::string>>;

class Writer {
 public:
  explicit Writer(std::string head) { work_.toml = std::move(head); }

  // `section` holds flat values of strings.
  void rule(const std::string& id, const Conditions& conditions, const std::string& section,
            const Conditions& values) {
    std::string& toml = work_.toml;
    toml += "\n[[rules]]\nruleId = \"" + id + "\"\ndescription = \"what " + id + " is for\"\n";
    json::object condition_object, section_object;
    std::string list;
    for (const auto& [name, pattern] : conditions) {
      list += (list.empty() ? "" : ", ") + name + " = \"" + pattern + "\"";
      condition_object[name] = pattern;
    }
    if (!conditions.empty()) toml += "conditions = { " + list + " }\n";
    toml += "[rules.values" + (section.empty() ? "" : "." + section) + "]\n";
    for (const auto& [key, value] : values) {
      toml += key + " = \"" + value + "\"\n";
      section_object[key] = value;
    }
    json::object rule = {{"conditions", condition_object}};
    rule["values"] = section.empty() ? section_object : json::object{{section, section_object}};
    work_.rules.push_back(std::move(rule));
  }

  std::size_t count() const { return work_.rules.size(); }
  Workload take(std::vector<Facts> facts) {
    work_.facts = std::move(facts);
    return std::move(work_);
  }

 private:
  Workload work_;
};

std::string number(std::size_t value) {
  return std::to_string(value);
}

// Bit `bit` of seven must be set.
std::string bit_pattern(const std::string& prefix, std::size_t bit) {
  std::string pattern = prefix + "???????";
  pattern[prefix.size() + bit] = '1';
  return pattern;
}

std::string bits(const std::string& prefix, std::size_t value) {
  std::string text = prefix;
  for (std::size_t bit = 0; bit < 7; ++bit) text += (value >> bit & 1) ? '1' : '0';
  return text;
}

}  // namespace

Workload fleet(std::size_t rule_count, int edition, std::size_t edited) {
  Writer writer("workerTypes = [\"t\"]\n");
  const auto version = [&] {
    return writer.count() == edited ? "v" + std::to_string(edition) : std::string("v0");
  };
  writer.rule("basic", {}, "",
              {{"owner", "team@example.com"},
               {"description", "builds"},
               {"strategy", "classic"},
               {"version", version()}});
  writer.rule("worker", {}, "workerConfig",
              {{"implementation", "generic"}, {"cache", "/var/cache"}, {"version", version()}});
  writer.rule("ec2", {{"provider", "ec2"}}, "aws",
              {{"KeyName", "build"},
               {"Profile", "worker"},
               {"InstanceType", "m5.large"},
               {"version", version()}});
  writer.rule("gcp", {{"provider", "gcp"}}, "google",
              {{"machineType", "n2-standard-4"}, {"disk", "ssd"}, {"version", version()}});
  for (std::size_t i = 0; writer.count() < rule_count; ++i) {
    if (i % 3 == 0)
      writer.rule("image-" + number(i),
                  {{"provider", "ec2"}, {"region", "region-" + number(i / 3 % 20)}}, "aws",
                  {{"ImageId", "ami-" + number(i)}, {"version", version()}});
    else if (i % 3 == 1)
      writer.rule("zone-" + number(i),
                  {{"availabilityZone", "region-" + number(i / 3 % 20) + "-" + number(i % 5)}},
                  "aws", {{"SubnetId", "subnet-" + number(i)}, {"version", version()}});
    else
      writer.rule("type-" + number(i), {{"workerType", "type-" + number(i / 3 % 10) + "*"}},
                  "workerConfig", {{"size", number(i)}, {"version", version()}});
  }
  std::vector<Facts> facts;
  for (std::size_t type = 0; type < 100; ++type)
    for (std::size_t place = 0; place < 100; ++place) {
      const std::string region = "region-" + number(place % 20);
      facts.push_back({{"workerType", "type-" + number(type)},
                       {"provider", place < 60 ? "ec2" : "gcp"},
                       {"region", region},
                       {"availabilityZone", region + "-" + number(place / 20)}});
    }
  return writer.take(std::move(facts));
}

Workload all_different(std::size_t rule_count, int edition, std::size_t edited) {
  Writer writer("workerTypes = [\"t\"]\n");
  const auto version = [&] {
    return writer.count() == edited ? "v" + std::to_string(edition) : std::string("v0");
  };
  writer.rule("basic", {}, "",
              {{"owner", "team@example.com"},
               {"description", "builds"},
               {"strategy", "classic"},
               {"version", version()}});
  for (std::size_t bit = 0; bit < 7; ++bit) {
    writer.rule("type-bit-" + number(bit), {{"workerType", bit_pattern("t", bit)}}, "aws",
                {{"t" + number(bit), "on"}, {"version", version()}});
    writer.rule("zone-bit-" + number(bit), {{"availabilityZone", bit_pattern("z", bit)}}, "aws",
                {{"z" + number(bit), "on"}, {"version", version()}});
  }
  for (std::size_t i = 0; writer.count() < rule_count; ++i)
    writer.rule("some-" + number(i), {{"region", "region-" + number(i % 10)}}, "workerConfig",
                {{"key" + number(i), "value " + number(i)}, {"version", version()}});
  std::vector<Facts> facts;
  for (std::size_t type = 0; type < 100; ++type)
    for (std::size_t place = 0; place < 100; ++place)
      facts.push_back({{"workerType", bits("t", type)},
                       {"provider", "ec2"},
                       {"region", "region-" + number(place % 10)},
                       {"availabilityZone", bits("z", place)}});
  return writer.take(std::move(facts));
}

std::string repository_file(std::size_t file, std::size_t rule_count) {
  Writer writer("workerTypes = [\"w" + number(file) + "-opt\", \"w" + number(file) + "-dbg\"]\n");
  writer.rule("basic", {}, "", {{"owner", "team@example.com"}, {"description", "builds"}});
  while (writer.count() + 1 < rule_count) {
    const std::size_t i = writer.count();
    writer.rule("rule-" + number(i), {{"provider", "ec2"}, {"region", "region-" + number(i % 20)}},
                "aws",
                {{"ImageId", "ami-" + number(i * file)},
                 {"SubnetId", "subnet-" + number(i)},
                 {"key" + number(i), "x"}});
  }
  return writer.take({}).toml +
         "\n[[rules]]\nruleId = \"pool\"\ndescription = \"the pool\"\n[rules.values]\nproviders = "
         "[\"ec2\"]\nmaxCapacity = 10\n";
}

std::string repository_facts() {
  std::string toml = "[providers.ec2]\nplugin = \"aws\"\nplacements = [\n";
  for (std::size_t i = 0; i < 60; ++i)
    toml += "  { region = \"region-" + number(i % 20) + "\", availabilityZone = \"region-" +
            number(i % 20) + "-" + number(i / 20) + "\" },\n";
  return toml + "]\n";
}

}  // namespace muster::rules::bench

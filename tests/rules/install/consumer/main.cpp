#include <iostream>

#include <muster/rules/content_hash.hpp>
#include <muster/rules/evaluate.hpp>

int main() {
  const auto parsed = muster::rules::parse_toml(
      "workerTypes = ['t']\n[[rules]]\nruleId = 'a'\nconditions.region = 'us-*'\nvalues.x = 1\n",
      "c.toml");
  if (!parsed.document) return 1;
  const auto result = muster::rules::evaluate(*parsed.document, {{"region", "us-east-1"}});
  std::cout << muster::json::write(result.document) << ' '
            << muster::rules::launch_config_id("p/t", "ec2", {}, result.document) << '\n';
}

#include "agent/command_line.hpp"

#include <algorithm>
#include <charconv>

namespace muster::agent {
namespace {

constexpr std::string_view default_provisioner = "worker-manager/";

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& words) : words_(words) {}

  Result<CommandLine> parse() {
    while (at_ < words_.size())
      if (const auto taken = take(words_[at_++]); !taken) return taken.error();
    if (line_.check && line_.detach)
      return Error::invalid("--check and --detach exclude each other");
    if (!line_.overrides.worker_pool_id.empty() && !line_.overrides.reported.team.empty())
      return Error::invalid(
          "--pool and --team exclude each other: a worker is of a pool or of a team");
    return std::move(line_);
  }

 private:
  Result<void> take(const std::string& word) {
    const auto sign = word.find('=');
    const std::string option = word.substr(0, sign);
    bool* const flag = flag_of(option);
    if (flag && sign == word.npos) return *flag = true, Result<void>();
    const auto known = {"--config", "--pool", "--team", "--tag", "--resource"};
    if (std::ranges::find(known, option) == known.end())
      return Error::invalid("there is no option " + word);
    std::string value;
    if (sign != word.npos)
      value = word.substr(sign + 1);
    else if (at_ < words_.size())
      value = words_[at_++];
    if (value.empty()) return Error::invalid(option + " needs a value");
    return set(option, value);
  }

  bool* flag_of(std::string_view option) {
    if (option == "--help" || option == "-h") return &line_.help;
    if (option == "--version") return &line_.version;
    if (option == "--check") return &line_.check;
    return option == "--detach" ? &line_.detach : nullptr;
  }

  Result<void> set(std::string_view option, const std::string& value) {
    ReportedCapabilities& reported = line_.overrides.reported;
    if (option == "--resource") return add_resource(value);
    if (option == "--config")
      line_.file = value;
    else if (option == "--team")
      reported.team = value;
    else if (option == "--tag")
      reported.tags.push_back(value);
    else
      line_.overrides.worker_pool_id =
          value.find('/') == value.npos ? std::string(default_provisioner) + value : value;
    return {};
  }

  Result<void> add_resource(const std::string& text) {
    const auto sign = text.find('=');
    const char* const end = text.data() + text.size();
    std::int64_t amount = 0;
    const bool complete = sign != 0 && sign != text.npos;
    if (complete) {
      const auto read = std::from_chars(text.data() + sign + 1, end, amount);
      if (read.ec == std::errc() && read.ptr == end && amount > 0) {
        line_.overrides.reported.resources[text.substr(0, sign)] = amount;
        return {};
      }
    }
    return Error::invalid("--resource " + text + " is not like memory=65536");
  }

  const std::vector<std::string>& words_;
  std::size_t at_ = 0;
  CommandLine line_;
};

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& words) {
  return Parser(words).parse();
}

}  // namespace muster::agent

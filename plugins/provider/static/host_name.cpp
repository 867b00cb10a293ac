#include "plugins/provider/static/host_name.hpp"

#include <algorithm>

namespace muster::static_machines {
namespace {

constexpr std::size_t longest_host_name = 253, longest_label = 63;

std::vector<std::string_view> labels_of(std::string_view name) {
  std::vector<std::string_view> labels;
  for (;;) {
    const auto dot = name.find('.');
    labels.push_back(name.substr(0, dot));
    if (dot == std::string_view::npos) return labels;
    name.remove_prefix(dot + 1);
  }
}

// The alphabet of DNS, whatever the locale says.
std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (small.ends_with('.')) small.pop_back();
  return small;
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= longest_label && label.front() != '-' &&
         label.back() != '-' && std::ranges::all_of(label, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

}  // namespace

std::optional<std::string> plain_host_name(std::string_view name) {
  if (name.size() > longest_host_name + 1) return std::nullopt;
  std::string plain = in_small_letters(name);
  if (plain.size() > longest_host_name || !std::ranges::all_of(labels_of(plain), is_label))
    return std::nullopt;
  return plain;
}

Result<HostNamePattern> HostNamePattern::parse(std::string_view pattern) {
  HostNamePattern made;
  const std::string plain = in_small_letters(pattern);
  if (plain.empty()) return Error::invalid("is empty");
  for (const std::string_view label : labels_of(plain)) {
    if (label.empty()) return Error::invalid("a label between its dots is empty");
    auto glob = rules::Glob::parse(label);
    if (!glob) return glob.error();
    made.labels_.push_back(std::move(*glob));
  }
  return made;
}

bool HostNamePattern::matches(std::string_view plain_name) const {
  return std::ranges::equal(
      labels_, labels_of(plain_name),
      [](const rules::Glob& glob, std::string_view label) { return glob.matches(label); });
}

}  // namespace muster::static_machines

#include "lib/http/route_table.hpp"

#include <algorithm>
#include <stdexcept>

#include <muster/utf8.hpp>

#include "lib/http/message.hpp"

namespace muster::http {

PathSegments::PathSegments(std::string_view path) {
  segments_.reserve(16);
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const auto end = std::min(path.find('/'), path.size());
    std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    if (segment.find('%') != std::string_view::npos) {
      auto decoded = percent_decode(segment);
      if (!decoded) problem_ = "the path has a broken %-escape";
      segment = *decoded_.emplace_back(
          std::make_unique<std::string>(decoded ? std::move(*decoded) : std::string()));
    }
    if (problem_.empty() && !is_plain_text(segment))
      problem_ = "the path has, after decoding, bytes that are no UTF-8, or control characters";
    segments_.push_back(segment);
  }
}

PathPattern::PathPattern(std::string_view pattern) {
  const PathSegments parts(pattern);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view part = parts[i];
    if (part.size() < 3 || part.front() != '{' || part.back() != '}') {
      segments_.push_back({Segment::Kind::literal, std::string(part)});
      continue;
    }
    const std::string_view name = part.substr(1, part.size() - 2);
    if (!name.starts_with('*')) {
      segments_.push_back({Segment::Kind::one, std::string(name)});
      continue;
    }
    if (std::exchange(has_many_, true))
      throw std::logic_error(std::string(pattern) + " has two {*...}");
    segments_.push_back({Segment::Kind::many, std::string(name.substr(1))});
  }
}

bool PathPattern::fits(const PathSegments& path) const {
  if (!path.problem().empty()) return false;
  if (has_many_ ? path.size() < segments_.size() : path.size() != segments_.size()) return false;
  std::size_t at = 0;
  for (std::size_t i = 0; i < segments_.size(); at += width(i, path), ++i) {
    const Segment& segment = segments_[i];
    if (segment.kind == Segment::Kind::literal ? path[at] != segment.text
                                               : width(i, path) == 1 && path[at].empty())
      return false;
  }
  return true;
}

PathParameters PathPattern::parameters(const PathSegments& path) const {
  PathParameters found;
  std::size_t at = 0;
  for (std::size_t i = 0; i < segments_.size(); at += width(i, path), ++i) {
    const Segment& segment = segments_[i];
    if (segment.kind == Segment::Kind::literal) continue;
    std::string& value = found.emplace_back(segment.text, path[at]).second;
    for (std::size_t more = 1; more < width(i, path); ++more)
      value.append("/").append(path[at + more]);
  }
  return found;
}

void RouteTable::add(const PathPattern& pattern, std::size_t number) {
  Node* node = &root_;
  for (const PathPattern::Segment& segment : pattern.segments()) {
    using Kind = PathPattern::Segment::Kind;
    if (segment.kind == Kind::many) return node->many.push_back(number);
    auto& next = segment.kind == Kind::one ? node->one : node->literals[segment.text];
    if (!next) next = std::make_unique<Node>();
    node = next.get();
  }
  node->ends.push_back(number);
}

std::vector<std::size_t> RouteTable::candidates(const PathSegments& path) const {
  std::vector<std::size_t> found;
  found.reserve(16);
  collect(root_, path, 0, found);
  std::sort(found.begin(), found.end());
  return found;
}

// At most two ways at each depth, and patterns are short: the table's depth bounds it, not the
// path's.
void RouteTable::collect(const Node& node, const PathSegments& path, std::size_t depth,
                         std::vector<std::size_t>& found) {
  found.insert(found.end(), node.many.begin(), node.many.end());
  if (depth == path.size()) {
    found.insert(found.end(), node.ends.begin(), node.ends.end());
    return;
  }
  if (const auto literal = node.literals.find(path[depth]); literal != node.literals.end())
    collect(*literal->second, path, depth + 1, found);
  if (node.one && !path[depth].empty()) collect(*node.one, path, depth + 1, found);
}

}  // namespace muster::http

// Patterns of paths, and which of them a path fits. Finding them takes time in the length of the
// path, not in the number of routes. Private to this folder.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::http {

using PathParameters = std::vector<std::pair<std::string, std::string>>;

// A path cut at its slashes, each piece decoded. Holds views of the path: it must outlive this.
class PathSegments {
 public:
  explicit PathSegments(std::string_view path);

  // What is wrong with it, in a sentence; then nothing fits it. Empty: nothing.
  std::string_view problem() const { return problem_; }
  std::size_t size() const { return segments_.size(); }
  std::string_view operator[](std::size_t i) const { return segments_[i]; }

 private:
  std::vector<std::string_view> segments_;
  std::vector<std::unique_ptr<std::string>> decoded_;  // those that had escapes
  std::string_view problem_;
};

// "/workers/{workerPoolId}", "/worker-pool/{*workerPoolId}/stats".
class PathPattern {
 public:
  // Throws std::logic_error if there is more than one `{*name}`.
  explicit PathPattern(std::string_view pattern);

  // Compared decoded: clients may escape any letter they like.
  bool fits(const PathSegments& path) const;
  // Of a path that fits.
  PathParameters parameters(const PathSegments& path) const;

  struct Segment {
    enum class Kind { literal, one, many } kind;
    std::string text;  // the literal, or the parameter's name
  };
  const std::vector<Segment>& segments() const { return segments_; }

 private:
  // How many of the path's segments the pattern's segment at `i` stands for.
  std::size_t width(std::size_t i, const PathSegments& path) const {
    return segments_[i].kind == Segment::Kind::many ? path.size() + 1 - segments_.size() : 1;
  }
  std::vector<Segment> segments_;
  bool has_many_ = false;
};

// Numbers of patterns, found by path. Filled first, then only read. THREADS: then any.
class RouteTable {
 public:
  void add(const PathPattern& pattern, std::size_t number);
  // All that may fit, the smallest number first; those with `{*name}` are still to be asked.
  std::vector<std::size_t> candidates(const PathSegments& path) const;

 private:
  struct Node {
    std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
    std::unique_ptr<Node> one;
    std::vector<std::size_t> ends;  // patterns that end here
    std::vector<std::size_t> many;  // patterns that go on with `{*name}`
  };
  static void collect(const Node& node, const PathSegments& path, std::size_t depth,
                      std::vector<std::size_t>& found);
  Node root_;
};

}  // namespace muster::http

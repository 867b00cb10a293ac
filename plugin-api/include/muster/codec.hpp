// Between the typed values and JSON. Compiled into each side of the plugin boundary, so that no C++
// type crosses it.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/fields.hpp>
#include <muster/ids.hpp>
#include <muster/json.hpp>

namespace muster {

std::string format_time(Time time);                     // "2026-01-02T03:04:05.678Z"
std::optional<Time> parse_time(std::string_view text);  // RFC 3339, any offset

namespace codec {

template <class T>
concept Fielded = requires {
  T::fields([](const auto&...) {});
};

template <class T>
concept Named = std::is_enum_v<T> && requires(T t) {
  enum_names(t);
};

// -------------------------------------------------------------------------------------------------------------
// encode

inline json::value to_value(const std::string& text) {
  return json::value(text);
}
inline json::value to_value(bool truth) {
  return json::value(truth);
}
inline json::value to_value(std::int64_t number) {
  return json::value(number);
}
inline json::value to_value(std::uint64_t number) {
  return json::value(number);
}
inline json::value to_value(double number) {
  return json::value(number);
}
inline json::value to_value(const json::value& any) {
  return any;
}
inline json::value to_value(const json::object& any) {
  return json::value(any);
}
inline json::value to_value(Time time) {
  return json::value(format_time(time));
}
json::value to_value(const ErrorScope& scope);
json::value to_value(const Error& error);
template <class Tag>
json::value to_value(const Id<Tag>& id);
template <Named E>
json::value to_value(E word);
template <class T>
json::value to_value(const std::vector<T>& items);
template <class T>
json::value to_value(const std::map<std::string, T>& members);
template <Fielded T>
json::value to_value(const T& record);

template <class Tag>
json::value to_value(const Id<Tag>& id) {
  return json::value(id.str());
}

template <Named E>
json::value to_value(E word) {
  return json::value(enum_names(word)[static_cast<std::size_t>(word)]);
}

template <class T>
json::value to_value(const std::vector<T>& items) {
  json::array array;
  array.reserve(items.size());
  for (const T& item : items) array.push_back(to_value(item));
  return array;
}

template <class T>
json::value to_value(const std::map<std::string, T>& members) {
  json::object object;
  for (const auto& [name, member] : members) object.emplace(name, to_value(member));
  return object;
}

template <class T>
void put(json::object& object, std::string_view name, const T& member) {
  object.emplace(name, to_value(member));
}

template <class T>
void put(json::object& object, std::string_view name, const std::optional<T>& member) {
  if (member) object.emplace(name, to_value(*member));
}

template <Fielded T>
json::value to_value(const T& record) {
  json::object object;
  T::fields([&](const auto&... field) { (put(object, field.name, record.*field.member), ...); });
  return object;
}

// -------------------------------------------------------------------------------------------------------------
// decode

// Reads one value; the first mistake is kept with its path ("bids[2].price: expected a number, got
// a string").
class Reader {
 public:
  bool failed() const { return !mistake_.empty(); }
  const std::string& mistake() const { return mistake_; }

  void read(const json::value& from, std::string& to);
  void read(const json::value& from, bool& to);
  void read(const json::value& from, std::int64_t& to);
  void read(const json::value& from, std::uint64_t& to);
  void read(const json::value& from, double& to);
  void read(const json::value& from, json::value& to) { to = from; }
  void read(const json::value& from, json::object& to);
  void read(const json::value& from, Time& to);
  void read(const json::value& from, ErrorScope& to);
  void read(const json::value& from, Error& to);

  template <class Tag>
  void read(const json::value& from, Id<Tag>& to) {
    std::string text;
    read(from, text);
    to = Id<Tag>(std::move(text));
  }

  template <Named E>
  void read(const json::value& from, E& to) {
    constexpr auto names = enum_names(E{});
    if (!from.is_string()) return expected("a string", from);
    for (std::size_t i = 0; i < names.size(); ++i)
      if (from.get_string() == names[i]) return void(to = static_cast<E>(i));
    std::string known;
    for (const auto name : names) (known += known.empty() ? "" : ", ") += name;
    fail("\"" + std::string(from.get_string()) + "\" is none of " + known);
  }

  template <class T>
  void read(const json::value& from, std::optional<T>& to) {
    if (from.is_null()) return to.reset();
    read(from, to.emplace());
  }

  template <class T>
  void read(const json::value& from, std::vector<T>& to) {
    if (!from.is_array()) return expected("an array", from);
    to.clear();
    to.reserve(from.get_array().size());
    for (const json::value& item : from.get_array()) {
      const Step step(*this, "[" + std::to_string(to.size()) + "]");
      read(item, to.emplace_back());
      if (failed()) return;
    }
  }

  template <class T>
  void read(const json::value& from, std::map<std::string, T>& to) {
    if (!from.is_object()) return expected("an object", from);
    to.clear();
    for (const auto& member : from.get_object()) {
      const Step step(*this, "." + std::string(member.key()));
      read(member.value(), to[std::string(member.key())]);
      if (failed()) return;
    }
  }

  template <Fielded T>
  void read(const json::value& from, T& to) {
    if (!from.is_object()) return expected("an object", from);
    const json::object& object = from.get_object();
    T::fields([&](const auto&... field) {
      (take(object, field.name, to.*field.member, field.is_required), ...);
    });
  }

  void fail(std::string reason);
  void expected(std::string_view what, const json::value& got);

 private:
  struct Step {
    Step(Reader& reader, const std::string& name) : path(reader.path_), length(path.size()) {
      path += name;
    }
    ~Step() { path.resize(length); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    std::string& path;
    std::size_t length;
  };

  template <class T>
  void take(const json::object& object, std::string_view name, T& member, bool is_required) {
    if (failed()) return;
    const Step step(*this, "." + std::string(name));
    if (const json::value* found = object.if_contains(name)) return read(*found, member);
    if (is_required) fail("is missing");
  }

  std::string path_;
  std::string mistake_;
};

}  // namespace codec

template <class T>
std::string encode(const T& record) {
  return json::write(codec::to_value(record));
}

// Error::invalid with the path of the first mistake.
template <class T>
Result<T> from_value(const json::value& document) {
  T record{};
  codec::Reader reader;
  reader.read(document, record);
  if (reader.failed()) return Error::invalid(reader.mistake());
  return record;
}

template <class T>
Result<T> decode(std::string_view text) {
  const auto parsed = json::parse(text);
  if (!parsed) return parsed.error();
  return from_value<T>(*parsed);
}

// The bytes that follow a status other than OK. Plain text is taken as the message.
std::string encode_failure(const Error& error);
Error decode_failure(muster_status status, std::string_view body);

}  // namespace muster

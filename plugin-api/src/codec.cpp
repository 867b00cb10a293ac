#include <cctype>
#include <charconv>
#include <cstdio>

#include <muster/codec.hpp>

namespace muster {

std::string format_time(Time time) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  char text[40];
  const int size = std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return {text, static_cast<std::size_t>(size)};
}

namespace {

// Reads exactly `digits` digits at the front of `text`.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (!std::isdigit(static_cast<unsigned char>(c))) return std::nullopt;
    number = 10 * number + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take_char(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::chrono::milliseconds> take_fraction(std::string_view& text) {
  int value = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits])); ++digits)
    if (digits < 3) value = 10 * value + (text[digits] - '0');
  if (digits == 0) return std::nullopt;
  for (std::size_t i = digits; i < 3; ++i) value *= 10;
  text.remove_prefix(digits);
  return std::chrono::milliseconds(value);
}

std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take_char(text, "Zz")) return std::chrono::minutes(0);
  const bool west = !text.empty() && text.front() == '-';
  if (!take_char(text, "+-")) return std::nullopt;
  const auto hours = take_number(text, 2);
  if (!hours || !take_char(text, ":")) return std::nullopt;
  const auto minutes = take_number(text, 2);
  if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset(60 * *hours + *minutes);
  return west ? -offset : offset;
}

}  // namespace

std::optional<Time> parse_time(std::string_view text) {
  using namespace std::chrono;
  const auto y = take_number(text, 4);
  if (!y || !take_char(text, "-")) return std::nullopt;
  const auto m = take_number(text, 2);
  if (!m || !take_char(text, "-")) return std::nullopt;
  const auto d = take_number(text, 2);
  if (!d || !take_char(text, "Tt ")) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || !take_char(text, ":")) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || !take_char(text, ":")) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second) return std::nullopt;
  milliseconds fraction{0};
  if (take_char(text, ".")) {
    const auto read = take_fraction(text);
    if (!read) return std::nullopt;
    fraction = *read;
  }
  const auto offset = take_offset(text);
  const year_month_day date(year(*y), month(static_cast<unsigned>(*m)),
                            day(static_cast<unsigned>(*d)));
  if (!offset || !text.empty() || !date.ok() || *hour > 23 || *minute > 59 || *second > 60)
    return std::nullopt;
  return Time(sys_days(date)) + hours(*hour) + minutes(*minute) + seconds(*second) + fraction -
         *offset;
}

namespace codec {

json::value to_value(const ErrorScope& scope) {
  json::object object;
  put(object, "region", scope.region);
  put(object, "zone", scope.zone);
  put(object, "instanceType", scope.instance_type);
  put(object, "launchConfigId", scope.launch_config_id);
  return object;
}

json::value to_value(const Error& error) {
  json::object object;
  object.emplace("class", to_string(error.error_class));
  object.emplace("message", error.message);
  if (!error.scope.whole_provider()) object.emplace("scope", to_value(error.scope));
  if (error.hold) object.emplace("holdSeconds", std::int64_t{error.hold->count()});
  if (!error.code.empty()) object.emplace("code", error.code);
  return object;
}

void Reader::fail(std::string reason) {
  if (failed()) return;
  const std::string_view path =
      path_.starts_with('.') ? std::string_view(path_).substr(1) : std::string_view(path_);
  mistake_ = path.empty() ? std::move(reason) : std::string(path) + ": " + reason;
}

void Reader::expected(std::string_view what, const json::value& got) {
  const auto kind = [&]() -> std::string_view {
    switch (got.kind()) {
      case boost::json::kind::null:
        return "null";
      case boost::json::kind::bool_:
        return "a boolean";
      case boost::json::kind::string:
        return "a string";
      case boost::json::kind::array:
        return "an array";
      case boost::json::kind::object:
        return "an object";
      default:
        return "the number ";
    }
  }();
  fail("expected " + std::string(what) + ", got " + std::string(kind) +
       (got.is_number() ? json::write(got) : ""));
}

void Reader::read(const json::value& from, std::string& to) {
  if (!from.is_string()) return expected("a string", from);
  to.assign(from.get_string().data(), from.get_string().size());
}

void Reader::read(const json::value& from, bool& to) {
  if (!from.is_bool()) return expected("a boolean", from);
  to = from.get_bool();
}

void Reader::read(const json::value& from, std::int64_t& to) {
  if (from.is_int64()) return void(to = from.get_int64());
  const double number = from.is_double() ? from.get_double() : std::nan("");
  if (std::trunc(number) != number || std::abs(number) > 9007199254740992.0)
    return expected("a whole number", from);
  to = static_cast<std::int64_t>(number);  // 5.0 is the number five
}

void Reader::read(const json::value& from, std::uint64_t& to) {
  if (from.is_uint64()) return void(to = from.get_uint64());
  std::int64_t number = -1;
  if (from.is_number()) read(from, number);
  if (!failed() && number < 0) return expected("a whole number from 0", from);
  to = static_cast<std::uint64_t>(number);
}

void Reader::read(const json::value& from, double& to) {
  if (!from.is_number()) return expected("a number", from);
  to = from.to_number<double>();
}

void Reader::read(const json::value& from, json::object& to) {
  if (!from.is_object()) return expected("an object", from);
  to = from.get_object();
}

void Reader::read(const json::value& from, Time& to) {
  if (!from.is_string()) return expected("a time like 2026-01-02T03:04:05Z", from);
  const auto time = parse_time(from.get_string());
  if (!time)
    return fail("\"" + std::string(from.get_string()) +
                "\" is not a time like 2026-01-02T03:04:05Z");
  to = *time;
}

void Reader::read(const json::value& from, ErrorScope& to) {
  if (!from.is_object()) return expected("an object", from);
  const json::object& object = from.get_object();
  take(object, "region", to.region, false);
  take(object, "zone", to.zone, false);
  take(object, "instanceType", to.instance_type, false);
  take(object, "launchConfigId", to.launch_config_id, false);
}

void Reader::read(const json::value& from, Error& to) {
  if (!from.is_object()) return expected("an object", from);
  const json::object& object = from.get_object();
  std::string word;
  std::optional<std::int64_t> hold;
  take(object, "class", word, true);
  take(object, "message", to.message, true);
  take(object, "scope", to.scope, false);
  take(object, "holdSeconds", hold, false);
  take(object, "code", to.code, false);
  if (failed()) return;
  const auto error_class = error_class_from(word);
  if (!error_class) return fail("\"" + word + "\" is not a class of errors");
  to.error_class = *error_class;
  if (hold) to.hold = std::chrono::seconds(*hold);
}

}  // namespace codec

std::string encode_failure(const Error& error) {
  return json::write(codec::to_value(error));
}

Error decode_failure(muster_status status, std::string_view body) {
  const bool known = status >= MUSTER_INVALID && status <= MUSTER_INTERNAL;
  Error plain{known ? ErrorClass(status) : ErrorClass::internal, std::string(body)};
  if (!known) plain.message = "unknown status " + std::to_string(status) + ": " + plain.message;
  if (!body.starts_with('{')) return plain;
  auto parsed = json::parse_object(body);
  if (!parsed) return plain;
  parsed->insert_or_assign("class", to_string(plain.error_class));  // the status decides
  Error error;
  codec::Reader reader;
  reader.read(json::value(std::move(*parsed)), error);
  return reader.failed() ? plain : error;
}

}  // namespace muster

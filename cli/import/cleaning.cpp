#include "cli/import/cleaning.hpp"

#include <muster/rules/document.hpp>
#include <muster/rules/lint.hpp>
#include <muster/utf8.hpp>

namespace muster::importing {
namespace {

constexpr int deepest = 24;  // rules are nested, too
constexpr std::size_t longest_key = 256, most_bytes = 512 * 1024;

std::string as_configuration(json::value value, std::string_view name) {
  return json::write(json::object{
      {"workerTypes", json::array{"w"}},
      {"rules", json::array{json::object{{"ruleId", "r"},
                                         {"description", "d"},
                                         {"values", json::object{{name, std::move(value)}}}}}}});
}

// By the search that warns of secrets in worker configurations. Its reason; empty: none.
std::string secret_in(const json::value& value, std::string_view name) {
  const auto parsed = rules::parse_json(as_configuration(value, name), "imported.json");
  const auto document = parsed.document ? parsed.document : parsed.incomplete;
  if (!document) return "";
  const auto found = rules::find_secrets(*document);
  return found.empty() ? "" : found.front().reason;
}

bool is_text(std::string_view text) {
  std::string plain;
  for (const char c : text)
    if (c != '\n' && c != '\t' && c != '\r') plain += c;
  return is_plain_text(plain);
}

class Cleaner {
 public:
  Cleaner(const Lost& lost, bool has_secrets) : lost_(lost), has_secrets_(has_secrets) {}

  Result<json::object> table(const json::object& given, const std::string& path, int depth) {
    json::object kept;
    for (const auto& [key, value] : given) {
      if (key.empty() || key.size() > longest_key || !is_plain_text(key))
        return Error::invalid((path.empty() ? "it" : path) +
                              " has a key that is empty, too long or no plain text");
      const std::string here = path.empty() ? std::string(key) : path + "." + std::string(key);
      auto cleaned = one(value, key, here, depth);
      if (!cleaned) return cleaned.error();
      if (*cleaned) kept[key] = std::move(**cleaned);
    }
    return kept;
  }

 private:
  // Nothing if it is left out.
  Result<std::optional<json::value>> one(const json::value& value, std::string_view name,
                                         const std::string& path, int depth) {
    using Kept = std::optional<json::value>;
    if (depth > deepest) return Error::invalid(path + " is nested too deep");
    if (value.is_null()) {
      lost_(path, "TOML has no null; where it means something, say what it means");
      return Kept();
    }
    if (value.is_uint64()) return Error::invalid(path + " is a number that is too large");
    if (const auto* members = value.if_object()) {
      auto cleaned = table(*members, path, depth + 1);
      if (!cleaned) return cleaned.error();
      return Kept(std::move(*cleaned));
    }
    if (const auto* items = value.if_array()) return list(*items, name, path, depth);
    if (!value.is_string()) return Kept(value);
    const std::string_view text = value.get_string();
    if (!is_text(text)) return Error::invalid(path + " has control characters");
    if (const std::string secret = has_secrets_ ? secret_in(value, name) : ""; !secret.empty()) {
      lost_(path, secret +
                      "; it is not written into a file: let workers fetch it after they "
                      "registered");
      return Kept();
    }
    return Kept(value);
  }

  Result<std::optional<json::value>> list(const json::array& items, std::string_view name,
                                          const std::string& path, int depth) {
    json::array kept;
    for (std::size_t i = 0; i < items.size(); ++i) {
      auto cleaned = one(items[i], name, path + "[" + std::to_string(i) + "]", depth + 1);
      if (!cleaned) return cleaned.error();
      if (*cleaned) kept.push_back(std::move(**cleaned));
    }
    return std::optional<json::value>(std::move(kept));
  }

  const Lost& lost_;
  const bool has_secrets_;
};

}  // namespace

Result<json::object> clean(const json::object& document, const Lost& lost) {
  // First without the search for secrets, which reads the whole document as a configuration.
  const Lost nobody = [](const std::string&, const std::string&) {};
  if (const auto allowed = Cleaner(nobody, false).table(document, "", 0); !allowed)
    return allowed.error();
  if (json::write(document).size() > most_bytes)
    return Error::invalid("it has more than " + std::to_string(most_bytes) + " bytes");
  return Cleaner(lost, !secret_in(document, "imported").empty()).table(document, "", 0);
}

}  // namespace muster::importing

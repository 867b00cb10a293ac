#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "key_path.hpp"
#include "lint_parts.hpp"

namespace muster::rules {
namespace {

using std::string_view;

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alphanumeric(char c) {
  return is_upper(c) || is_lower(c) || is_digit(c);
}
bool is_upper_or_digit(char c) {
  return is_upper(c) || is_digit(c);
}
bool is_token(char c) {
  return is_alphanumeric(c) || c == '_' || c == '-';
}
bool is_base64(char c) {
  return is_alphanumeric(c) || c == '+' || c == '/' || c == '=';
}

// Tokens that announce themselves: a fixed beginning and enough characters of one kind after it.
struct Shape {
  string_view prefix;
  bool (*allowed)(char);
  std::size_t length;  // at least, after the prefix
  string_view name;
};

constexpr std::array shapes = {
    Shape{"AKIA", is_upper_or_digit, 16, "an AWS access key"},
    Shape{"ASIA", is_upper_or_digit, 16, "an AWS access key"},
    Shape{"ghp_", is_alphanumeric, 36, "a GitHub token"},
    Shape{"gho_", is_alphanumeric, 36, "a GitHub token"},
    Shape{"ghu_", is_alphanumeric, 36, "a GitHub token"},
    Shape{"ghs_", is_alphanumeric, 36, "a GitHub token"},
    Shape{"ghr_", is_alphanumeric, 36, "a GitHub token"},
    Shape{"github_pat_", is_token, 22, "a GitHub token"},
    Shape{"glpat-", is_token, 20, "a GitLab token"},
    Shape{"xoxb-", is_token, 10, "a Slack token"},
    Shape{"xoxp-", is_token, 10, "a Slack token"},
    Shape{"xoxa-", is_token, 10, "a Slack token"},
    Shape{"AIza", is_token, 35, "a Google API key"},
    Shape{"ya29.", is_token, 20, "a Google access token"},
    Shape{"sk_live_", is_alphanumeric, 16, "a Stripe key"},
    Shape{"npm_", is_alphanumeric, 36, "an npm token"},
    Shape{"pypi-", is_token, 50, "a PyPI token"},
    Shape{"hvs.", is_token, 24, "a Vault token"},
    Shape{"AccountKey=", is_base64, 40, "an Azure storage key"},
    Shape{"eyJ", is_token, 20, "a JSON web token"},  // and a second part, see find_token
};

std::optional<string_view> find_token(string_view text) {
  for (const Shape& shape : shapes) {
    for (auto at = text.find(shape.prefix); at != string_view::npos;
         at = text.find(shape.prefix, at + 1)) {
      if (at > 0 && is_alphanumeric(text[at - 1])) continue;
      const string_view rest = text.substr(at + shape.prefix.size());
      const auto end = std::find_if_not(rest.begin(), rest.end(), shape.allowed);
      if (static_cast<std::size_t>(end - rest.begin()) < shape.length) continue;
      const string_view behind = rest.substr(static_cast<std::size_t>(end - rest.begin()));
      if (shape.prefix == "eyJ" && !behind.starts_with(".eyJ")) continue;
      return shape.name;
    }
  }
  const auto begin = text.find("-----BEGIN ");
  if (begin != string_view::npos && text.find("PRIVATE KEY", begin) != string_view::npos)
    return "a private key";
  return std::nullopt;
}

// `${NAME}`, `<password>`, `vault:path`, `arn:...`: says where the secret is, not what it is.
bool is_reference(string_view text) {
  for (const string_view mark : {"${", "{{", "$(", "<%"})
    if (text.find(mark) != string_view::npos) return true;
  for (const string_view prefix :
       {"<", "$", "%", "/", "./", "~/", "arn:", "vault:", "secret:", "secrets/", "projects/",
        "env:", "file:", "op://", "ssm:", "secret://", "vault://", "http://", "https://"})
    if (text.starts_with(prefix)) return true;
  return text.empty() || std::all_of(text.begin(), text.end(), [](char c) {
           return c == '*' || c == 'x' || c == 'X' || c == '.';
         });
}

// scheme://user:password@host
bool has_password_in_url(string_view text) {
  const auto scheme = text.find("://");
  if (scheme == string_view::npos) return false;
  const string_view rest = text.substr(scheme + 3);
  const string_view authority = rest.substr(0, rest.find_first_of("/?# \n"));
  const auto at = authority.rfind('@');
  const auto colon = authority.find(':');
  return at != string_view::npos && colon < at && at - colon > 1 &&
         !is_reference(authority.substr(colon + 1, at - colon - 1));
}

double bits_per_character(string_view text) {
  std::array<int, 256> counts{};
  for (const char c : text) ++counts[static_cast<unsigned char>(c)];
  double bits = 0;
  for (const int count : counts) {
    if (!count) continue;
    const double share = count / static_cast<double>(text.size());
    bits -= share * std::log2(share);
  }
  return bits;
}

// Words and identifiers repeat letters and hold few digits; keys do neither.
bool looks_random(string_view text) {
  if (text.size() < 16 || text.find(' ') != string_view::npos) return false;
  const auto digits = std::count_if(text.begin(), text.end(), is_digit);
  const bool lower = std::any_of(text.begin(), text.end(), is_lower);
  const bool upper = std::any_of(text.begin(), text.end(), is_upper);
  const bool mixed = digits >= 2 ? lower || upper : digits == 1 && lower && upper;
  return mixed && bits_per_character(text) > 3.2;
}

// `dbPassword`, `db_password` → "db password"
std::string words_of(string_view name) {
  std::string words;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!is_alphanumeric(c)) {
      words += ' ';
      continue;
    }
    if (is_upper(c) && i > 0 && !is_upper(name[i - 1])) words += ' ';
    words += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return " " + words + " ";
}

enum class Suspicion { none, secret, password };

Suspicion suspicion_of(string_view name) {
  const std::string words = words_of(name);
  for (const string_view harmless :
       {" name ", " id ", " ref ", " path ", " arn ", " url ", " uri ", " file ", " env ", " type ",
        " ttl ", " timeout ", " expires ", " length ", " policy ", " public "})
    if (words.find(harmless) != std::string::npos) return Suspicion::none;
  for (const string_view word : {" password ", " passwd ", " passphrase ", " pwd "})
    if (words.find(word) != std::string::npos) return Suspicion::password;
  for (const string_view word :
       {" secret ", " secrets ", " token ", " credential ", " credentials ", " api key ",
        " apikey ", " access key ", " private key ", " auth key ", " account key ", " signing key ",
        " encryption key ", " client secret "})
    if (words.find(word) != std::string::npos) return Suspicion::secret;
  return Suspicion::none;
}

class SecretSearch {
 public:
  explicit SecretSearch(Warnings& warnings) : warnings_(warnings) {}

  void search(const Node& node, const KeyPath& key, string_view name) {
    if (const auto* members = node.table()) {
      for (const Member& member : *members)
        search(member.node, KeyPath(key, member.name), member.name);
    } else if (const auto* items = node.array()) {
      for (std::size_t i = 0; i < items->size(); ++i) search((*items)[i], KeyPath(key, i), name);
    } else if (const auto* text = node.scalar()->if_string()) {
      judge({text->data(), text->size()}, node, key, name);
    }
  }

 private:
  void judge(string_view text, const Node& node, const KeyPath& key, string_view name) {
    if (const auto token = find_token(text))
      return report(node, key, "it looks like " + std::string(*token));
    if (has_password_in_url(text)) return report(node, key, "the address holds a password");
    const Suspicion suspicion = suspicion_of(name);
    if (suspicion == Suspicion::none || is_reference(text)) return;
    if (suspicion == Suspicion::password)
      return report(node, key, "this is a password in plain text");
    if (looks_random(text))
      report(node, key, "by its name and its form this is a secret in plain text");
  }

  // The secret itself is not repeated: reports end up in logs.
  void report(const Node& node, const KeyPath& key, std::string reason) {
    warnings_.add(node.key, key.text(), std::move(reason),
                  "everybody who reads the repository sees it: revoke it, and let workers fetch "
                  "their secrets after they registered",
                  "secret");
  }

  Warnings& warnings_;
};

}  // namespace

void lint_secrets(Warnings& warnings) {
  SecretSearch search(warnings);
  const Document& document = warnings.document();
  for (std::size_t i = 0; i < document.rules.size(); ++i) {
    const std::string beginning = rule_key(i) + ".values";
    search.search(document.rules[i].values, KeyPath(beginning), "");
  }
}

}  // namespace muster::rules

#include "host/identifiers/identifiers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <muster/utf8.hpp>

namespace muster::identifiers {
namespace {

constexpr std::size_t longest_name = 38, longest_client_id = 1024, longest_plugin_name = 64,
                      longest_number = 18, longest_text = 4096;

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_letter(char c) {
  return is_small(c) || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_name(std::string_view text) {
  const auto inside = [](char c) { return is_digit(c) || is_letter(c) || c == '-' || c == '_'; };
  return !text.empty() && text.size() <= longest_name && std::ranges::all_of(text, inside);
}

bool is_worker_type(std::string_view text) {
  const auto inside = [](char c) { return is_small(c) || is_digit(c) || c == '-'; };
  return !text.empty() && text.size() <= longest_name && is_small(text.front()) &&
         text.back() != '-' && std::ranges::all_of(text, inside);
}

bool is_worker_pool_id(std::string_view text) {
  const auto slash = text.find('/');
  return slash != std::string_view::npos && is_name(text.substr(0, slash)) &&
         is_worker_type(text.substr(slash + 1));
}

bool is_client_id(std::string_view text) {
  constexpr std::string_view others = "!@/:.+|_-";
  const auto inside = [&](char c) {
    return is_letter(c) || is_digit(c) || others.find(c) != others.npos;
  };
  return !text.empty() && text.size() <= longest_client_id && std::ranges::all_of(text, inside);
}

bool is_plugin_id(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view kind = text.substr(0, slash), of_kind = text.substr(slash + 1);
  const auto inside = [](char c) {
    return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
  };
  return (kind == "provider" || kind == "strategy") && !of_kind.empty() &&
         of_kind.size() <= longest_plugin_name && std::ranges::all_of(of_kind, inside);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= longest_number && std::ranges::all_of(text, is_digit);
}

bool is_text(std::string_view text) {
  return text.size() <= longest_text && is_plain_text(text);
}

const Pattern worker_pool_id{R"(/^[a-zA-Z0-9-_]{1,38}\/[a-z]([-a-z0-9]{0,36}[a-z0-9])?$/)",
                             is_worker_pool_id,
                             "of the form provisionerId/workerType: 1 to 38 letters, digits, - and "
                             "_, a slash, and 1 to 38 small letters, digits and -"};
const Pattern worker_type{"/^[a-z]([-a-z0-9]{0,36}[a-z0-9])?$/", is_worker_type,
                          "1 to 38 small letters, digits and -, beginning with a letter"};
const Pattern name{"/^([a-zA-Z0-9-_]{1,38})$/", is_name, "1 to 38 letters, digits, - and _"};
const Pattern launch_config_id{"/^[a-zA-Z0-9-_]{1,38}$/", is_name,
                               "1 to 38 letters, digits, - and _"};
const Pattern client_id{"/^[A-Za-z0-9!@/:.+|_-]+$/", is_client_id,
                        "1 to 1024 letters, digits and !@/:.+|_-"};
const Pattern plugin_id{"/^(provider|strategy)\\/[A-Za-z0-9_.-]{1,64}$/", is_plugin_id,
                        "of the form provider/NAME or strategy/NAME"};
const Pattern number{"/^[0-9]{1,18}$/", is_number, "a number"};
const Pattern text{"/^.{0,4096}$/", is_text, "at most 4096 bytes of text"};

const Pattern* pattern_of(std::string_view parameter) {
  static const std::array<std::pair<std::string_view, const Pattern*>, 16> known{
      {{"workerPoolId", &worker_pool_id},
       {"workerGroup", &name},
       {"workerId", &name},
       {"launchConfigId", &launch_config_id},
       {"providerId", &name},
       {"provisionerId", &name},
       {"workerType", &worker_type},
       {"team", &name},
       {"name", &name},  // of a webhook
       {"clientId", &client_id},
       {"pluginId", &plugin_id},
       {"requestId", &number},
       {"number", &number},
       {"configurationId", &text},
       {"instanceId", &text},
       {"documentPath", &text}}};
  const auto found =
      std::ranges::find(known, parameter, [](const auto& pair) { return pair.first; });
  return found == known.end() ? nullptr : found->second;
}

}  // namespace muster::identifiers

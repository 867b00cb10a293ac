#include "plugins/cloud/machines/user_data.hpp"

#include <array>

#include "lib/hawk/hawk.hpp"
#include "plugins/cloud/json_access.hpp"

namespace muster::cloud {
namespace {

const std::string open = "{{", close = "}}";
// Fields of a template, as the registration document calls them.
constexpr std::array<std::string_view, 5> names{"rootUrl", "workerPoolId", "providerId",
                                                "workerGroup", "launchConfigId"};

std::string fields_in_words() {
  std::string words = "{{registration}}, {{registrationBase64}}";
  for (const std::string_view name : names) words += ", {{" + std::string(name) + "}}";
  return words;
}

std::string key_of(const Words& words) {
  return std::string(words.section) + ".userData";
}

Result<std::string> field(const Words& words, std::string_view name,
                          const json::object& registration) {
  if (name == "registration") return json::write(registration);
  if (name == "registrationBase64") return hawk::base64(json::write(registration));
  for (const std::string_view known : names)
    if (name == known) return text_of(registration, name);
  return Error::invalid(key_of(words) + ": {{" + std::string(name) + "}} is not known; known are " +
                        fields_in_words());
}

Result<std::string> filled(const Words& words, std::string_view text,
                           const json::object& registration) {
  std::string result;
  bool has_registration = false;
  for (std::size_t at = 0;;) {
    const std::size_t begin = text.find(open, at);
    result += text.substr(at, begin - at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = text.find(close, begin);
    if (end == std::string_view::npos)
      return Error::invalid(key_of(words) + ": {{ has no }} after it");
    const std::string_view name = text.substr(begin + open.size(), end - begin - open.size());
    auto value = field(words, name, registration);
    if (!value) return value.error();
    has_registration |= name.starts_with("registration");
    result += *value;
    at = end + close.size();
  }
  if (!has_registration)
    return Error::invalid(
        key_of(words) +
        ": the template has no {{registration}} or {{registrationBase64}}, without "
        "which a worker cannot find its host");
  return result;
}

Result<std::string> compose(const Words& words, const json::value* wanted,
                            const json::object& registration) {
  if (wanted && wanted->is_string()) return filled(words, wanted->get_string(), registration);
  json::object document;
  if (wanted && wanted->is_object()) document = wanted->get_object();
  for (const auto& [key, value] : registration) document[key] = value;
  return json::write(document);
}

std::string too_large(const Words& words, const UserDataLimits& limits, std::size_t size) {
  return "the user data has " + std::to_string(size) + " bytes, and " + words.cloud + " takes " +
         std::to_string(limits.most) + "; make workerConfig or " + key_of(words) +
         " smaller, or let workers fetch what is large";
}

}  // namespace

json::object registration_of(const json::object& registration, const std::string& worker_group,
                             const std::string& launch_config_id) {
  json::object document = registration;
  document["workerGroup"] = worker_group;
  document["launchConfigId"] = launch_config_id;
  return document;
}

Result<std::string> make_user_data(const Words& words, const UserDataLimits& limits,
                                   const Machine& machine, const std::string& launch_config_id,
                                   const json::object& registration) {
  auto text = compose(words, machine.user_data,
                      registration_of(registration, machine.region, launch_config_id));
  if (!text) return Error::config(text.error().message).of_launch_config(launch_config_id);
  if (text->size() > limits.most)
    return Error::config(too_large(words, limits, text->size())).of_launch_config(launch_config_id);
  return text;
}

Result<void> check_user_data(const Words& words, const UserDataLimits& limits,
                             const json::object& section, const json::object& document) {
  const json::value* wanted = section.if_contains("userData");
  json::object registration;
  if (const json::value* config = document.if_contains("workerConfig"))
    registration["workerConfig"] = *config;
  if (wanted && wanted->is_object())
    for (const char* key :
         {"rootUrl", "workerPoolId", "providerId", "workerGroup", "launchConfigId", "workerConfig"})
      if (wanted->get_object().contains(key))
        return Error::invalid(key_of(words) + "." + key + ": muster sets it; remove it");
  const auto text = compose(words, wanted, registration);
  if (!text) return text.error();
  if (text->size() > limits.most)
    return Error::invalid(key_of(words) + ": " + too_large(words, limits, text->size()));
  return {};
}

json::object user_data_schema() {
  return {{"type", json::array{"object", "string"}},
          {"description",
           "A table: added to the user data that muster writes. A text: the user data, in which "
           "{{registration}} is filled in"}};
}

}  // namespace muster::cloud

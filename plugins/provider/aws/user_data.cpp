#include "plugins/provider/aws/user_data.hpp"

#include <array>

#include <openssl/evp.h>

#include "plugins/provider/aws/json_access.hpp"

namespace muster::aws {
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

Result<std::string> field(std::string_view name, const json::object& registration) {
  if (name == "registration") return json::write(registration);
  if (name == "registrationBase64") return base64(json::write(registration));
  for (const std::string_view known : names)
    if (name == known) return text_of(registration, name);
  return Error::invalid("aws.userData: {{" + std::string(name) + "}} is not known; known are " +
                        fields_in_words());
}

Result<std::string> filled(std::string_view text, const json::object& registration) {
  std::string result;
  bool has_registration = false;
  for (std::size_t at = 0;;) {
    const std::size_t begin = text.find(open, at);
    result += text.substr(at, begin - at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = text.find(close, begin);
    if (end == std::string_view::npos) return Error::invalid("aws.userData: {{ has no }} after it");
    const std::string_view name = text.substr(begin + open.size(), end - begin - open.size());
    auto value = field(name, registration);
    if (!value) return value.error();
    has_registration |= name.starts_with("registration");
    result += *value;
    at = end + close.size();
  }
  if (!has_registration)
    return Error::invalid(
        "aws.userData: the template has no {{registration}} or {{registrationBase64}}, without "
        "which a worker cannot find its host");
  return result;
}

Result<std::string> compose(const json::value* wanted, const json::object& registration) {
  if (wanted && wanted->is_string()) return filled(wanted->get_string(), registration);
  json::object document;
  if (wanted && wanted->is_object()) document = wanted->get_object();
  for (const auto& [key, value] : registration) document[key] = value;
  return json::write(document);
}

std::string too_large(std::size_t size) {
  return "the user data has " + std::to_string(size) + " bytes, and EC2 takes " +
         std::to_string(most_user_data) +
         "; make workerConfig or aws.userData smaller, or let workers fetch what is large";
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

Result<std::string> make_user_data(const Machine& machine, const std::string& launch_config_id,
                                   const json::object& registration) {
  json::object document = registration;
  document["workerGroup"] = machine.region;
  document["launchConfigId"] = launch_config_id;
  auto text = compose(machine.user_data, document);
  if (!text) return Error::config(text.error().message).of_launch_config(launch_config_id);
  if (text->size() > most_user_data)
    return Error::config(too_large(text->size())).of_launch_config(launch_config_id);
  return text;
}

Result<void> check_user_data(const json::object& section, const json::object& document) {
  const json::value* wanted = section.if_contains("userData");
  json::object registration;
  if (const json::value* config = document.if_contains("workerConfig"))
    registration["workerConfig"] = *config;
  if (wanted && wanted->is_object())
    for (const char* key :
         {"rootUrl", "workerPoolId", "providerId", "workerGroup", "launchConfigId", "workerConfig"})
      if (wanted->get_object().contains(key))
        return Error::invalid(std::string("aws.userData.") + key + ": muster sets it; remove it");
  const auto text = compose(wanted, registration);
  if (!text) return text.error();
  if (text->size() > most_user_data)
    return Error::invalid("aws.userData: " + too_large(text->size()));
  return {};
}

}  // namespace muster::aws

#include "plugins/provider/aws/credentials.hpp"

#include <charconv>
#include <cstdlib>

#include "lib/base/secret_file.hpp"
#include "plugins/provider/aws/credential_sources.hpp"
#include "plugins/provider/aws/shared_files.hpp"

namespace muster::aws {
namespace {

constexpr int deepest_profile = 5;

Time end_of_file_life(const Context& context) {
  return context.now() + file_life;
}

std::string value_of(const Profile& profile, const char* key) {
  const auto found = profile.find(key);
  return found == profile.end() ? std::string() : found->second;
}

std::optional<FetchedCredentials> keys_of(const Profile& profile, const Context& context) {
  if (value_of(profile, "aws_access_key_id").empty() ||
      value_of(profile, "aws_secret_access_key").empty())
    return std::nullopt;
  return FetchedCredentials{
      .value = {.access_key_id = value_of(profile, "aws_access_key_id"),
                .secret_access_key = Secret(value_of(profile, "aws_secret_access_key")),
                .session_token = Secret(value_of(profile, "aws_session_token"))},
      .end = end_of_file_life(context)};
}

// Those of the settings, of the environment, of the home folder.
SharedFiles shared_files(const CredentialsParts& parts) {
  const CredentialsSettings& settings = parts.settings.credentials;
  const auto home = parts.environment("HOME");
  const auto path = [&](const std::string& configured, const char* variable, const char* name) {
    if (!configured.empty()) return configured;
    if (const auto set = parts.environment(variable)) return *set;
    return home && !home->empty() ? *home + "/.aws/" + name : std::string();
  };
  return {path(settings.config_file, "AWS_CONFIG_FILE", "config"),
          path(settings.credentials_file, "AWS_SHARED_CREDENTIALS_FILE", "credentials")};
}

// A profile and those that it names.
class ProfileReader {
 public:
  ProfileReader(const CredentialsParts& parts, const Context& context)
      : parts_(parts), files_(shared_files(parts)), context_(context) {}

  Result<FetchedCredentials> fetch(const std::string& name, int depth = 0) {
    if (depth > deepest_profile)
      return Error::auth("the profile " + name + " is one of a circle of source_profile");
    const auto profile = read_profile(files_, name);
    if (!profile && profile.error().error_class == ErrorClass::not_found)
      return Error::auth(profile.error().message);
    if (!profile) return profile.error();
    const std::string who = "the profile " + name;
    if (!value_of(*profile, "role_arn").empty()) return role(*profile, name, who, depth);
    if (auto keys = keys_of(*profile, context_)) return std::move(*keys);
    if (auto fetched = from_process_or_login(*profile, name, context_)) return std::move(*fetched);
    return Error::auth(who +
                       " has neither aws_access_key_id and aws_secret_access_key nor "
                       "role_arn");
  }

 private:
  Result<FetchedCredentials> role(const Profile& profile, const std::string& name,
                                  const std::string& who, int depth) {
    if (const std::string token = value_of(profile, "web_identity_token_file"); !token.empty()) {
      WebIdentity identity{.role_arn = value_of(profile, "role_arn"), .token_file = token};
      if (const std::string session = value_of(profile, "role_session_name"); !session.empty())
        identity.session_name = session;
      return from_web_identity(parts_, identity, context_);
    }
    if (!value_of(profile, "mfa_serial").empty())
      return Error::auth(who +
                         " wants a code of a person's device (mfa_serial); a service has none");
    AssumeRole role{.arn = value_of(profile, "role_arn"),
                    .external_id = value_of(profile, "external_id")};
    if (const std::string session = value_of(profile, "role_session_name"); !session.empty())
      role.session_name = session;
    if (const std::string duration = value_of(profile, "duration_seconds"); !duration.empty())
      std::from_chars(duration.data(), duration.data() + duration.size(), role.duration_seconds);
    auto base = base_of(profile, name, who, depth);
    if (!base) return base.error();
    return from_role(
        parts_, role, [&](const Context&) -> Result<FetchedCredentials> { return *base; },
        context_);
  }

  // What signs the call that assumes the role.
  Result<FetchedCredentials> base_of(const Profile& profile, const std::string& name,
                                     const std::string& who, int depth) {
    if (const std::string source = value_of(profile, "source_profile"); !source.empty()) {
      if (source != name) return fetch(source, depth + 1);
      if (auto keys = keys_of(profile, context_)) return std::move(*keys);
      return Error::auth(who + " is its own source_profile and has no keys");
    }
    const std::string source = value_of(profile, "credential_source");
    if (source == "Environment") {
      if (auto found = from_environment(parts_.environment)) return std::move(*found);
      return Error::auth(who + " takes its keys from the environment, where there are none");
    }
    if (source == "EcsContainer") {
      if (auto found = from_container(parts_, context_)) return std::move(*found);
      return Error::auth(who + " takes its keys from a container, and this is none");
    }
    if (source == "Ec2InstanceMetadata") return from_instance(parts_, context_);
    return Error::auth(who +
                       " has role_arn, but neither source_profile nor a credential_source of "
                       "Environment, EcsContainer and Ec2InstanceMetadata");
  }

  const CredentialsParts& parts_;
  const SharedFiles files_;
  const Context& context_;
};

}  // namespace

Result<FetchedCredentials> from_own_chain(const CredentialsParts& parts, const Context& context) {
  const Environment& environment = parts.environment;
  if (auto found = from_environment(environment)) return std::move(*found);
  const auto token_file = environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  const auto role_arn = environment("AWS_ROLE_ARN");
  if (token_file && role_arn)
    return from_web_identity(
        parts, {*role_arn, *token_file, environment("AWS_ROLE_SESSION_NAME").value_or("muster")},
        context);
  const auto profile = environment("AWS_PROFILE");
  const auto found = read_profile(shared_files(parts), profile.value_or("default"));
  if (profile || found || found.error().error_class != ErrorClass::not_found)
    return from_profile(parts, profile.value_or("default"), context);
  if (auto in_container = from_container(parts, context)) return std::move(*in_container);
  auto of_instance = from_instance(parts, context);
  if (of_instance || of_instance.error().error_class == ErrorClass::cancelled) return of_instance;
  return Error::auth(
      "there are no AWS credentials: no AWS_ACCESS_KEY_ID and no AWS_WEB_IDENTITY_TOKEN_FILE in "
      "the "
      "plugin's environment (it has only the variables that `environment` of the provider "
      "names), " +
      found.error().message + ", no container's, and " + of_instance.error().message +
      "; configure `credentials` of the provider");
}

std::optional<FetchedCredentials> from_environment(const Environment& environment) {
  const auto id = environment("AWS_ACCESS_KEY_ID"), key = environment("AWS_SECRET_ACCESS_KEY");
  if (!id || !key || id->empty() || key->empty()) return std::nullopt;
  return FetchedCredentials{
      .value = {.access_key_id = *id,
                .secret_access_key = Secret(*key),
                .session_token = Secret(environment("AWS_SESSION_TOKEN").value_or(""))}};
}

Result<FetchedCredentials> from_static_keys(const CredentialsParts& parts, const StaticKeys& keys,
                                            const Context& context) {
  if (keys.file.empty()) {
    const Environment renamed = [&](const std::string& name) -> std::optional<std::string> {
      const std::string& variable = name == "AWS_ACCESS_KEY_ID" ? keys.access_key_id_environment
                                    : name == "AWS_SECRET_ACCESS_KEY"
                                        ? keys.secret_access_key_environment
                                        : keys.session_token_environment;
      return variable.empty() ? std::nullopt : parts.environment(variable);
    };
    if (auto found = from_environment(renamed)) return std::move(*found);
    return Error::auth("the environment variables " + keys.access_key_id_environment + " and " +
                       keys.secret_access_key_environment +
                       " are not both set here; a plugin's process gets only those that "
                       "`environment` of the provider names");
  }
  const auto text = read_secret_file(keys.file, "the AWS keys", SecretText::document);
  if (!text) return Error::auth(text.error().message);
  if (text->reveal().starts_with('{')) {
    const auto document = json::parse_object(text->reveal());
    if (!document) return Error::auth("the file " + keys.file + " is not JSON");
    auto read = read_credentials(*document, "the file " + keys.file);
    if (read && !read->end) read->end = end_of_file_life(context);
    return read;
  }
  const Profiles profiles = parse_profiles(text->reveal(), SharedFile::credentials);
  const auto found = profiles.find("default");
  if (found != profiles.end())
    if (auto read = keys_of(found->second, context)) return std::move(*read);
  return Error::auth("the file " + keys.file +
                     " has no aws_access_key_id and aws_secret_access_key in [default]");
}

Result<FetchedCredentials> from_profile(const CredentialsParts& parts, const std::string& name,
                                        const Context& context) {
  return ProfileReader(parts, context).fetch(name);
}

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

CredentialsCache::Fetch credentials_fetch(const CredentialsParts& parts) {
  auto fetch_base = [parts](const Context& context) -> Result<FetchedCredentials> {
    const CredentialsSettings& settings = parts.settings.credentials;
    if (settings.static_keys) return from_static_keys(parts, *settings.static_keys, context);
    if (settings.web_identity) return from_web_identity(parts, *settings.web_identity, context);
    if (!settings.profile.empty()) return from_profile(parts, settings.profile, context);
    return from_default_chain(parts, context);
  };
  if (!parts.settings.credentials.assume_role) return fetch_base;
  return [parts, fetch_base = std::move(fetch_base)](const Context& context) {
    return from_role(parts, *parts.settings.credentials.assume_role, fetch_base, context);
  };
}

}  // namespace muster::aws

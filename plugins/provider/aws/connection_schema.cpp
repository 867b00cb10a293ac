#include "plugins/provider/aws/connection.hpp"

namespace muster::aws {
namespace {

json::object text(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

json::object table(json::object properties, json::array required, const char* description) {
  json::object schema{{"type", "object"},
                      {"additionalProperties", false},
                      {"properties", std::move(properties)},
                      {"description", description}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

json::object credentials_schema() {
  return table(
      {{"profile", text("The name of a profile in AWS's shared files")},
       {"static",
        table(
            {{"file", text("Absolute path of a file with keys, as AWS's credentials file has them; "
                           "only its owner may read it. It is read again every few minutes")},
             {"accessKeyIdEnvironment", text("The environment variable with the access key id")},
             {"secretAccessKeyEnvironment", text("The environment variable with the secret key")},
             {"sessionTokenEnvironment", text("The environment variable with the session token")}},
            {}, "Keys from a file or from the environment; a key itself is never written here")},
       {"webIdentity",
        table({{"roleArn", text("The role to assume")},
               {"tokenFile", text("Absolute path of the token; read for each refresh")},
               {"sessionName", text("The name of the session in AWS's logs; default muster")}},
              {"roleArn", "tokenFile"},
              "A role by a token of an OpenID provider (Kubernetes, CI)")},
       {"assumeRole",
        table({{"arn", text("The role: arn:aws:iam::123456789012:role/name")},
               {"externalId", text("What the role's trust policy wants as sts:ExternalId")},
               {"sessionName", text("The name of the session in AWS's logs; default muster")},
               {"durationSeconds", json::object{{"type", "integer"},
                                                {"minimum", 900},
                                                {"maximum", 43200},
                                                {"default", AssumeRole{}.duration_seconds},
                                                {"description",
                                                 "How long a session lasts; renewed "
                                                 "before its end"}}}},
              {"arn"}, "A role that is assumed with the credentials that the other keys give")},
       {"configFile", text("Absolute path, instead of ~/.aws/config")},
       {"credentialsFile", text("Absolute path, instead of ~/.aws/credentials")},
       {"metadataEndpoint", text("Where the instance metadata is, instead of "
                                 "http://169.254.169.254")}},
      {},
      "At most one of profile, static and webIdentity. None of them: the default chain "
      "(environment, web identity, shared files, container, instance role)");
}

}  // namespace

json::object connection_properties() {
  json::object properties = cloud::reach_properties(
      "Other addresses of services (VPC endpoints, emulators): by service (ec2, sts, sqs, "
      "servicequotas), or by service and region (ec2/us-east-1)",
      "An http(s) URL; {region} in it is replaced");
  properties["credentials"] = credentials_schema();
  return properties;
}

}  // namespace muster::aws

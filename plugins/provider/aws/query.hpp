// The protocols of AWS's APIs: parameters in AWS's own spelling become a request's body, and
// answers become documents in AWS's own spelling. Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>

#include <muster/error.hpp>

#include "plugins/cloud/error_table.hpp"
#include "plugins/provider/aws/model.hpp"

namespace muster::aws {

// The body of a request: a form for the protocols "ec2" and "query", JSON for "json". `invalid` for
// a parameter that the model does not know, that is missing, or has another type; the message
// begins with its path: "BlockDeviceMappings[0].Ebs.VolumeSize: is a string and must be an
// integer".
Result<std::string> write_body(const Service& service, const std::string& action,
                               const json::object& parameters);

// A good answer. Elements that the model does not know are left out; a list that is absent is an
// empty array. `transient` for what is no answer of this action: the message continues a sentence
// that names the server ("sent XML that ends in the middle").
Result<json::object> read_body(const Service& service, const std::string& action,
                               std::string_view body);

// What AWS said about a failed call, in any of its forms. The code is empty if it is none of them.
cloud::CloudError read_error(const Service& service, int status, std::string_view body);

// What an answer is that is none of AWS's, for a message: "a web page (title: Log in)", "nothing".
std::string describe_body(std::string_view body);

}  // namespace muster::aws

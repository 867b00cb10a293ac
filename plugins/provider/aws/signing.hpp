// Signature version 4 of AWS: what is signed, how, and how the header is written. Pure,
// thread-safe.
#pragma once

#include <string>
#include <vector>

#include <muster/context.hpp>

#include "lib/base/secret.hpp"
#include "lib/http_client/message.hpp"

namespace muster::aws {

struct Credentials {
  std::string access_key_id;
  Secret secret_access_key{""};
  Secret session_token{""};  // empty: these are permanent
};

struct SigningScope {
  std::string region, service;  // "us-east-1", "ec2"
  // Of AWS's services only S3 takes a path as it is.
  bool normalize_path = true;
  // Adds X-Amz-Content-Sha256, which some services want.
  bool add_body_hash = false;
};

// What is signed: a request as it is sent.
struct RequestToSign {
  std::string method, path, query;                // the query without its question mark
  std::vector<http_client::Header> headers = {};  // with Host
  std::string body = {};
};

// The texts on the way to a signature, for tests and for people who compare.
struct Signature {
  std::string canonical_request = {}, string_to_sign = {}, signature = {};
  // Of the request, with X-Amz-Date, X-Amz-Security-Token and Authorization, and all of them
  // signed.
  std::vector<http_client::Header> headers = {};
};

Signature sign(const RequestToSign& request, const Credentials& credentials,
               const SigningScope& scope, Time server_time);

}  // namespace muster::aws

// AWS's APIs as the provider sees them: documents in AWS's own spelling in and out.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/json.hpp>

#include "plugins/provider/aws/words.hpp"

namespace muster::aws {

struct Call {
  std::string service;           // "ec2", "sts", "sqs", "servicequotas"
  std::string region;            // "us-east-1"
  std::string action;            // "RunInstances"
  json::object parameters = {};  // as AWS's own documentation spells them
  // AWS takes the same call twice for one: it only reads, or it has a ClientToken. If not, it is
  // sent again only where it surely had no effect.
  bool idempotent = true;
  // What the call is about, for the scope of its errors: zone, instance type, launch configuration.
  // The region need not be set.
  ErrorScope about = {};
};

// THREADS: any, in parallel.
class Api {
 public:
  virtual ~Api() = default;

  // The answer as AWS's own documentation spells it: lists are arrays, also empty ones; numbers and
  // booleans have their types; times are texts ("2026-01-01T00:00:00.000Z"). What AWS leaves out is
  // absent.
  //
  // Errors are classified by the table (errors.json). `code` is AWS's own ("VcpuLimitExceeded"),
  // and the message has AWS's words and the request id. A parameter that the model does not know
  // or has in another type is `invalid`, with its path, and nothing is sent. Trouble without an
  // answer of AWS has the code "noAnswer", and an answer that is none of AWS's the code
  // "badAnswer". DryRun's good end is an error in AWS: its code is "DryRunOperation".
  virtual Result<json::object> call(const Call& call, const Context& context) = 0;

  // How far EC2's clock in the region is ahead of ours, as the answers so far say; nothing if that
  // is not known.
  virtual std::optional<std::chrono::milliseconds> clock_offset(const std::string& /*region*/) {
    return std::nullopt;
  }
};

inline constexpr const char* no_answer_code = "noAnswer";
inline constexpr const char* bad_answer_code = "badAnswer";

}  // namespace muster::aws

// The provider contract: everything the host asks of a cloud or a datacenter. The values that are
// exchanged are in provider_types.hpp.
//
// A provider creates, lists and destroys workers and knows nothing of demand. Its author derives
// from Provider, adds
//   static ProviderDescription describe();  // pure, does no I/O
//   static Result<std::unique_ptr<Provider>> create(const json::object& config, const Context&);
//       // no remote effect
// and exports it with MUSTER_PLUGIN (plugin.hpp). The host sees the same interface through
// whichever transport runs the plugin.
//
// Threads: one call at a time for each object. Errors: each class makes the host react as abi.h
// says; name the narrowest scope that you know. Deadline: watch context.cancelled() in anything
// that lasts.
#pragma once

#include <memory>

#include <muster/provider_types.hpp>

namespace muster {

class Provider {
 public:
  virtual ~Provider() = default;

  // Where this instance can launch. The host evaluates worker configurations for each.
  virtual Result<Placements> placements(const PlacementsRequest&, const Context&) = 0;

  // Checks the provider's section of an evaluated configuration and makes launchable documents of
  // it. A pure function of the request: the same request gives the same documents, or launch
  // configurations would never settle.
  virtual Result<Expansion> expand(const ExpandRequest&, const Context&) = 0;

  // Offers for launch configurations. Promises nothing and launches nothing.
  virtual Result<Bids> bid(const BidRequest&, const Context&) = 0;

  // Launches one worker for each key. A key that was used before launches nothing and answers with
  // the instance of then: the host repeats a call whose answer it lost. Partial success is success.
  virtual Result<Allocation> allocate(const AllocateRequest&, const Context&) = 0;

  // All instances of this owner that are not gone, in few remote calls: never one for each worker.
  // Right after `allocate` it shows what was allocated.
  virtual Result<Listing> list(const ListRequest&, const Context&) = 0;

  // Idempotent: a worker that is gone, or never was, counts as terminated.
  virtual Result<Termination> terminate(const TerminateRequest&, const Context&) = 0;

  // Checks an identity proof. Error::auth: the proof is wrong, and the message says in which
  // respect.
  virtual Result<Identity> identify(const IdentifyRequest&, const Context&) = 0;

  // Instances that will be taken away, and launches that failed later. Optional; offered if
  // capability::notices is in the description.
  virtual Result<Notices> notices(const NoticesRequest&, const Context&) {
    return Error::unsupported("this provider does not offer notices");
  }

  // Tries out, without any effect, what launches need: credentials, permissions, the network path,
  // and what each launch configuration names. What is wrong is a failed check, not an error.
  // Optional; offered if capability::diagnosis is in the description.
  virtual Result<Diagnosis> diagnose(const DiagnoseRequest&, const Context&) {
    return Error::unsupported("this provider does not offer a diagnosis");
  }
};

}  // namespace muster

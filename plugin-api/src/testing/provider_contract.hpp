// The provider's promises, in the order in which the host comes to rely on them.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "findings.hpp"

namespace muster::testing {

class ProviderContract {
 public:
  ProviderContract(Findings& findings, const ContractSubject& subject,
                   const ProviderDescription& description, Channel& channel);

  // False for a provider that only has workers which are announced to the host; some of its
  // machines may be launched all the same, and then it bids for its example section. Known after
  // check_bid().
  bool launches() const;

  // In this order: each builds on what the ones before it found.
  void check_capabilities();
  void check_placements();
  void check_expand();
  void check_bid();
  void check_allocate();
  void check_list();
  void check_launches_nothing();  // in place of the two before
  void check_announced();
  void check_identify();
  void check_diagnosis();
  void check_nothing_more_was_launched();
  void check_terminate();

  // Good requests of all methods that the provider offers. They launch nothing new.
  std::vector<SampleRequest> samples() const;

  // Terminates what is left, whatever went wrong.
  void clean_up();

 private:
  json::object document_with(const json::value& section) const;
  std::vector<IdempotencyKey> keys(std::int64_t count) const;
  AllocateRequest allocate_request(std::vector<IdempotencyKey> keys) const;
  BidRequest bid_request() const;
  std::optional<Instance> listed(const WorkerId& id, std::string& trouble);
  bool offers(std::string_view capability) const;

  Finding expands_purely();
  Finding refuses_wrong_sections();
  Finding bids_within_what_was_asked();
  Finding answers_each_key();
  Finding launches_once_for_a_key();
  Finding lists_what_was_allocated();
  Finding lists_for_its_owner_only();
  Finding announces_sensibly();
  Finding refuses_wrong_proofs();
  Finding refuses_strangers();
  Finding leaves_others_alone();
  Finding terminates();

  Findings& findings_;
  const ContractSubject& subject_;
  const ProviderDescription& description_;
  Channel& channel_;
  ProviderClient provider_;
  FakeContext context_;
  Owner owner_;
  // A cloud remembers the keys of earlier runs.
  const std::string run_ = std::to_string(std::random_device()());

  std::vector<Placement> placements_;
  std::optional<LaunchConfig> launch_config_;  // of the first placement that expands
  json::value bid_data_;
  std::int64_t room_ = 0;  // instances that the provider offered for it
  std::vector<Instance> launched_;
};

}  // namespace muster::testing

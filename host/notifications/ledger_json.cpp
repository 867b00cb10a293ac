// The ledger as a document: for the file that outlives the host, and for its status.
#include <muster/codec.hpp>

#include "host/notifications/ledger.hpp"

namespace muster::notifications {
namespace {

struct Document {
  std::vector<Ledger::Known> conditions = {};
  std::map<std::string, Ledger::Recipient> recipients = {};
  std::vector<Time> sent = {};
  std::int64_t dropped = 0;

  static constexpr auto fields(auto visit) {
    return visit(optional("conditions", &Document::conditions),
                 optional("recipients", &Document::recipients), optional("sent", &Document::sent),
                 optional("dropped", &Document::dropped));
  }
};

}  // namespace

json::object Ledger::to_json() const {
  Document document;
  for (const auto& [key, known] : known_) document.conditions.push_back(known);
  document.recipients = recipients_;
  document.sent.assign(sent_.begin(), sent_.end());
  document.dropped = dropped_;
  return codec::to_value(document).as_object();
}

Ledger Ledger::from_json(const json::object& from, Time now) {
  Ledger ledger;
  auto document = from_value<Document>(json::value(from));
  if (!document) return ledger;
  for (Known& known : document->conditions) {
    known.seen = now;
    Key key{known.condition.cause, known.condition.subject};
    ledger.known_[std::move(key)] = std::move(known);
  }
  ledger.recipients_ = std::move(document->recipients);
  ledger.sent_.assign(document->sent.begin(), document->sent.end());
  ledger.dropped_ = document->dropped;
  return ledger;
}

}  // namespace muster::notifications

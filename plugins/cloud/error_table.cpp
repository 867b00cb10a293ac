#include "plugins/cloud/error_table.hpp"

#include <array>

#include <muster/codec.hpp>

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;

constexpr auto unknown_hold = std::chrono::seconds(3min);
using ScopeMember = std::optional<std::string> ErrorScope::*;
constexpr std::array<std::pair<std::string_view, ScopeMember>, 4> scope_members = {
    {{"region", &ErrorScope::region},
     {"zone", &ErrorScope::zone},
     {"instanceType", &ErrorScope::instance_type},
     {"launchConfig", &ErrorScope::launch_config_id}}};

ScopeMember scope_member(std::string_view name) {
  for (const auto& [known, member] : scope_members)
    if (known == name) return member;
  return nullptr;
}

ErrorClass class_of_status(int status) {
  if (status == 429) return ErrorClass::throttle;
  if (status == 401 || status == 403 || status == 407) return ErrorClass::auth;
  if (status >= 400 && status < 500 && status != 408) return ErrorClass::config;
  return ErrorClass::transient;
}

std::string mistake_in(const ErrorRow& row) {
  if (row.codes.empty()) return "codes: is empty";
  if (!error_class_from(row.error_class))
    return "class: \"" + row.error_class + "\" is no class of errors";
  for (const std::string& name : row.scope)
    if (!scope_member(name)) return "scope: \"" + name + "\" is no part of a scope";
  if (row.hold_seconds && *row.hold_seconds < 0) return "holdSeconds: is negative";
  return {};
}

std::string details(const CloudError& error) {
  std::string text =
      error.code.empty() ? "HTTP status " + std::to_string(error.status) : error.code;
  if (!error.message.empty()) text += ": " + error.message;
  return text;
}

struct Document {
  std::vector<ErrorRow> rows;
  static constexpr auto fields(auto visit) { return visit(required("rows", &Document::rows)); }
};

}  // namespace

Result<ErrorTable> ErrorTable::read(const json::object& document) {
  Document read;
  codec::Reader reader;
  reader.read(json::value(document), read);
  if (reader.failed()) return Error::invalid(reader.mistake());
  ErrorTable table;
  table.rows_ = std::move(read.rows);
  for (std::size_t i = 0; i < table.rows_.size(); ++i) {
    const ErrorRow& row = table.rows_[i];
    const std::string where = "rows[" + std::to_string(i) + "].";
    if (const std::string wrong = mistake_in(row); !wrong.empty())
      return Error::invalid(where + wrong);
    for (const std::string& code : row.codes) {
      const bool is_prefix = code.ends_with('*');
      auto& index = is_prefix ? table.prefixes_ : table.exact_;
      if (!index.try_emplace(code.substr(0, code.size() - is_prefix), i).second)
        return Error::invalid(where + "codes: \"" + code + "\" is there twice");
    }
  }
  return table;
}

const ErrorRow* ErrorTable::find(std::string_view code) const {
  if (const auto found = exact_.find(code); found != exact_.end()) return &rows_[found->second];
  // The longest prefix that fits.
  for (std::size_t size = code.size() + 1; size-- > 0;)
    if (const auto found = prefixes_.find(code.substr(0, size)); found != prefixes_.end())
      return &rows_[found->second];
  return nullptr;
}

Error ErrorTable::classify(const std::string& call, const CloudError& said,
                           const ErrorScope& where) const {
  const ErrorRow* const row = find(said.code);
  Error error;
  error.code = said.code;
  error.message = call + ": " + details(said);
  if (row) {
    error.error_class = *error_class_from(row->error_class);
    for (const std::string& name : row->scope) {
      const ScopeMember member = scope_member(name);
      error.scope.*member = where.*member;
    }
    if (row->hold_seconds) error.hold = std::chrono::seconds(*row->hold_seconds);
    if (!row->advice.empty()) error.message += "; " + row->advice;
  } else {
    error.error_class = class_of_status(said.status);
    error.scope = where;
    error.hold = unknown_hold;
    if (!said.code.empty()) error.message += "; muster does not know the code " + said.code;
  }
  if (!said.request_id.empty()) error.message += " (request " + said.request_id + ")";
  return error;
}

}  // namespace muster::cloud

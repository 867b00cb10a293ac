#include "cli/stored_login.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <muster/json.hpp>
#include <muster/nearest.hpp>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_descriptor.hpp"
#include "lib/base/file_ownership.hpp"

namespace muster::cli {
namespace fs = std::filesystem;

namespace {

constexpr std::size_t longest_stored_file = std::size_t{1} << 20;

constexpr std::array login_members{
    std::pair{"url", &HostAddress::url},
    std::pair{"token", &HostAddress::token},
    std::pair{"clientId", &HostAddress::client_id},
    std::pair{"accessToken", &HostAddress::access_token},
    std::pair{"certificate", &HostAddress::certificate},
    std::pair{"caFile", &HostAddress::ca_file},
};

}  // namespace

Result<fs::path> login_file(const Environment& environment) {
  if (const fs::path folder = environment("XDG_CONFIG_HOME"); folder.is_absolute())
    return folder / "muster/login.json";
  if (const fs::path home = environment("HOME"); home.is_absolute())
    return home / ".config/muster/login.json";
  return Error::invalid("neither XDG_CONFIG_HOME nor HOME says where a login could be stored");
}

Result<fs::path> contexts_file(const Environment& environment) {
  auto file = login_file(environment);
  if (file) file->replace_filename("contexts.json");
  return file;
}

namespace {

// The object in a file that only its owner can read; nothing if there is no file. `how` says what
// to do about a damaged one.
Result<std::optional<json::object>> read_private(const fs::path& file, const char* what,
                                                 const char* how) {
  struct ::stat found {};
  if (::stat(file.c_str(), &found) != 0) return std::optional<json::object>();
  if (const auto ours = check_ownership(found, file, what, OthersMay::nothing, ::geteuid()); !ours)
    return Error::auth(ours.error().message + "; or " + how);
  const auto text = read_file(file, longest_stored_file);
  if (!text) return text.error();
  auto document = json::parse_object(*text);
  if (!document)
    return Error::config(file.string() + " is damaged: " + document.error().message + "; " + how);
  return std::optional(std::move(*document));
}

HostAddress address_from(const json::object& document) {
  HostAddress address;
  for (const auto& [name, member] : login_members)
    if (const json::value* value = document.if_contains(name); value && value->is_string())
      address.*member = value->get_string();
  while (address.url.ends_with('/')) address.url.pop_back();
  return address;
}

json::object to_json(const HostAddress& address) {
  json::object document;
  for (const auto& [name, member] : login_members)
    if (!(address.*member).empty()) document[name] = address.*member;
  return document;
}

Result<void> make_folder_of(const fs::path& file) {
  std::error_code trouble;
  fs::create_directories(file.parent_path(), trouble);
  if (trouble)
    return Error::config(file.parent_path().string() + " cannot be made: " + trouble.message());
  return {};
}

Result<fs::path> write_private(const fs::path& file, const json::object& document) {
  if (const auto made = make_folder_of(file); !made) return made.error();
  if (const auto written = write_file_atomically(file, json::write_pretty(document) + "\n", 0600);
      !written)
    return written.error();
  return file;
}

}  // namespace

Result<std::optional<HostAddress>> read_login(const Environment& environment) {
  const auto file = login_file(environment);
  if (!file) return std::optional<HostAddress>();
  const auto document =
      read_private(*file, "the login", "run `muster logout` and then `muster login`");
  if (!document) return document.error();
  if (!*document) return std::optional<HostAddress>();
  return std::optional(address_from(**document));
}

Result<fs::path> write_login(const HostAddress& address, const Environment& environment) {
  const auto file = login_file(environment);
  if (!file) return file.error();
  return write_private(*file, to_json(address));
}

// -------------------------------------------------------------------------------------------------
// Contexts

bool is_context_name(const std::string& name) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), fits);
}

Result<Contexts> read_contexts(const Environment& environment) {
  Contexts contexts;
  const auto file = contexts_file(environment);
  if (!file) return contexts;
  const auto document =
      read_private(*file, "the list of contexts", "remove it and add the contexts again");
  if (!document) return document.error();
  if (!*document) return contexts;
  if (const json::value* current = (*document)->if_contains("current");
      current && current->is_string())
    contexts.current = current->get_string();
  if (const json::value* all = (*document)->if_contains("contexts"); all && all->is_object())
    for (const auto& [name, context] : all->get_object())
      if (context.is_object()) contexts.all[name] = address_from(context.get_object());
  return contexts;
}

Result<fs::path> change_contexts(const Environment& environment,
                                 const std::function<Result<void>(Contexts&)>& change) {
  const auto file = contexts_file(environment);
  if (!file) return file.error();
  if (const auto made = make_folder_of(*file); !made) return made.error();
  const fs::path lock_file = file->string() + ".lock";
  const FileDescriptor lock(::open(lock_file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (lock.get() < 0 || ::flock(lock.get(), LOCK_EX) != 0)
    return system_error("lock", lock_file, errno);
  auto contexts = read_contexts(environment);
  if (!contexts) return contexts.error();
  if (const auto changed = change(*contexts); !changed) return changed.error();
  json::object all;
  for (const auto& [name, context] : contexts->all) all[name] = to_json(context);
  json::object document{{"contexts", std::move(all)}};
  if (!contexts->current.empty()) document["current"] = contexts->current;
  return write_private(*file, document);
}

Result<HostAddress> find_context(const Contexts& contexts, const std::string& name) {
  if (const auto found = contexts.all.find(name); found != contexts.all.end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& [known, address] : contexts.all) names.push_back(known);
  const auto near = nearest(name, names);
  return Error::not_found("there is no context " + name +
                          (near ? "; did you mean " + *near + "?" : "") +
                          " See: muster context list");
}

}  // namespace muster::cli

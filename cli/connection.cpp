#include "cli/connection.hpp"

#include <cstdio>

#include "cli/terminal.hpp"

namespace muster::cli {

void fail(const Error& error) {
  std::fprintf(stderr, "muster: %s\n", error.message.c_str());
  throw Exit{exit_failed};
}

HostClient connect(const HostOptions& options, std::chrono::seconds deadline) {
  auto host = find_host(options, process_environment);
  if (!host) fail(host.error());
  return HostClient(std::move(*host), deadline);
}

json::value answer_of(Result<json::value> answer) {
  if (!answer) fail(answer.error());
  return std::move(*answer);
}

json::object all_pages(HostClient& host, const std::string& path, std::string_view name,
                       std::string_view parameter) {
  json::object whole;
  std::string next;
  do {
    const std::string from = next.empty()
                                 ? path
                                 : path + (path.find('?') == std::string::npos ? "?" : "&") +
                                       std::string(parameter) + "=" + path_segment(next);
    const json::value answer = answer_of(host.get(from));
    if (!answer.is_object()) fail(Error::internal("the host's answer is not understood"));
    const json::object& page = answer.get_object();
    next = text_of(page, "next");
    if (whole.empty()) {
      whole = page;
      whole.erase("next");
      continue;
    }
    for (const json::value& item : list_of(page, name)) whole[name].as_array().push_back(item);
  } while (!next.empty());
  return whole;
}

std::string query_of(const std::vector<std::pair<std::string, std::string>>& parameters) {
  std::string query;
  for (const auto& [name, value] : parameters)
    if (!value.empty()) query += (query.empty() ? "?" : "&") + name + "=" + path_segment(value);
  return query;
}

std::string text_of(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  if (!found || found->is_null()) return "";
  return found->is_string() ? std::string(found->get_string()) : show(*found);
}

json::object table_of(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  return found && found->is_object() ? found->get_object() : json::object();
}

json::array list_of(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  return found && found->is_array() ? found->get_array() : json::array();
}

std::string short_time(const std::string& time) {
  if (time.size() < 19) return time;
  std::string shown = time.substr(0, 19);
  shown[10] = ' ';
  return shown;
}

}  // namespace muster::cli

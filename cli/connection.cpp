#include "cli/connection.hpp"

#include <cstdio>
#include <iostream>
#include <set>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"

namespace muster::cli {

void fail(const Error& error) {
  throw CommandFailure{exit_failed, error.message,
                       error.code.empty() ? std::string(to_string(error.error_class)) : error.code};
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

namespace {

constexpr std::size_t most_pages = 10'000;

}  // namespace

json::object all_pages(HostClient& host, const std::string& path, std::string_view name,
                       std::string_view parameter) {
  json::object whole;
  std::string next;
  std::set<std::string> seen;
  do {
    if (!seen.insert(next).second || seen.size() > most_pages)
      fail(Error::internal("the host's list of " + std::string(name) + " does not end"));
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
    json::value& list = whole[name];
    if (!list.is_array()) list = json::array();
    for (const json::value& item : list_of(page, name)) list.get_array().push_back(item);
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
  return harmless(found->is_string() ? std::string(found->get_string()) : show(*found));
}

json::object table_of(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  return found && found->is_object() ? found->get_object() : json::object();
}

json::array list_of(const json::object& document, std::string_view key) {
  const json::value* found = document.if_contains(key);
  return found && found->is_array() ? found->get_array() : json::array();
}

std::vector<json::object> objects_of(const json::object& document, std::string_view key) {
  std::vector<json::object> objects;
  for (json::value& item : list_of(document, key))
    if (item.is_object()) objects.push_back(std::move(item.get_object()));
  return objects;
}

void put_out(const json::value& document, bool as_json, const ViewOptions& view, Shown shown) {
  if (as_json) return print_json(document);
  if (!document.is_object()) fail(Error::internal("the host's answer cannot be read"));
  if (view.format == "name") return print(names_in(document.get_object()));
  print(shown(document.get_object(), View::of_stdout(view)));
}

json::object document_in(const std::string& file) {
  constexpr std::size_t longest = std::size_t{4} << 20;
  std::string text;
  if (file == "-") {
    for (char c = 0; text.size() <= longest && std::cin.get(c);) text += c;
  } else {
    auto read = read_file(file, longest);
    if (!read) fail(read.error());
    text = std::move(*read);
  }
  auto document = json::parse_object(text);
  if (!document) fail(Error::invalid(file + ": " + document.error().message));
  return std::move(*document);
}

void confirm(bool yes, const std::string& question) {
  if (yes) return;
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1)
    fail(Error::invalid(question + " Nothing was changed; to do it, add --yes"));
  std::fprintf(stderr, "%s Continue? [y/N] ", question.c_str());
  std::string line;
  std::getline(std::cin, line);
  if (line != "y" && line != "Y" && line != "yes") fail(Error::cancelled("nothing was changed"));
}

}  // namespace muster::cli

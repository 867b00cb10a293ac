#include "cli/login.hpp"

#include <cstdio>
#include <functional>
#include <iostream>
#include <termios.h>
#include <unistd.h>

#include "cli/connection.hpp"
#include "cli/stored_login.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

// Nothing of what is typed is shown, however the prompt ends.
class Unseen {
 public:
  Unseen() {
    on_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    termios silent = before_;
    silent.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    if (on_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
  }
  ~Unseen() {
    if (on_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  termios before_{};
  bool on_ = false;
};

// One line of standard input, which may be a pipe from a store of secrets.
std::string ask_secret(const char* prompt) {
  std::string line;
  const bool person = ::isatty(STDIN_FILENO) == 1;
  if (person) std::fprintf(stderr, "%s: ", prompt);
  {
    const Unseen unseen;
    std::getline(std::cin, line);
  }
  if (person) std::fprintf(stderr, "\n");
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

// What is given on the command line, else in the environment, else typed in.
HostAddress wanted_login(const LoginOptions& options) {
  HostAddress address;
  address.url = options.host.url;
  for (const char* name : {"MUSTER_URL", "TASKCLUSTER_ROOT_URL"})
    if (address.url.empty()) address.url = process_environment(name);
  if (address.url.empty())
    fail(Error::invalid("say where the host is: muster login --url https://muster.example.com"));
  while (address.url.ends_with('/')) address.url.pop_back();
  address.ca_file = options.host.ca_file;
  if (address.ca_file.empty()) address.ca_file = process_environment("MUSTER_CA_FILE");
  if (!address.ca_file.empty())
    address.ca_file = std::filesystem::absolute(address.ca_file).string();
  address.token = options.host.token;
  address.client_id = options.client_id;
  if (!address.token.empty()) return address;
  if (!address.client_id.empty()) {
    address.access_token = options.access_token;
    address.certificate = options.certificate;
    if (address.access_token.empty())
      address.access_token = ask_secret(("access token of " + address.client_id).c_str());
    return address;
  }
  address.token = process_environment("MUSTER_TOKEN");
  if (!address.token.empty()) return address;
  address.client_id = process_environment("TASKCLUSTER_CLIENT_ID");
  address.access_token = process_environment("TASKCLUSTER_ACCESS_TOKEN");
  address.certificate = process_environment("TASKCLUSTER_CERTIFICATE");
  if (!address.client_id.empty() && !address.access_token.empty()) return address;
  address.client_id.clear();
  address.token = ask_secret("token");
  return address;
}

std::string caller_in_words(const json::object& who, const View& style) {
  const std::string id = text_of(who, "clientId");
  std::string out = style(Look::bold, id.empty() ? "nobody" : id);
  if (const std::string expires = text_of(who, "expires");
      !expires.empty() && !expires.starts_with("9999"))  // those do not end
    out += "  until " + style.time(expires);
  out += "\n";
  for (const json::value& scope : list_of(who, "scopes"))
    if (scope.is_string()) out += "  " + style(Look::plain, scope.get_string()) + "\n";
  return out;
}

}  // namespace

namespace {

// Tries the credentials, and returns whose they are.
std::string client_of(const HostAddress& address) {
  if (address.token.empty() && address.access_token.empty())
    fail(Error::invalid("there is no token: type one in, or pipe it to this command"));
  const json::value who = answer_of(HostClient(address).get("/api/muster/v1/whoami"));
  const std::string id = who.is_object() ? text_of(who.get_object(), "clientId") : "";
  if (id.empty()) fail(Error::auth(address.url + " answers, but does not know these credentials"));
  return id;
}

}  // namespace

void log_in(const LoginOptions& options) {
  const HostAddress address = wanted_login(options);
  const std::string id = client_of(address);
  const auto file = write_login(address, process_environment);
  if (!file) fail(file.error());
  const auto contexts = read_contexts(process_environment);
  const std::string current = contexts ? contexts->current : "";
  if (options.as_json)
    return print_json({{"url", address.url}, {"clientId", id}, {"file", file->string()}});
  print("logged in to " + address.url + " as " + harmless(id) + "\nstored in " + file->string() +
        ", which only you can read; `muster logout` removes it\n");
  if (!current.empty())
    print("The context " + current +
          " is in use and comes before the login; `muster context use --none` ends that.\n");
}

void log_out(bool as_json) {
  const auto file = login_file(process_environment);
  if (!file) fail(file.error());
  std::error_code trouble;
  const bool removed = std::filesystem::remove(*file, trouble);
  if (trouble) fail(Error::internal(file->string() + " cannot be removed: " + trouble.message()));
  if (as_json) return print_json({{"loggedOut", removed}, {"file", file->string()}});
  print(removed ? "logged out: removed " + file->string() + "\n" : "you were not logged in\n");
}

void who_am_i(const LoginOptions& options) {
  put_out(answer_of(connect(options.host).get("/api/muster/v1/whoami")), options.as_json,
          options.view, caller_in_words);
}

// -------------------------------------------------------------------------------------------------
// Contexts

namespace {

// Never the secret.
json::object context_document(const std::string& name, const HostAddress& context, bool current) {
  json::object document{{"name", name}, {"url", context.url}, {"current", current}};
  document["credentials"] = context.client_id.empty() ? "token" : "client " + context.client_id;
  if (!context.ca_file.empty()) document["caFile"] = context.ca_file;
  return document;
}

std::string contexts_in_words(const json::object& document, const View& view) {
  if (list_of(document, "contexts").empty())
    return "No contexts. Make one: muster context add NAME --url https://muster.example.com\n";
  Table rows;
  rows.add_heads({"", "CONTEXT", "URL", "CREDENTIALS"});
  for (const json::object& context : objects_of(document, "contexts"))
    rows.add({{text_of(context, "current") == "true" ? "*" : "", Look::green},
              {text_of(context, "name"), Look::bold},
              {text_of(context, "url")},
              {text_of(context, "credentials")}});
  return rows.text(view);
}

std::string context_in_words(const json::object& context, const View& view) {
  Table rows;
  for (const auto& [name, value] : context)
    rows.add({{std::string(name), Look::dim}, {text_of(context, name)}});
  return rows.text(view);
}

Contexts known_contexts() {
  auto contexts = read_contexts(process_environment);
  if (!contexts) fail(contexts.error());
  return std::move(*contexts);
}

void change_or_fail(const std::function<Result<void>(Contexts&)>& change) {
  if (const auto changed = change_contexts(process_environment, change); !changed)
    fail(changed.error());
}

}  // namespace

void add_context(const LoginOptions& options) {
  if (!is_context_name(options.name))
    fail(Error::invalid("\"" + harmless(options.name) +
                        "\" is not a name for a context: use letters, digits, `.`, `_` and `-`, "
                        "64 at most"));
  const HostAddress address = wanted_login(options);
  const std::string id = client_of(address);
  bool current = false;
  change_or_fail([&](Contexts& contexts) -> Result<void> {
    contexts.all[options.name] = address;
    current = contexts.current == options.name;
    return {};
  });
  if (options.as_json) return print_json(context_document(options.name, address, current));
  print(
      "context " + options.name + ": " + address.url + " as " + harmless(id) +
      (current ? "; it is in use\n" : "; use it with: muster context use " + options.name + "\n"));
}

void use_context(const LoginOptions& options) {
  if (options.name.empty() != options.none)
    fail(Error::invalid("name one context to use, or --none"));
  change_or_fail([&](Contexts& contexts) -> Result<void> {
    if (!options.none)
      if (const auto found = find_context(contexts, options.name); !found) return found.error();
    contexts.current = options.name;
    return {};
  });
  if (options.as_json) return print_json({{"current", options.name}});
  print(options.none ? "no context is in use\n" : "using context " + options.name + "\n");
}

void list_contexts(const LoginOptions& options) {
  const Contexts contexts = known_contexts();
  json::array all;
  for (const auto& [name, context] : contexts.all)
    all.push_back(context_document(name, context, name == contexts.current));
  put_out(json::object{{"contexts", std::move(all)}}, options.as_json, options.view,
          contexts_in_words);
}

void show_context(const LoginOptions& options) {
  const Contexts contexts = known_contexts();
  const std::string name = options.name.empty() ? contexts.current : options.name;
  if (name.empty()) fail(Error::not_found("no context is in use; see: muster context list"));
  const auto context = find_context(contexts, name);
  if (!context) fail(context.error());
  put_out(context_document(name, *context, name == contexts.current), options.as_json, options.view,
          context_in_words);
}

void remove_context(const LoginOptions& options) {
  change_or_fail([&](Contexts& contexts) -> Result<void> {
    if (const auto found = find_context(contexts, options.name); !found) return found.error();
    contexts.all.erase(options.name);
    if (contexts.current == options.name) contexts.current.clear();
    return {};
  });
  if (options.as_json) return print_json({{"removed", options.name}});
  print("removed context " + options.name + "\n");
}

}  // namespace muster::cli

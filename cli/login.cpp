#include "cli/login.hpp"

#include <cstdio>
#include <iostream>
#include <termios.h>
#include <unistd.h>

#include "cli/connection.hpp"
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

std::string in_words(const json::object& who, const Style& style) {
  const std::string id = text_of(who, "clientId");
  std::string out = style(Look::bold, id.empty() ? "nobody" : id);
  if (const std::string expires = text_of(who, "expires");
      !expires.empty() && !expires.starts_with("9999"))  // those do not end
    out += "  until " + short_time(expires);
  out += "\n";
  for (const json::value& scope : list_of(who, "scopes"))
    if (scope.is_string()) out += "  " + style(Look::plain, scope.get_string()) + "\n";
  return out;
}

}  // namespace

void log_in(const LoginOptions& options) {
  const HostAddress address = wanted_login(options);
  if (address.token.empty() && address.access_token.empty())
    fail(Error::invalid("there is no token: type one in, or pipe it to `muster login`"));
  const json::value who = answer_of(HostClient(address).get("/api/muster/v1/whoami"));
  const std::string id = who.is_object() ? text_of(who.get_object(), "clientId") : "";
  if (id.empty()) fail(Error::auth(address.url + " answers, but does not know these credentials"));
  const auto file = write_login(address, process_environment);
  if (!file) fail(file.error());
  if (options.as_json)
    return print_json({{"url", address.url}, {"clientId", id}, {"file", file->string()}});
  print("logged in to " + address.url + " as " + id + "\nstored in " + file->string() +
        ", which only you can read; `muster logout` removes it\n");
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

void who_am_i(const HostOptions& options, bool as_json) {
  const json::value who = answer_of(connect(options).get("/api/muster/v1/whoami"));
  if (as_json) return print_json(who);
  if (who.is_object()) print(in_words(who.get_object(), Style::of_stdout()));
}

}  // namespace muster::cli

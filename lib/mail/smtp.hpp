// One mail by SMTP: plain, with STARTTLS, or over TLS. Certificates are always checked.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include <muster/error.hpp>

#include "lib/mail/message.hpp"

namespace muster::mail {

struct Server {
  std::string url;  // "smtp://mail.example.com:587", or "smtps://" for TLS from the first byte
  bool start_tls = true;  // of smtp://: nothing is sent to a server that does not offer it
  std::string user = {};
  std::filesystem::path password_file = {};   // read for each mail, so that it can be replaced
  std::filesystem::path ca_file = {};         // trusted instead of the system's certificates
  std::chrono::milliseconds timeout{30'000};  // of the whole conversation
};

struct Sent {
  std::vector<std::string> refused;  // recipients that the server did not take; never all of them
};

// Waits for the server to take the mail. A recipient that it refuses does not keep the mail from
// the others; it is an error if it refuses all. `stop` ends it early. Errors:
// `transient` (connection, a 4xx answer), `invalid` (a 5xx answer, or an address that is none),
// `config` (the password file), `auth` (the server does not take user and password). A mail may
// arrive although this fails, if the connection breaks behind its last byte. THREADS: any.
Result<Sent> send(const Server& server, const Message& message, const std::atomic<bool>& stop);

}  // namespace muster::mail

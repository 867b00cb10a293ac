// How a database is reached, and what can be said of that without reaching it.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

namespace muster::postgres {

struct ConnectionSettings {
  std::string address;                       // postgresql://..., or "host=... dbname=..."
  std::filesystem::path password_file = {};  // empty: in the address, PGPASSWORD or ~/.pgpass
  std::string application_name = "muster";
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);  // for each server named
  // How long the server works on one statement, and the client waits for an answer.
  std::chrono::milliseconds statement_timeout = std::chrono::seconds(30);

  friend bool operator==(const ConnectionSettings&, const ConnectionSettings&) = default;
};

// Of the sessions of a host: by it the next leader ends those of the last.
inline std::string application_name(const std::string& host_name) {
  return ("muster " + host_name).substr(0, 63);
}

// What is wrong with the address, as far as that shows without a server; empty: nothing.
std::string mistake_in_address(const std::string& address);
// What an operator should change though it works: a password in it, a server elsewhere whose
// certificate is not checked. Empty: nothing.
std::string warning_about_address(const std::string& address);

}  // namespace muster::postgres

// muster login, logout, whoami
#pragma once

#include "cli/host_address.hpp"

namespace muster::cli {

struct LoginOptions {
  HostOptions host;
  std::string client_id, access_token, certificate;
  bool as_json = false;
};

// Asks for what is missing if somebody is there to answer, tries it, and stores it.
void log_in(const LoginOptions& options);
void log_out(bool as_json);
void who_am_i(const HostOptions& options, bool as_json);

}  // namespace muster::cli

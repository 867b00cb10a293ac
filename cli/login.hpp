// muster login, logout, whoami, context
#pragma once

#include "cli/host_address.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

struct LoginOptions {
  HostOptions host;
  std::string client_id, access_token, certificate;
  bool as_json = false;
  ViewOptions view;
  std::string name;   // of a context
  bool none = false;  // no context
};

// Asks for what is missing if somebody is there to answer, tries it, and stores it.
void log_in(const LoginOptions& options);
void log_out(bool as_json);

void add_context(const LoginOptions& options);
void use_context(const LoginOptions& options);
void list_contexts(const LoginOptions& options);
void show_context(const LoginOptions& options);
void remove_context(const LoginOptions& options);

void who_am_i(const LoginOptions& options);

}  // namespace muster::cli

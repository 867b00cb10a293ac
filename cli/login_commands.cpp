// The command lines of login, logout, whoami and context.
#include "cli/command.hpp"
#include "cli/login.hpp"

namespace muster::cli {
namespace {

using LoginAction = void (*)(const LoginOptions&);

std::pair<CLI::App*, std::shared_ptr<LoginOptions>> add_verb(CLI::App& parent, const char* name,
                                                             const char* description,
                                                             LoginAction action) {
  auto options = std::make_shared<LoginOptions>();
  CLI::App* command = parent.add_subcommand(name, description);
  add_output_options(*command, options->as_json, options->view);
  command->callback([options, action] { action(*options); });
  return {command, options};
}

void add_credential_options(CLI::App& command, LoginOptions& options) {
  command
      .add_option("--url", options.host.url,
                  "Address of the host, such as https://muster.example.com")
      ->type_name("URL");
  command.add_option("--token", options.host.token, "Bearer token; other users can see it in `ps`")
      ->type_name("TOKEN");
  command.add_option("--ca-file", options.host.ca_file, "CA of the host's certificate (PEM)")
      ->type_name("FILE");
  command
      .add_option("--client-id", options.client_id,
                  "A client that signs requests, instead of a token")
      ->type_name("ID");
  command
      .add_option("--access-token", options.access_token,
                  "Its secret; other users can see it in `ps`")
      ->type_name("SECRET");
  command.add_option("--certificate", options.certificate,
                     "Certificate of temporary credentials, as JSON");
}

void add_context_commands(CLI::App& app) {
  CLI::App& context =
      add_noun(app, "context", "Several hosts by name: add, use, list, show, remove");
  context.require_subcommand(1);
  const auto [add, added] = add_verb(
      context, "add", "Check an address and credentials, and store them under a name", add_context);
  add->add_option("name", added->name, "The name of the context")->required();
  add_credential_options(*add, *added);
  add->footer(
      "Asks for the token without showing it, or reads it from a pipe:\n"
      "  pass muster-prod | muster context add prod --url https://muster.example.com\n"
      "`muster context use NAME` makes it the usual one; --context and MUSTER_CONTEXT name one\n"
      "for a command or a shell.");
  const auto [use, used] =
      add_verb(context, "use", "Use a context for all further commands", use_context);
  use->add_option("name", used->name, "The context");
  use->add_flag("--none", used->none, "Use none: the login, or a host on this machine");
  add_verb(context, "list", "List the contexts; * is in use", list_contexts);
  const auto [show, shown] =
      add_verb(context, "show", "Show a context, without its secret", show_context);
  show->add_option("name", shown->name, "The context [default: the one in use]");
  const auto [remove, removed] =
      add_verb(context, "remove", "Forget a context and its credentials", remove_context);
  remove->add_option("name", removed->name, "The context")->required();
}

}  // namespace

void add_login_commands(CLI::App& app) {
  const auto [login, options] = add_verb(
      app, "login", "Check an address and credentials, and store them for later commands", log_in);
  login->footer(
      "Asks for the token without showing it, or reads it from a pipe:\n"
      "  pass muster | muster login --url https://muster.example.com");
  add_credential_options(*login, *options);
  add_verb(app, "logout", "Delete what `muster login` stored",
           [](const LoginOptions& given) { log_out(given.as_json); });
  const auto [whoami, who] = add_verb(app, "whoami", "Show your client and scopes", who_am_i);
  add_host_options(*whoami, who->host);
  add_context_commands(app);
}

}  // namespace muster::cli

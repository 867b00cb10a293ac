#include "lib/process/environment_names.hpp"

#include <algorithm>
#include <array>

namespace muster {
namespace {

constexpr std::size_t longest_name = 128;

// What the agent sets. A value of a team's would be mistaken for it, by the implementation or by
// the provider that looks for a worker's processes.
constexpr std::array agents_own{std::string_view("MUSTER_"), std::string_view("TASKCLUSTER_")};
constexpr std::string_view teams_own = "MUSTER_TASKS";

// Loaders, shells, interpreters and tools that run what a variable names.
constexpr std::array<std::string_view, 56> refused_beginnings{
    "ALSA_",    "AWK",    "BASH_",    "BUNDLE_",  "CARGO_",   "CMAKE_",  "CORECLR_", "COR_",
    "CURL_",    "DBUS_",  "DOCKER_",  "DOTNET_",  "DYLD_",    "ELIXIR_", "EMACS",    "ERL_",
    "GCONV_",   "GEM_",   "GIO_",     "GIT_",     "GLIBC_",   "GTK_",    "GUILE_",   "JAVA_",
    "JDK_",     "JULIA_", "LD_",      "LIBGL",    "LISTEN_",  "LUA_",    "MAKE",     "MALLOC_",
    "MIX_",     "NPM_",   "OCL_",     "OPENSSL_", "PERL",     "PHP",     "PIP_",     "PYTHON",
    "QT_",      "RES_",   "RUBY",     "RUSTC",    "RUSTUP_",  "R_",      "SASL_",    "SSH_",
    "SSL_CERT", "SUDO_",  "SYSTEMD_", "TCL",      "TERMINFO", "VK_",     "XDG_",     "npm_"};

constexpr std::array<std::string_view, 69> refused_names{"AWS_CONFIG_FILE",
                                                         "BASHOPTS",
                                                         "BROWSER",
                                                         "CC",
                                                         "CDPATH",
                                                         "CLASSPATH",
                                                         "CONFIG_SITE",
                                                         "CPATH",
                                                         "CXX",
                                                         "EDITOR",
                                                         "ENV",
                                                         "EXINIT",
                                                         "FCEDIT",
                                                         "FPATH",
                                                         "GETCONF_DIR",
                                                         "GLOBIGNORE",
                                                         "GNUMAKEFLAGS",
                                                         "GNUPGHOME",
                                                         "GOBIN",
                                                         "GOENV",
                                                         "GOFLAGS",
                                                         "GOROOT",
                                                         "GOTOOLCHAIN",
                                                         "GREP_OPTIONS",
                                                         "HISTFILE",
                                                         "HOME",
                                                         "HOSTALIASES",
                                                         "IFS",
                                                         "INPUTRC",
                                                         "JOURNAL_STREAM",
                                                         "KUBECONFIG",
                                                         "LESSCLOSE",
                                                         "LESSOPEN",
                                                         "LOCALDOMAIN",
                                                         "LOCPATH",
                                                         "LOGNAME",
                                                         "MANPAGER",
                                                         "MFLAGS",
                                                         "NIS_PATH",
                                                         "NLSPATH",
                                                         "NODE_OPTIONS",
                                                         "NODE_PATH",
                                                         "NOTIFY_SOCKET",
                                                         "OLDPWD",
                                                         "PAGER",
                                                         "PATH",
                                                         "PKG_CONFIG",
                                                         "PROMPT_COMMAND",
                                                         "PS1",
                                                         "PS2",
                                                         "PS4",
                                                         "PWD",
                                                         "RESOLV_HOST_CONF",
                                                         "SHELL",
                                                         "SHELLOPTS",
                                                         "SSLKEYLOGFILE",
                                                         "TAR_OPTIONS",
                                                         "TEMP",
                                                         "TERMCAP",
                                                         "TMP",
                                                         "TMPDIR",
                                                         "TZDIR",
                                                         "USER",
                                                         "VIMINIT",
                                                         "VISUAL",
                                                         "WGETRC",
                                                         "ZDOTDIR",
                                                         "_JAVA_OPTIONS",
                                                         "RUSTFLAGS"};

// Options, search paths and helpers of many programs.
constexpr std::array<std::string_view, 7> refused_endings{"EDITOR", "PATH",    "_HOME", "_OPTIONS",
                                                          "_OPTS",  "_PREFIX", "_RSH"};

bool is_name(std::string_view name) {
  const auto letter = [](char c) {
    return c == '_' || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  if (name.empty() || name.size() > longest_name || !letter(name[0])) return false;
  return std::ranges::all_of(name, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

bool is_agents_own(std::string_view name) {
  return name != teams_own && std::ranges::any_of(agents_own, [&](std::string_view beginning) {
           return name.starts_with(beginning);
         });
}

bool changes_programs(std::string_view name) {
  return std::ranges::find(refused_names, name) != refused_names.end() ||
         std::ranges::any_of(
             refused_beginnings,
             [&](std::string_view beginning) { return name.starts_with(beginning); }) ||
         std::ranges::any_of(refused_endings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}

const char* const no_name = "is not a name of letters, digits and _, of at most 128 characters";

}  // namespace

std::optional<std::string> refused_variable(std::string_view name,
                                            const std::vector<std::string>& allowed) {
  if (!is_name(name)) return no_name;
  if (is_agents_own(name)) return "is set by the agent alone";
  if (!changes_programs(name) || std::ranges::find(allowed, name) != allowed.end())
    return std::nullopt;
  return "can change which programs run, and is not a team's to set; an operator can allow it "
         "(allowedEnvironment)";
}

Result<void> check_allowed_variable(std::string_view name) {
  if (!is_name(name)) return Error::invalid("\"" + std::string(name) + "\" " + no_name);
  if (is_agents_own(name))
    return Error::invalid("\"" + std::string(name) + "\" is set by the agent alone");
  return {};
}

Result<void> check_environment(const json::object& worker_config,
                               const std::vector<std::string>& allowed) {
  const json::value* environment = worker_config.if_contains("environment");
  if (!environment || !environment->is_object()) return {};
  for (const auto& member : environment->get_object()) {
    if (!member.value().is_string()) continue;
    const std::string path = "workerConfig.environment." + std::string(member.key());
    if (const auto why = refused_variable(member.key(), allowed))
      return Error::invalid(path + ": " + *why);
    if (member.value().get_string().find('\0') != json::string::npos)
      return Error::invalid(path + ": has a zero byte, which no environment can hold");
  }
  return {};
}

}  // namespace muster

#include "host/config/cross_check.hpp"

#include <algorithm>
#include <map>
#include <pwd.h>

#include <muster/nearest.hpp>

#include "host/config/installed_plugins.hpp"
#include "host/config/read_notifications.hpp"
#include "host/scopes/roles.hpp"
#include "lib/base/networks.hpp"
#include "lib/git/repository.hpp"
#include "lib/url/url.hpp"

namespace muster::config {
namespace fs = std::filesystem;
namespace {

class CrossCheck {
 public:
  CrossCheck(const HostConfiguration& host, const TomlDocument& document)
      : host_(host), document_(document) {}

  std::vector<Mistake> run() {
    check_listen();
    check_http();
    check_queue();
    check_hosts();
    check_data_directory();
    check_plugin_folders();
    check_worker_configurations();
    check_tokens();
    check_clients();
    check_demand();
    check_consumers();
    for (NotificationMistake& mistake : check_notifications(host_.notifications))
      error(mistake.pointer, std::move(mistake.reason), std::move(mistake.remedy));
    const std::vector<std::string> installed = installed_plugins(host_.plugin_folders);
    for (const PluginInstance& provider : host_.providers)
      check_instance("/providers/" + pointer_part(provider.id), provider, installed);
    for (const PluginInstance& strategy : host_.strategies)
      if (const std::string pointer = "/strategies/" + pointer_part(strategy.id);
          document_.values.contains(pointer))  // else it is the one that is there by default
        check_instance(pointer, strategy, installed);
    return std::move(mistakes_);
  }

 private:
  void add(Severity severity, const std::string& pointer, std::string reason, std::string remedy) {
    mistakes_.push_back({severity, document_.value_position(pointer),
                         key_path(document_.root, pointer), std::move(reason), std::move(remedy)});
  }
  void error(const std::string& pointer, std::string reason, std::string remedy) {
    add(Severity::error, pointer, std::move(reason), std::move(remedy));
  }
  void warning(const std::string& pointer, std::string reason, std::string remedy) {
    add(Severity::warning, pointer, std::move(reason), std::move(remedy));
  }

  void check_hosts() {
    using namespace std::chrono_literals;
    if (host_.hosts.lease < 1s || host_.hosts.lease > 10min)
      error("/hosts/lease", "a lease of less than a second or more than ten minutes is of no use",
            "write 15s, or how long the fleet may be without a host that decides");
    if (host_.store.postgres.empty() && !host_.store.password_file.empty())
      error("/store/passwordFile", "there is no database that it is for",
            "name the database in store.postgres, or remove this key");
    const auto is_any = [](std::string_view host) { return host == "0.0.0.0" || host == "::"; };
    const std::string& address = host_.hosts.address;
    const auto url = parse_http_url(address);
    if (!address.empty() && (!url || is_any(url->address())))
      error("/hosts/address",
            url ? "no other host reaches this one there" : "it " + url.error().message,
            "write for example \"http://host-1.example:8600\"");
    if (address.empty() && !host_.store.postgres.empty() &&
        (host_.listen.address == "0.0.0.0" || host_.listen.address == "::"))
      error("/hosts", "`listen` does not say where the other hosts reach this one",
            "write for example address = \"http://host-1.example:8600\"");
  }

  void check_listen() {
    const auto* written = document_.root.if_contains("listen");
    if (written && !parse_listen_address(std::string_view(written->get_string())))
      return error("/listen",
                   json::write(*written) + " is not an IP address and a port from 0 to 65535",
                   "write for example \"127.0.0.1:8600\", \"[::1]:8600\" or \"0.0.0.0:8600\"");
    if (!host_.listen.loopback && !host_.http.tls)
      warning("/listen", "tokens travel in clear text to and from " + to_string(host_.listen),
              "write [http.tls], or listen on 127.0.0.1 behind a proxy that speaks TLS, unless the "
              "network is trusted");
  }

  template <class Value>
  void check_bounds(const std::string& pointer, Value value, Value least, Value most,
                    const std::string& bounds) {
    if (value < least || value > most)
      error(pointer, "it must be " + bounds, "write a value within that");
  }

  void check_http() {
    const HttpSettings& http = host_.http;
    const auto in_bounds = [&](const char* key, auto value, auto least, auto most,
                               const std::string& bounds) {
      check_bounds(std::string("/http/") + key, value, least, most, bounds);
    };
    using namespace std::chrono_literals;
    constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
    in_bounds("maxHeaderBytes", http.max_header_bytes, kib, mib, "from 1KiB to 1MiB");
    in_bounds("maxBodyBytes", http.max_body_bytes, kib, 1024 * mib, "from 1KiB to 1GiB");
    for (const auto& [key, value] :
         {std::pair("maxOpenBodyBytes", http.max_open_body_bytes),
          std::pair("maxBufferedBodyBytes", http.max_buffered_body_bytes),
          std::pair("maxBufferedBodyBytesPerPeer", http.max_buffered_body_bytes_per_peer)})
      in_bounds(key, value, kib, 1024 * 1024 * mib, "from 1KiB to 1024GiB");
    for (const auto& [key, value] : {std::pair("headerTimeout", http.header_timeout),
                                     std::pair("bodyTimeout", http.body_timeout),
                                     std::pair("writeTimeout", http.write_timeout),
                                     std::pair("idleTimeout", http.idle_timeout)})
      in_bounds(key, value, std::chrono::milliseconds(10ms), std::chrono::milliseconds(24h),
                "from 10ms to 24h");
    if (!http.tls) return;
    for (const auto& [key, file] : {std::pair("certificateFile", http.tls->certificate_file),
                                    std::pair("keyFile", http.tls->key_file)})
      if (std::error_code failed; !fs::is_regular_file(file, failed))
        error(std::string("/http/tls/") + key,
              file.string() + (failed ? ": " + failed.message() : " is not a file"),
              "name a PEM file that the user of musterd can read");
  }

  // What is used must decay slower than leases are granted, or it says nothing about shares.
  void check_queue() {
    using namespace std::chrono_literals;
    using std::chrono::milliseconds;
    const QueueSettings& queue = host_.queue;
    if (queue.half_life)
      check_bounds("/queue/halfLife", *queue.half_life, milliseconds(1min), milliseconds(8760h),
                   "from 1m to 8760h");
    for (const auto& [key, value] :
         {std::pair("patience", queue.patience), std::pair("leastCharge", queue.least_charge),
          std::pair("endedKept", queue.ended_kept)})
      if (value)
        check_bounds(std::string("/queue/") + key, *value, milliseconds(1s), milliseconds(8760h),
                     "from 1s to 8760h");
  }

  void check_data_directory() {
    const fs::path& folder = host_.data_directory;
    std::error_code failed;
    if (fs::exists(folder, failed)) {
      if (!fs::is_directory(folder, failed))
        error("/dataDirectory", folder.string() + " is not a folder", "name another path");
      return;
    }
    if (failed && failed != std::errc::no_such_file_or_directory &&
        failed != std::errc::not_a_directory)
      return error("/dataDirectory", folder.string() + ": " + failed.message(),
                   "run musterd as a user that may look there");
    // A default is made with its parents; a path that somebody typed is not, because a typing
    // mistake must not begin an empty fleet.
    if (!host_.data_directory_is_default && !fs::is_directory(folder.parent_path(), failed))
      error("/dataDirectory",
            "neither " + folder.string() + " nor the folder that should hold it exists",
            "make " + folder.parent_path().string() + " or correct the path");
  }

  void check_plugin_folders() {
    if (!document_.root.contains("pluginFolders")) return;
    for (std::size_t i = 0; i < host_.plugin_folders.size(); ++i) {
      const fs::path& folder = host_.plugin_folders[i];
      const std::string pointer = "/pluginFolders/" + std::to_string(i);
      const auto first =
          std::find(host_.plugin_folders.begin(), host_.plugin_folders.end(), folder);
      if (first != host_.plugin_folders.begin() + static_cast<std::ptrdiff_t>(i))
        error(pointer, folder.string() + " is listed twice", "delete one of the two");
      else if (folder == host_.data_directory)
        error(pointer, "this is the data directory, which is the host's own",
              "use another folder, for example " + (folder / "plugins.d").string());
      else if (folder.parent_path() != host_.data_directory)  // there the host makes it
        check_folder(pointer, folder, "the host watches for it and reads it when it appears");
    }
  }

  void check_worker_configurations() {
    const auto& workers = host_.worker_configurations;
    if (!workers) return check_empty_source();
    if (host_.file.empty()) return;  // the built-in one's is made at the first start
    const bool in_table = document_.root.at("workerConfigurations").is_object();
    const std::string source = "/workerConfigurations" + std::string(in_table ? "/source" : "");
    if (workers->git.empty()) {
      check_folder(in_table ? source + "/folder" : source, workers->folder,
                   "make it, or correct the path");
      if (in_table && document_.values.contains(source + "/ref"))
        error(source + "/ref", "only a git repository has one",
              "add git = \"...\", or delete this");
      return;
    }
    check_repository(source, *workers);
  }

  // What is wrong in a source was taken out before, so only one that was written empty is told.
  void check_empty_source() {
    const auto* written = document_.root.if_contains("workerConfigurations");
    if (!written || !written->is_object() || !written->get_object().contains("source")) return;
    error("/workerConfigurations/source", "it names neither a folder nor a repository",
          "write source = { folder = \"...\" } or source = { git = \"...\", ref = \"main\" }");
  }

  void check_repository(const std::string& source, const WorkerConfigurations& workers) {
    if (!git::is_remote(workers.git))
      check_folder(source + "/git", workers.git, "make it, or correct the path");
    else if (workers.git.starts_with('-'))
      error(source + "/git", "this is not an address",
            "write for example \"https://host/workers.git\"");
    else if (has_password(workers.git))
      error(source + "/git", "an address with a password in it is seen by everybody who sees logs",
            "give it to git: git config --global credential.helper, or use ssh");
    if (!git::is_plain_ref(workers.ref))
      error(source + "/ref",
            json::write(json::value(json::string(workers.ref))) + " is not a branch, tag or commit",
            "write for example ref = \"main\"");
    const auto normal = workers.folder.lexically_normal();
    if (workers.folder.is_absolute() || (!normal.empty() && *normal.begin() == ".."))
      error(source + "/folder", "with git, this is a folder inside the repository",
            "write for example folder = \"workers\"");
  }

  static std::string_view authority_of(std::string_view url) {
    const auto begin = url.find("://");
    if (begin == std::string_view::npos) return {};
    return url.substr(begin + 3, url.find_first_of("/?#", begin + 3) - begin - 3);
  }
  static bool has_user(std::string_view url) {
    return authority_of(url).find('@') != std::string_view::npos;
  }
  static bool has_password(std::string_view url) {  // ssh://git@host has a user and is fine
    const auto authority = authority_of(url);
    const auto at = authority.rfind('@');
    return at != std::string_view::npos && authority.substr(0, at).find(':') < at;
  }

  void check_folder(const std::string& pointer, const fs::path& folder, std::string if_missing) {
    std::error_code failed;
    const auto status = fs::status(folder, failed);
    if (!fs::exists(status) && status.type() == fs::file_type::none)
      error(pointer, folder.string() + ": " + failed.message(),
            "run musterd as a user that may look there");
    else if (!fs::exists(status))
      warning(pointer, folder.string() + " does not exist", std::move(if_missing));
    else if (!fs::is_directory(status))
      error(pointer, folder.string() + " is not a folder", "name the folder");
  }

  void check_tokens() {
    for (auto token = host_.auth.tokens.begin(); token != host_.auth.tokens.end(); ++token) {
      const std::string pointer = "/auth/tokens/" + pointer_part(token->first) + "/sha256";
      if (token->second.digest == sha256(""))
        error(pointer, "this is the SHA-256 of an empty text, so nothing would be a token",
              "hash the token itself: printf %s \"$TOKEN\" | sha256sum");
      const auto same = std::find_if(host_.auth.tokens.begin(), token, [&](const auto& other) {
        return other.second.digest == token->second.digest;
      });
      if (same != token)
        error(pointer, "the same token already has the name " + same->first,
              "give each name a token of its own");
    }
  }

  void check_expiry(const std::string& pointer, const std::optional<Time>& read) {
    if (!read && document_.values.contains(pointer + "/expires"))
      error(pointer + "/expires", "this is not a time",
            "write a time with its zone, such as \"2027-01-31T00:00:00Z\"");
  }

  void check_clients() {
    for (const auto& [name, token] : host_.auth.tokens)
      check_expiry("/auth/tokens/" + pointer_part(name), token.expires);
    for (const auto& [id, client] : host_.auth.clients) {
      const std::string pointer = "/auth/clients/" + pointer_part(id);
      check_expiry(pointer, client.expires);
      if (id == "admin" || id.starts_with("muster/"))
        error(pointer, "the host keeps this name for itself",
              "give the client another name than admin or muster/...");
    }
    if (const auto roles = auth::Roles::make(host_.auth.roles); !roles)
      error("/auth/roles", roles.error().message, "change the role");
    for (std::size_t i = 0; i < host_.auth.trusted_proxies.size(); ++i)
      if (const auto network = Networks::parse({host_.auth.trusted_proxies[i]}); !network)
        error("/auth/trustedProxies/" + std::to_string(i), network.error().message,
              "name the proxies' own addresses");
  }

  // Also if it was refused before.
  bool was_written(const std::string& source, const std::string& key) const {
    return host_written("demand", source, key.c_str());
  }

  void check_demand() {
    static const std::map<DemandType, std::vector<std::string>> keys = {
        {DemandType::file, {"file"}},
        {DemandType::folder, {"folder"}},
        {DemandType::http, {"url", "tokenFile", "caFile", "timeout"}},
        {DemandType::taskcluster,
         {"rootUrl", "clientId", "accessTokenFile", "certificateFile", "caFile", "timeout",
          "concurrency"}}};
    for (const DemandSettings& source : host_.demand) {
      const std::string pointer = "/demand/" + pointer_part(source.name);
      const json::object& written =
          document_.root.at("demand").get_object().at(source.name).get_object();
      if (!written.contains("type")) continue;  // the schema's check has refused it
      const std::vector<std::string>& mine = keys.at(source.type);
      if (!was_written(source.name, mine.front()))
        error(pointer, "lacks the key \"" + mine.front() + "\"",
              "a source of the type " + std::string(to_string(source.type)) + " needs it");
      for (const auto& [key, value] : written)
        if (key != "type" && key != "interval" && key != "staleAfter" &&
            std::find(mine.begin(), mine.end(), key) == mine.end())
          error(pointer + "/" + pointer_part(key),
                "a source of the type " + std::string(to_string(source.type)) + " has no such key",
                "delete it, or correct the type");
      for (const std::string* url : {&source.url, &source.root_url})
        if (has_user(*url))
          error(pointer + (url == &source.url ? "/url" : "/rootUrl"),
                "an address with a user or a password in it is seen by everybody who sees logs",
                "keep secrets in files of their own");
      if (source.client_id.empty() != source.access_token_file.empty())
        error(pointer, "clientId and accessTokenFile belong together", "write both, or none");
      if (source.access_token_file.empty() && !source.certificate_file.empty())
        error(pointer + "/certificateFile", "a certificate is of no use without an access token",
              "write accessTokenFile, too");
      if (source.stale_after && *source.stale_after < source.interval)
        error(pointer + "/staleAfter",
              "it is shorter than the interval, which is " + to_duration_text(source.interval),
              "give at least two intervals");
    }
  }

  static constexpr auto secret_in_address =
      "an address with a password in it is seen by everybody who sees logs";

  void check_consumers() {
    for (const WebhookSettings& webhook : host_.webhooks) {
      const std::string pointer = "/webhooks/" + pointer_part(webhook.name);
      if (has_user(webhook.url))
        error(pointer + "/url", secret_in_address, "let the receiver check the signature instead");
      if (webhook.secret_file.empty() && !host_written("webhooks", webhook.name, "secretFile"))
        warning(pointer, "without secretFile, anybody can send the receiver what looks like events",
                "make one: head -c 32 /dev/urandom | base64 > secret, and let the receiver check");
    }
    if (host_.amqp)
      check_broker("/amqp", *host_.amqp, host_.document->root.at("amqp").get_object());
    if (const auto& queue = host_.worker_state.queue)
      check_broker("/workerState/queue", *queue,
                   host_.document->root.at("workerState").at("queue").get_object());
  }

  template <class Settings>
  void check_broker(const std::string& pointer, const Settings& broker,
                    const json::object& written) {
    if (has_password(broker.url))
      error(pointer + "/url", secret_in_address, "write amqps://user@broker and passwordFile");
    else if (const auto authority = authority_of(broker.url); has_user(broker.url) &&
                                                              !authority.starts_with("guest@") &&
                                                              !written.contains("passwordFile"))
      error(pointer + "/url", "it names a user but there is no password",
            "write passwordFile, too");
    if (broker.heartbeat < std::chrono::seconds(2))
      error(pointer + "/heartbeat", "it is shorter than two seconds", "write for example \"20s\"");
  }

  bool host_written(const char* table, const std::string& name, const char* key) const {
    const json::value* item = host_.document->root.at(table).get_object().if_contains(name);
    return item && item->is_object() && item->get_object().contains(key);
  }

  void check_instance(const std::string& pointer, const PluginInstance& instance,
                      const std::vector<std::string>& installed) {
    if (instance.isolation == Isolation::in_process) {
      if (instance.limits != CellLimits{}) only_for_cells(pointer + "/limits", "limits");
      if (instance.user) only_for_cells(pointer + "/user", "a user of its own");
    }
    if (instance.user && !::getpwnam(instance.user->c_str()))
      warning(pointer + "/user", "this machine has no user \"" + *instance.user + "\"",
              "make it (useradd --system " + *instance.user + ") before the host starts");
    const bool is_there =
        std::find(installed.begin(), installed.end(), instance.plugin) != installed.end();
    if (is_there || instance.plugin.empty()) return;  // empty: the schema's check has refused it
    const std::vector<std::string_view> names(installed.begin(), installed.end());
    const auto meant = nearest(instance.plugin, names);
    warning(pointer + "/plugin", "no plugin folder holds \"" + instance.plugin + "\" yet",
            meant ? "did you mean \"" + *meant + "\"?"
                  : "it starts to work as soon as the plugin is dropped in");
  }

  void only_for_cells(const std::string& pointer, const std::string& what) {
    error(pointer, what + " cannot be had by a plugin that runs inside the host",
          "write isolation = \"process\", or delete this");
  }

  const HostConfiguration& host_;
  const TomlDocument& document_;
  std::vector<Mistake> mistakes_;
};

}  // namespace

std::vector<Mistake> cross_check(const HostConfiguration& host, const TomlDocument& document) {
  return CrossCheck(host, document).run();
}

}  // namespace muster::config

// `muster backup NAME`, `muster backup verify FILE` and `muster restore FILE`.
#include <filesystem>

#include <muster/codec.hpp>

#include "cli/command.hpp"
#include "cli/connection.hpp"
#include "cli/terminal.hpp"
#include "host/store/backup_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;

struct BackupOptions {
  HostOptions host;
  std::string name, file;
  bool as_json = false, force = false;
};

void back_up(const BackupOptions& options) {
  // A name alone is one in the host's own folder for backups.
  const std::string file = options.name.find('/') == std::string::npos
                               ? options.name
                               : fs::absolute(options.name).lexically_normal().string();
  // It is written and read back before the answer comes.
  constexpr std::chrono::minutes patience(30);
  const json::value answer =
      answer_of(connect(options.host, patience).post(api_path + "backup", {{"file", file}}));
  if (options.as_json) return print_json(answer);
  const std::string written = answer.is_object() ? text_of(answer.get_object(), "file") : file;
  print("wrote " + written +
        " and verified it\nTo restore it: stop the host, and run `muster restore " + written +
        " --force --data-directory FOLDER`.\n");
}

json::object document_of(const store::BackupFacts& facts) {
  return {{"bytes", facts.bytes},
          {"tablesVersion", facts.version},
          {"musterVersion", facts.muster},
          {"hostId", facts.host_id},
          {"lastChange", facts.last.number},
          {"lastChangeAt", facts.last.number == 0 ? "" : format_time(facts.last.at)},
          {"pools", facts.pools},
          {"workers", facts.workers},
          {"clients", facts.clients},
          {"requests", facts.requests},
          {"hasDigest", facts.sealed}};
}

// What an operator compares with what he expects.
std::string described(const store::BackupFacts& facts) {
  std::string text = "  host " +
                     (facts.host_id.empty() ? "(never started)" : harmless(facts.host_id)) +
                     ", tables of version " + std::to_string(facts.version) + " (muster " +
                     harmless(facts.muster) + ")\n";
  if (facts.last.number != 0)
    text += "  last change " + std::to_string(facts.last.number) + " at " +
            format_time(facts.last.at) + "\n";
  text += "  pools " + std::to_string(facts.pools) + ", workers " + std::to_string(facts.workers) +
          ", clients " + std::to_string(facts.clients) + ", requests " +
          std::to_string(facts.requests) + "\n";
  if (facts.version < facts.known_version)
    text += "  the host brings its tables to version " + std::to_string(facts.known_version) +
            " when it starts\n";
  if (!facts.sealed)
    text +=
        "  it has no digest of its content, as copies from before an update: only its structure "
        "could be checked\n";
  return text;
}

void verify(const BackupOptions& options) {
  const auto facts = store::verify_backup(options.file);
  if (!facts) fail(facts.error());
  if (options.as_json) {
    json::object document = document_of(*facts);
    document["file"] = options.file;
    return print_json(document);
  }
  print(options.file + " is good\n" + described(*facts));
}

void restore(const BackupOptions& options) {
  const auto restored = store::restore_backup(
      {options.file, options.host.data_directory, options.force}, SystemClock());
  if (!restored) fail(restored.error());
  if (options.as_json) {
    json::object document = document_of(restored->facts);
    document["database"] = restored->database.string();
    document["oldDatabase"] = restored->kept.string();
    document["oldHostId"] = restored->old_host_id;
    document["secretsKeyMissing"] = restored->secrets_key_missing;
    return print_json(document);
  }
  std::string text = "restored " + restored->database.string() + "\n" + described(restored->facts);
  if (!restored->kept.empty())
    text += "  the old database is kept as " + restored->kept.string() + "\n";
  if (!restored->old_host_id.empty())
    text += "  the folder was of host " + harmless(restored->old_host_id) + " and is of host " +
            harmless(restored->facts.host_id) + " now\n";
  if (restored->secrets_key_missing)
    text +=
        "  secrets.key is not there: put the copy that was kept apart into the folder, or rotate "
        "the clients' secrets\n";
  print(text +
        "Start the host. It compares with what the providers list before it launches anything.\n");
}

}  // namespace

void add_backup_commands(CLI::App& app) {
  const auto options = std::make_shared<BackupOptions>();
  const auto as_json = [&](CLI::App* command) {
    command->add_flag("--json", options->as_json, "Print JSON");
  };
  CLI::App* backup = app.add_subcommand(
      "backup", "Copy the host's database to a new file and verify it; the host keeps running");
  add_host_options(*backup, options->host);
  as_json(backup);
  auto* name = backup->add_option("NAME", options->name,
                                  "The name of the new file, in the folder for backups of the host "
                                  "(store.backupFolder)");
  backup->require_subcommand(0, 1);
  CLI::App* verification = backup->add_subcommand(
      "verify", "Read a whole backup and say whether it can be restored; needs no host");
  verification->add_option("FILE", options->file, "What `muster backup` wrote")->required();
  as_json(verification);
  verification->callback([options] { verify(*options); });
  backup->callback([options, backup, name] {
    if (!backup->get_subcommands().empty()) return;
    if (name->count() == 0) throw CLI::RequiredError("NAME");
    back_up(*options);
  });

  CLI::App* restoring = app.add_subcommand(
      "restore", "Verify a backup and put it into the data directory of a host that is stopped");
  restoring->add_option("FILE", options->file, "What `muster backup` wrote")->required();
  restoring
      ->add_option(
          "--data-directory", options->host.data_directory,
          "The data directory of the host, such as /var/lib/muster; made if its parent exists")
      ->type_name("FOLDER")
      ->required();
  restoring->add_flag("--force", options->force,
                      "Replace the database that is there, which is kept beside it, and take over "
                      "the host id of the backup");
  as_json(restoring);
  restoring->callback([options] { restore(*options); });
}

}  // namespace muster::cli

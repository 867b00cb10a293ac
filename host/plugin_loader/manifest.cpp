#include "host/plugin_loader/manifest.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>

#include <toml++/toml.h>

#include "lib/base/atomic_file.hpp"

namespace muster::plugin_loader {
namespace {

constexpr std::size_t max_manifest_size = 64 * 1024;

// toml++ 3.3 has undefined behaviour on some bytes that are no text, so those never reach it.
bool is_plain_text(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (byte >= 0x20 || c == '\n' || c == '\r' || c == '\t');
  });
}

bool is_name(const std::string& name) {
  const auto plain = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) ||
           std::isdigit(static_cast<unsigned char>(c));
  };
  return !name.empty() && name.size() <= 64 && plain(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return plain(c) || c == '_' || c == '-'; });
}

// Reads the fields one after another and keeps every mistake.
class ManifestReader {
 public:
  ManifestReader(const std::filesystem::path& file, const toml::table& table)
      : file_(file), table_(table) {}

  Result<Manifest> read() {
    Manifest manifest;
    manifest.name = text("name");
    manifest.kind = text("kind");
    manifest.version = text("version");
    manifest.file = text("file");
    manifest.sha256 = text("sha256");
    if (!manifest.name.empty() && !is_name(manifest.name))
      mistake("name",
              "must be lower-case letters, digits, - and _, and begin with a letter or digit");
    if (!manifest.kind.empty() && manifest.kind != "provider" && manifest.kind != "strategy")
      mistake("kind", "is \"" + manifest.kind + "\"; it must be \"provider\" or \"strategy\"");
    if (!manifest.file.empty() &&
        (manifest.file.find('/') != std::string::npos || manifest.file.starts_with('.')))
      mistake("file", "must be the name of a file beside " + std::string(manifest_name) +
                          ", without a folder");
    const bool is_hash = manifest.sha256.size() == 64 &&
                         manifest.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!manifest.sha256.empty() && !is_hash) mistake("sha256", "must be 64 lower-case hex digits");
    if (const auto* abi = table_.get("abi"); abi && abi->value<int64_t>() != MUSTER_ABI_MAJOR)
      mistake("abi", "is not " + std::to_string(MUSTER_ABI_MAJOR) +
                         ", the plugin ABI that this host speaks");
    if (const auto* word = table_.get("isolation")) {
      manifest.isolation = isolation_from(word->value_or(std::string()));
      if (!manifest.isolation) mistake("isolation", "must be \"in_process\" or \"process\"");
    }
    refuse_unknown();
    if (!mistakes_.empty()) return Error::invalid(mistakes_);
    return manifest;
  }

 private:
  std::string text(std::string_view key) {
    const auto* node = table_.get(key);
    if (!node) return mistake(key, "is missing"), std::string();
    if (!node->is_string() || node->value_or(std::string()).empty())
      return mistake(key, "must be a string that is not empty"), std::string();
    return node->value_or(std::string());
  }

  void refuse_unknown() {
    constexpr std::array<std::string_view, 7> known{"name", "kind",   "version",  "abi",
                                                    "file", "sha256", "isolation"};
    for (const auto& [key, node] : table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        mistake(key.str(),
                "is not a key of a manifest; known are name, kind, version, abi, file, sha256, "
                "isolation");
  }

  void mistake(std::string_view key, const std::string& what) {
    const auto* node = table_.get(key);
    const auto at = node ? node->source().begin : toml::source_position{1, 1};
    std::ostringstream line;
    line << file_.string() << ':' << at.line << ':' << at.column << ": " << key << ' ' << what;
    (mistakes_ += mistakes_.empty() ? "" : "\n") += line.str();
  }

  const std::filesystem::path& file_;
  const toml::table& table_;
  std::string mistakes_;
};

}  // namespace

Result<Manifest> read_manifest(const std::filesystem::path& file) {
  const auto text = read_file(file, max_manifest_size);
  if (!text) return text.error();
  if (!is_plain_text(*text)) return Error::invalid(file.string() + " is not plain ASCII text");
  try {
    const toml::table table = toml::parse(*text, file.string());
    return ManifestReader(file, table).read();
  } catch (const toml::parse_error& error) {
    std::ostringstream line;
    line << file.string() << ':' << error.source().begin.line << ':' << error.source().begin.column
         << ": " << error.description();
    return Error::invalid(line.str());
  }
}

std::string write_manifest(const Manifest& manifest) {
  toml::table table{{"name", manifest.name},       {"kind", manifest.kind},
                    {"version", manifest.version}, {"abi", MUSTER_ABI_MAJOR},
                    {"file", manifest.file},       {"sha256", manifest.sha256}};
  if (manifest.isolation) table.insert("isolation", to_string(*manifest.isolation));
  std::ostringstream text;
  text << table << '\n';
  return text.str();
}

}  // namespace muster::plugin_loader

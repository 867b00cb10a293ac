#include "plugins/provider/aws/shared_files.hpp"

#include "lib/base/atomic_file.hpp"
#include "lib/base/letter_case.hpp"

namespace muster::aws {
namespace {

constexpr std::size_t most_file_bytes = 1 << 20;
constexpr std::string_view blanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// "profile  x" → "x"; nothing for sections that are no profiles ("sso-session x").
std::string profile_name(std::string_view section, SharedFile file) {
  section = trimmed(section);
  if (file == SharedFile::credentials || section == "default") return std::string(section);
  constexpr std::string_view prefix = "profile";
  if (!section.starts_with(prefix)) return {};
  const std::string_view name = section.substr(prefix.size());
  return name.find_first_of(blanks) == 0 ? std::string(trimmed(name)) : std::string();
}

Result<void> read_into(Profile& profile, bool& found, const std::string& path, SharedFile file,
                       const std::string& name) {
  if (path.empty()) return {};
  const auto text = read_file(path, most_file_bytes);
  if (!text && text.error().error_class == ErrorClass::not_found) return {};
  if (!text) return Error::auth("the file " + path + " cannot be read: " + text.error().message);
  const Profiles profiles = parse_profiles(*text, file);
  const auto section = profiles.find(name);
  if (section == profiles.end()) return {};
  found = true;
  for (const auto& [key, value] : section->second) profile[key] = value;
  return {};
}

}  // namespace

Profiles parse_profiles(std::string_view text, SharedFile file) {
  Profiles profiles;
  std::string section = "default";
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view whole = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view line = trimmed(whole);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      section = profile_name(line.substr(1, line.find(']') - 1), file);
      if (!section.empty()) profiles[section];
      continue;
    }
    const auto equals = line.find('=');
    const bool is_nested = whole.front() == ' ' || whole.front() == '\t';
    if (equals == line.npos || section.empty() || is_nested) continue;
    profiles[section][to_lower(trimmed(line.substr(0, equals)))] = trimmed(line.substr(equals + 1));
  }
  return profiles;
}

Result<Profile> read_profile(const SharedFiles& files, const std::string& name) {
  Profile profile;
  bool found = false;
  if (auto read = read_into(profile, found, files.config_file, SharedFile::config, name); !read)
    return read.error();
  if (auto read = read_into(profile, found, files.credentials_file, SharedFile::credentials, name);
      !read)
    return read.error();
  if (found) return profile;
  const auto shown = [](const std::string& path) { return path.empty() ? "(no file)" : path; };
  return Error::not_found("there is no profile \"" + name + "\" in " + shown(files.config_file) +
                          " and " + shown(files.credentials_file));
}

}  // namespace muster::aws

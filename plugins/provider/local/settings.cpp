#include "plugins/provider/local/settings.hpp"

#include <algorithm>
#include <thread>
#include <unistd.h>

#include <muster/codec.hpp>
#include <muster/nearest.hpp>

#include "lib/process/environment_names.hpp"
#include "plugins/base/quantities.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_workers = 10'000;
constexpr std::int64_t least_memory = 16 << 20;  // less would not even hold the agent

Error mistake(const std::string& path, const std::string& what) {
  return Error::invalid(path + ": " + what);
}

// As it is written; texts that mean more are read in a second step.
struct Written {
  std::optional<std::string> folder = {};
  bool temporary = false;
  std::string region = "here";
  json::value agent = {};
  std::optional<std::int64_t> max_workers = {};
  std::string stop_grace = "30s", start_timeout = "20s", keep_stopped = "1h",
              output_limit = "10MiB";
  std::map<std::string, json::value> images = {};
  std::map<std::string, std::string> environment = {}, timings = {};
  std::optional<std::string> ca_file = {}, cgroup = {}, user = {};
  std::vector<std::string> allowed_environment = {};

  static constexpr auto fields(auto visit) {
    return visit(
        optional("folder", &Written::folder), optional("temporary", &Written::temporary),
        optional("region", &Written::region), optional("agent", &Written::agent),
        optional("maxWorkers", &Written::max_workers), optional("stopGrace", &Written::stop_grace),
        optional("startTimeout", &Written::start_timeout),
        optional("keepStopped", &Written::keep_stopped),
        optional("outputLimit", &Written::output_limit), optional("images", &Written::images),
        optional("environment", &Written::environment), optional("timings", &Written::timings),
        optional("caFile", &Written::ca_file), optional("cgroup", &Written::cgroup),
        optional("user", &Written::user),
        optional("allowedEnvironment", &Written::allowed_environment));
  }
};

Result<std::vector<std::string>> read_command(const json::value& value, const std::string& path) {
  auto command = from_value<std::vector<std::string>>(value);
  if (!command) return mistake(path, command.error().message);
  if (command->empty()) return mistake(path, "an empty list names no program");
  if (!fs::path(command->front()).is_absolute())
    return mistake(path, "\"" + command->front() + "\" is not an absolute path");
  for (const std::string& word : *command)
    if (word.find('\0') != std::string::npos) return mistake(path, "has a zero byte");
  return command;
}

Result<std::vector<std::string>> read_agent(const json::value& value) {
  if (value.is_null()) return std::vector<std::string>();
  if (!value.is_string()) return read_command(value, "agent");
  return read_command(json::array{value}, "agent");
}

Result<Image> read_image(const json::value& value, const std::string& path) {
  if (!value.is_object()) {
    auto command = read_command(value, path);
    if (!command) return command.error();
    return Image{std::move(*command)};
  }
  Image image;
  for (const auto& [key, member] : value.get_object()) {
    if (key == "command") {
      auto command = read_command(member, path + ".command");
      if (!command) return command.error();
      image.command = std::move(*command);
    } else if (key == "refresh") {
      const bool word =
          member.is_string() && (member.get_string() == "signal" || member.get_string() == "none");
      if (!word) {
        const auto command = read_command(member, path + ".refresh");
        if (!command)
          return mistake(path + ".refresh", "is neither \"signal\" nor \"none\" nor a command");
      }
      image.refresh = member;
    } else {
      return mistake(path + "." + std::string(key), "is not known; there are command and refresh");
    }
  }
  if (image.command.empty()) return mistake(path + ".command", "is missing");
  return image;
}

Result<void> read_texts(const Written& written, Settings& settings) {
  const auto duration = [](const char* path, const std::string& text,
                           std::chrono::milliseconds& into) -> Result<void> {
    const auto read = parse_duration(text);
    if (!read) return mistake(path, "\"" + text + "\" is not a time like \"30s\" or \"5m\"");
    into = *read;
    return {};
  };
  if (auto read = duration("stopGrace", written.stop_grace, settings.stop_grace); !read)
    return read;
  if (auto read = duration("startTimeout", written.start_timeout, settings.start_timeout); !read)
    return read;
  if (auto read = duration("keepStopped", written.keep_stopped, settings.keep_stopped); !read)
    return read;
  const auto bytes = parse_bytes(written.output_limit);
  if (!bytes || *bytes < 4096)
    return mistake("outputLimit",
                   "\"" + written.output_limit + "\" is not a size like \"10MiB\", from 4KiB");
  settings.output_limit = *bytes;
  return {};
}

Result<void> read_paths(const Written& written, Settings& settings) {
  if (written.folder && written.temporary)
    return mistake("temporary", "a provider with a folder is not temporary; remove one of the two");
  if (!written.folder && !written.temporary)
    return mistake("folder",
                   "is missing: an absolute path where workers live, which must outlast restarts "
                   "(or temporary = true, to try it out)");
  const auto absolute = [](const char* path, const std::optional<std::string>& text,
                           std::string& into) -> Result<void> {
    if (!text) return {};
    if (!fs::path(*text).is_absolute() || text->find('\0') != std::string::npos)
      return mistake(path, "\"" + *text + "\" is not an absolute path");
    into = fs::path(*text).lexically_normal().string();
    while (into.size() > 1 && into.back() == '/') into.pop_back();
    return {};
  };
  std::string folder, cgroup;
  if (auto read = absolute("folder", written.folder, folder); !read) return read;
  if (folder == "/") return mistake("folder", "\"/\" cannot be the folder of workers alone");
  if (auto read = absolute("caFile", written.ca_file, settings.ca_file); !read) return read;
  if (auto read = absolute("cgroup", written.cgroup, cgroup); !read) return read;
  settings.folder = folder;
  settings.cgroup = cgroup;
  return {};
}

Result<void> read_user(const Written& written, Settings& settings) {
  for (const std::string& name : written.allowed_environment)
    if (const auto good = check_allowed_variable(name); !good)
      return mistake("allowedEnvironment", good.error().message);
  settings.allowed_environment = written.allowed_environment;
  auto user = choose_worker_user(written.user, own_user());
  if (!user) return mistake("user", user.error().message);
  settings.user = std::move(*user);
  return {};
}

std::int64_t cores() {
  return std::max<std::int64_t>(1, std::thread::hardware_concurrency());
}

// A section as it is written.
struct SectionText {
  std::optional<std::string> image = {}, memory = {};
  std::int64_t capacity = 1;
  std::optional<double> cpus = {};
  std::optional<std::int64_t> open_files = {}, processes = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("image", &SectionText::image), optional("memory", &SectionText::memory),
                 optional("capacity", &SectionText::capacity), optional("cpus", &SectionText::cpus),
                 optional("openFiles", &SectionText::open_files),
                 optional("processes", &SectionText::processes));
  }
};

}  // namespace

Result<Settings> read_settings(const json::object& config) {
  const auto written = from_value<Written>(json::value(config));
  if (!written) return written.error();
  Settings settings;
  if (auto read = read_paths(*written, settings); !read) return read.error();
  if (auto read = read_texts(*written, settings); !read) return read.error();
  if (auto read = read_user(*written, settings); !read) return read.error();
  if (written->region.empty()) return mistake("region", "is empty");
  settings.region = written->region;
  auto agent = read_agent(written->agent);
  if (!agent) return agent.error();
  settings.agent = std::move(*agent);
  settings.max_workers = written->max_workers.value_or(cores());
  if (settings.max_workers < 0 || settings.max_workers > most_workers)
    return mistake("maxWorkers", "is not between 0 and " + std::to_string(most_workers));
  for (const auto& [name, value] : written->images) {
    if (name.empty()) return mistake("images", "an image has no name");
    auto image = read_image(value, "images." + name);
    if (!image) return image.error();
    settings.images.emplace(name, std::move(*image));
  }
  for (const auto& [name, value] : written->environment)
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos ||
        value.find('\0') != std::string::npos)
      return mistake("environment." + name, "cannot be in an environment");
  settings.environment = written->environment;
  for (const auto& [name, value] : written->timings)
    if (!parse_duration(value))
      return mistake("timings." + name, "\"" + value + "\" is not a time like \"30s\" or \"5m\"");
  settings.timings = written->timings;
  return settings;
}

Result<Section> read_section(const json::object& document, const Settings& settings) {
  const std::string path = std::string(section_name) + ".";
  const json::value* found = document.if_contains(section_name);
  if (!found) return mistake(section_name, "is missing; local workers need at least its image");
  if (!found->is_object()) return mistake(section_name, "expected an object");
  const auto text = from_value<SectionText>(*found);
  if (!text) return Error::invalid(path + text.error().message);
  if (!text->image) return mistake(path + "image", "is missing");
  if (!settings.images.contains(*text->image)) {
    std::vector<std::string_view> known;
    for (const auto& [name, image] : settings.images) known.push_back(name);
    const auto near = nearest(*text->image, known);
    return mistake(path + "image",
                   "the host has no image \"" + *text->image + "\"" +
                       (near ? "; did you mean \"" + *near + "\"?" : "; its operator names them"));
  }
  Section section{*text->image, text->capacity, {}, text->cpus, text->open_files, text->processes};
  if (text->memory) {
    section.memory = parse_bytes(*text->memory);
    if (!section.memory || *section.memory < least_memory)
      return mistake(path + "memory",
                     "\"" + *text->memory + "\" is not a size like \"512MiB\", from 16MiB");
  }
  if (section.capacity < 1 || section.capacity > 1'000'000)
    return mistake(path + "capacity", "is not between 1 and 1000000");
  if (section.cpus && !(*section.cpus >= 0.01 && *section.cpus <= 10'000))
    return mistake(path + "cpus", "is not between 0.01 and 10000");
  if (section.open_files && (*section.open_files < 32 || *section.open_files > 1'048'576))
    return mistake(path + "openFiles", "is not between 32 and 1048576");
  if (section.processes && (*section.processes < 8 || *section.processes > 4'194'304))
    return mistake(path + "processes", "is not between 8 and 4194304");
  return section;
}

Result<void> check_worker_config(const json::object& document, const Settings& settings) {
  const json::value* config = document.if_contains("workerConfig");
  if (!config || !config->is_object()) return {};
  return check_environment(config->get_object(), settings.allowed_environment);
}

fs::path find_agent(const fs::path& running) {
  const fs::path folder = running.parent_path();
  for (const fs::path& candidate :
       {folder / "muster-agent", folder / "../bin/muster-agent", folder / "../../bin/muster-agent",
        fs::path("/usr/bin/muster-agent"), fs::path("/usr/local/bin/muster-agent")})
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.lexically_normal();
  return {};
}

}  // namespace muster::local

// Demand from a file: for cron jobs, tests and scripts.
#include <sys/stat.h>

#include "host/demand/source.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/toml/toml_document.hpp"

namespace muster::demand {
namespace {

constexpr std::size_t max_bytes = 16 << 20;

class FileSource final : public DemandSource {
 public:
  explicit FileSource(std::filesystem::path file) : file_(std::move(file)) {}

  Result<Answer> poll(const std::vector<WorkerPoolId>& pools, const Context& context) override {
    struct stat before {};
    if (::stat(file_.c_str(), &before) != 0) return system_error("read", file_, errno);
    const auto text = read_file(file_, max_bytes);
    if (!text) return text.error();
    const auto document = parse(*text);
    if (!document) return Error::invalid(file_.string() + ": " + document.error().message);
    // What it says was true when it was written, not when it is read: a job that died shows.
    const Time written(std::chrono::seconds(before.st_mtim.tv_sec) +
                       std::chrono::milliseconds(before.st_mtim.tv_nsec / 1'000'000));
    auto answer = read_counts(*document, pools, std::min(written, context.now()));
    if (!answer) return Error::invalid(file_.string() + ": " + answer.error().message);
    return answer;
  }

  std::vector<WatchedFolder> folders_to_watch() const override {
    return {{file_.parent_path(), file_.filename().string()}};
  }

 private:
  Result<json::value> parse(const std::string& text) const {
    if (file_.extension() != ".toml") return json::parse(text);
    auto parsed = config::parse_toml(text);
    if (const auto* mistake = boost::variant2::get_if<config::Mistake>(&parsed))
      return Error::invalid("line " + std::to_string(mistake->position.line) + ": " +
                            mistake->reason);
    return json::value(std::move(boost::variant2::get<config::TomlDocument>(parsed).root));
  }

  std::filesystem::path file_;
};

}  // namespace

std::unique_ptr<DemandSource> file_source(const config::DemandSettings& settings) {
  return std::make_unique<FileSource>(settings.file);
}

}  // namespace muster::demand

#include "host/store/commit_mark.hpp"

#include <array>
#include <charconv>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>

#include <muster/codec.hpp>

#include "lib/base/secret.hpp"

namespace muster::store {
namespace {

// "muster-mark 1 <number> <milliseconds> <sum>\n": always as long, so that a new one covers the
// old.
constexpr std::string_view words = "muster-mark 1 ";
constexpr std::size_t digits = 19;
constexpr std::size_t sum_size = 8;
constexpr std::size_t mark_size = words.size() + 2 * (digits + 1) + sum_size + 1;

std::string padded(std::int64_t number) {
  std::string text = std::to_string(number);
  text.insert(0, text.size() < digits ? digits - text.size() : 0, '0');
  return text;
}

std::string sum_of(std::string_view text) {
  return to_hex(sha256(text)).substr(0, sum_size);
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string to_string(const MissingCommits& missing, const std::filesystem::path& file) {
  const std::string have = missing.have.number == 0
                               ? " holds no change"
                               : " ends with change " + std::to_string(missing.have.number) +
                                     " of " + format_time(missing.have.at);
  return "the database " + file.string() + have + ", but change " +
         std::to_string(missing.expected.number) + " of " + format_time(missing.expected.at) +
         " was acknowledged: " + std::to_string(missing.expected.number - missing.have.number) +
         " are missing, because its log was damaged or removed, or an older copy was put in its "
         "place. The host goes on and compares with what the providers list; requests, leases and "
         "clients of that time are to be made again";
}

std::optional<Commit> CommitMark::read() const {
  const FileDescriptor opened(
      ::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::array<char, mark_size> bytes{};
  if (!opened || ::pread(opened.get(), bytes.data(), bytes.size(), 0) != ssize_t{mark_size})
    return std::nullopt;
  const std::string_view text(bytes.data(), bytes.size());
  const std::string_view summed = text.substr(0, mark_size - sum_size - 1);
  if (!text.starts_with(words) || text.substr(summed.size(), sum_size) != sum_of(summed))
    return std::nullopt;
  const auto number = number_in(text.substr(words.size(), digits));
  const auto at = number_in(text.substr(words.size() + digits + 1, digits));
  if (!number || !at) return std::nullopt;
  return Commit{*number, Time(std::chrono::milliseconds(*at))};
}

void CommitMark::write(const Commit& commit) {
  if (!opened_)
    opened_ =
        FileDescriptor(::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!opened_) return;
  std::string text = std::string(words) + padded(commit.number) + ' ' +
                     padded(std::int64_t{commit.at.time_since_epoch().count()}) + ' ';
  text += sum_of(text) + '\n';
  if (::pwrite(opened_.get(), text.data(), text.size(), 0) != ssize_t{mark_size})
    opened_ = FileDescriptor();
}

}  // namespace muster::store

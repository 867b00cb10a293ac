#include "host/plugin_loader/crash_record.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster::plugin_loader {

enum class SlotState : std::uint32_t { free, running, crashed };

// One thread that runs plugin code, or one culprit of an earlier life.
struct Slot {
  std::atomic<SlotState> state;
  char label[124];
};

struct Page {
  static constexpr std::uint64_t known_magic =
      0x31'62'6d'75'72'63'2d'6d;  // a file of another layout is begun anew
  std::uint64_t magic;
  std::array<Slot, 256> slots;
};

namespace {

// The slot of the plugin that this thread runs. Trivial and in the executable, so a signal handler
// may read it.
thread_local constinit Slot* current = nullptr;

void on_crash(int signal) {
  if (current != nullptr) current->state.store(SlotState::crashed);
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  ::sigaction(signal, &fallback, nullptr);
  ::raise(signal);
}

std::string_view label_of(const Slot& slot) {
  return {slot.label, ::strnlen(slot.label, sizeof slot.label)};
}

}  // namespace

Result<std::shared_ptr<CrashRecord>> CrashRecord::open(const std::filesystem::path& file) {
  const FileDescriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!descriptor || ::ftruncate(descriptor.get(), sizeof(Page)) != 0)
    return system_error("open", file, errno);
  // Memory that has no room on the disk would kill the process when it is written.
  if (const int failed = ::posix_fallocate(descriptor.get(), 0, sizeof(Page)); failed != 0)
    return system_error("write", file, failed);
  void* memory =
      ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (memory == MAP_FAILED) return system_error("map", file, errno);
  auto* page = static_cast<Page*>(memory);
  if (page->magic != Page::known_magic) {
    std::memset(memory, 0, sizeof(Page));
    page->magic = Page::known_magic;
  }
  for (Slot& slot : page->slots)
    if (slot.state != SlotState::crashed) slot.state = SlotState::free;
  return std::shared_ptr<CrashRecord>(new CrashRecord(page));
}

CrashRecord::~CrashRecord() {
  ::munmap(page_, sizeof(Page));
}

bool CrashRecord::has_crashed(std::string_view label) const {
  return std::any_of(page_->slots.begin(), page_->slots.end(), [&](const Slot& slot) {
    return slot.state == SlotState::crashed &&
           label_of(slot) == label.substr(0, sizeof slot.label - 1);
  });
}

void CrashRecord::record_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_NODEFER;
    ::sigaction(signal, &action, nullptr);
  }
}

CrashRecord::Running::Running(CrashRecord* record, std::string_view label) : outer_(current) {
  if (record == nullptr) return;
  for (Slot& slot : record->page_->slots) {
    auto expected = SlotState::free;
    if (!slot.state.compare_exchange_strong(expected, SlotState::running)) continue;
    const std::size_t size = std::min(label.size(), sizeof slot.label - 1);
    std::memcpy(slot.label, label.data(), size);
    slot.label[size] = '\0';
    current = slot_ = &slot;
    return;
  }
}

CrashRecord::Running::~Running() {
  current = outer_;
  if (slot_ != nullptr) slot_->state = SlotState::free;
}

}  // namespace muster::plugin_loader

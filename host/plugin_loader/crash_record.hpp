// Which plugin was running in this process when it died. A crash of an in-process plugin takes the
// host with it; the next start reads the culprit's name here and runs it in a cell from then on.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace muster::plugin_loader {

// A small file, mapped shared: what is written survives the process without a system call. A fatal
// signal marks the slot of the thread that it hit; a host that is killed from outside marks none
// and blames nobody.
class CrashRecord {
 public:
  // Maps the file, making it if need be. `culprits` of the process before are read first and stay
  // listed until forgive() is called.
  static Result<std::shared_ptr<CrashRecord>> open(const std::filesystem::path& file);
  ~CrashRecord();
  CrashRecord(const CrashRecord&) = delete;
  CrashRecord& operator=(const CrashRecord&) = delete;

  // What crashed the host in its earlier lives. The label names a version: a new one gets a new
  // judgement.
  bool has_crashed(std::string_view label) const;

  // Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT: marks the slot, then dies as it would
  // have. Once per process, by main().
  static void record_crashes();

  // While it lives, this thread runs that plugin. Nests.
  class Running {
   public:
    Running(CrashRecord* record, std::string_view label);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    struct Slot* slot_ = nullptr;
    struct Slot* outer_ = nullptr;
  };

 private:
  explicit CrashRecord(struct Page* page) : page_(page) {}
  struct Page* page_;
};

}  // namespace muster::plugin_loader

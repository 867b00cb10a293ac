#include "host/pools/service.hpp"

#include <algorithm>

#include "host/pools/kept_files.hpp"

namespace muster::pools {

Result<std::unique_ptr<Service>> Service::start(ServiceParts parts, ServiceSettings settings) {
  auto watch = FolderWatch::open();
  if (!watch) return watch.error();
  std::unique_ptr<Service> service(new Service(std::move(parts), settings, std::move(*watch)));
  service->thread_ = std::thread([raw = service.get()] { raw->run(); });
  return service;
}

Service::Service(ServiceParts parts, ServiceSettings settings, FolderWatch watch)
    : parts_(std::move(parts)),
      settings_(settings),
      watch_(std::move(watch)),
      builder_(settings.limits) {
  status_.source = parts_.source->name();
}

Service::~Service() {
  leaving_ = true;
  watch_.wake();
  if (thread_.joinable()) thread_.join();
}

Status Service::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

std::shared_ptr<const SourceFiles> Service::files(bool refused) const {
  const std::lock_guard lock(mutex_);
  return refused ? refused_ : serving_;
}

void Service::run() {
  read_what_was_kept();
  auto pause = settings_.retry;
  while (!leaving_) {
    // Watched before it is read: a change in between is seen.
    const auto watched = parts_.source->folders_to_watch();
    watch_.watch(watched);
    const bool well = take_up();
    if (parts_.source->folders_to_watch() != watched) continue;  // now it knows where to look
    pause = well ? settings_.retry : std::min(2 * pause, settings_.poll);
    if (!leaving_) wait(well ? settings_.poll : pause);
  }
}

// Files that change are no reason to ask the providers: what they offer is asked for when they say
// so, when it is time, and for new files.
void Service::wait(std::chrono::milliseconds at_most) {
  if (watch_.wait(at_most) != FolderWatch::Event::changed) ask_providers_ = true;
}

// False: in trouble that may go away, so it is worth trying again soon.
bool Service::take_up() {
  const bool could_read = read_source();
  if (!have_files_ || leaving_) return could_read;
  if (!ask_providers_ && !waiting_ && built_for_ && built_revision_ == newest_.revision)
    return could_read;
  ask_providers_ = false;
  const ProviderContext now = parts_.provider_context();
  if (leaving_) return true;
  if (waiting_ || built_revision_ != newest_.revision || !built_for_ || !same(*built_for_, now))
    build(now);
  return could_read && !waiting_;
}

// Somebody may be copying files into the folder: they are taken when they have stopped changing,
// for a file that is missing for a moment would end its pool.
Result<std::optional<SourceFiles>> Service::read_settled() {
  auto read = parts_.source->read(have_files_ ? newest_.revision : "");
  for (int tries = 0; tries < 50 && read && *read && parts_.source->changes_piecemeal(); ++tries) {
    if (watch_.wait(settings_.settle) == FolderWatch::Event::woken) ask_providers_ = true;
    if (leaving_) break;
    auto again = parts_.source->read((*read)->revision);
    if (again && !*again) break;
    read = std::move(again);
  }
  return read;
}

bool Service::read_source() {
  const bool accepted = accepted_.exchange(false);  // counts for what is read now, and once
  auto read = read_settled();
  if (leaving_) return true;
  if (!read) {
    const bool is_gone = read.error().error_class == ErrorClass::not_found && served_files() > 0;
    Error error = read.error();
    if (is_gone) error.message = held_back_sentence(error.message);
    return hold_back(error, is_gone, accepted, {digest_of({}), {}});
  }
  if (*read)
    if (auto doubt =
            doubt_about((*read)->files, served_files(), parts_.source->changes_piecemeal()))
      return hold_back(Error::not_found(std::move(*doubt)), true, accepted, std::move(**read));
  source_was_read();
  if (*read) {
    newest_ = std::move(**read);
    have_files_ = true;
  }
  return true;
}

// An unmounted disk looks like an empty folder, and a typing mistake must not end the whole fleet:
// what served last goes on, unless an operator has said that `left` is meant.
bool Service::hold_back(const Error& error, bool could_be_meant, bool accepted, SourceFiles left) {
  if (could_be_meant && accepted) {
    parts_.log.warning("an operator has accepted that worker configurations are gone",
                       {{"source", parts_.source->name()}, {"files", left.files.size()}});
    newest_ = std::move(left);
    have_files_ = true;
    source_was_read();
    return true;
  }
  source_failed(error, could_be_meant);
  if (!have_files_ && kept_ && !kept_->files.empty()) {
    newest_ = *kept_;
    have_files_ = true;
  }
  return false;
}

std::size_t Service::served_files() const {
  if (kept_) return kept_->files.size();
  return !have_files_ && parts_.has_pools() ? 1 : 0;
}

void Service::read_what_was_kept() {
  if (parts_.kept.empty()) return;
  auto kept = read_kept(parts_.kept);
  if (kept)
    kept_ = std::move(*kept);
  else
    parts_.log.error("the worker configurations that served last cannot be read",
                     {{"error", kept.error().message}});
}

void Service::keep_serving() {
  const bool same = kept_ && kept_->revision == newest_.revision &&
                    digest_of(kept_->files) == digest_of(newest_.files);
  kept_ = newest_;
  if (parts_.kept.empty() || same) return;
  if (const auto kept = keep(newest_, parts_.kept); !kept)
    parts_.log.error("the worker configurations that serve cannot be kept for the next start",
                     {{"error", kept.error().message}});
}

Result<void> Service::accept_what_is_left() {
  if (!status().held_back)
    return Error::invalid(
        "nothing is held back: the worker configurations serve as they are, see: muster status");
  accepted_ = true;
  watch_.wake();
  return {};
}

void Service::source_was_read() {
  {
    const std::lock_guard lock(mutex_);
    if (status_.source_error.empty()) return;
    status_.source_error.clear();
    status_.source_failed_at.reset();
    status_.held_back = false;
  }
  parts_.log.info("the worker configurations can be read again",
                  {{"source", parts_.source->name()}});
  parts_.status_changed(status());
}

void Service::source_failed(const Error& error, bool held_back) {
  {
    const std::lock_guard lock(mutex_);
    if (!status_.source_failed_at) status_.source_failed_at = parts_.clock->now();
    status_.held_back = held_back;
    if (status_.source_error == error.message) return;
    status_.source_error = error.message;
  }
  parts_.log.warning("the worker configurations cannot be read: " + error.message,
                     {{"source", parts_.source->name()}});
  parts_.status_changed(status());
}

void Service::build(const ProviderContext& provider_context) {
  const Expand expand = [this](const ProviderId& id, const ExpandRequest& request) {
    if (leaving_) return Result<Expansion>(Error::cancelled("the host is stopping"));
    return parts_.expand(id, request);
  };
  const Outcome outcome = builder_.build(newest_.files, newest_.revision, provider_context, expand);
  if (leaving_) return;
  built_for_ = provider_context;
  built_revision_ = newest_.revision;
  waiting_ = !outcome.waits.empty() && !rules::has_errors(outcome.problems);
  if (outcome.configuration)
    serve(outcome);
  else
    refuse(outcome);
}

void Service::serve(const Outcome& outcome) {
  Status status;
  status.source = parts_.source->name();
  status.revision = newest_.revision;
  status.loaded_at = parts_.clock->now();
  status.files = newest_.files.size();
  status.pools = outcome.configuration->pools.size();
  for (const auto& [id, pool] : outcome.configuration->pools)
    status.launch_configs += pool->launch_configs.size();
  status.problems = outcome.problems;
  {
    const std::lock_guard lock(mutex_);
    status.source_error = status_.source_error;
    status.source_failed_at = status_.source_failed_at;
    status.held_back = status_.held_back;
    status_ = status;
    serving_ = std::make_shared<const SourceFiles>(newest_);
    refused_.reset();
  }
  parts_.log.info("the worker configurations are in force",
                  {{"revision", status.revision},
                   {"files", status.files},
                   {"pools", status.pools},
                   {"launchConfigs", status.launch_configs}});
  keep_serving();
  parts_.accept(outcome.configuration);
  parts_.status_changed(status);
}

void Service::refuse(const Outcome& outcome) {
  {
    const std::lock_guard lock(mutex_);
    const bool is_new = status_.refused_revision != newest_.revision ||
                        status_.problems != outcome.problems || status_.waits != outcome.waits;
    if (status_.refused_revision != newest_.revision || !status_.refused_at)
      status_.refused_at = parts_.clock->now();
    if (!refused_ || refused_->revision != newest_.revision)
      refused_ = std::make_shared<const SourceFiles>(newest_);
    status_.refused_revision = newest_.revision;
    status_.problems = outcome.problems;
    status_.waits = outcome.waits;
    if (!is_new) return;
  }
  for (const rules::Problem& problem : outcome.problems)
    if (problem.severity == rules::Severity::error)
      parts_.log.error("the worker configurations are refused: " + rules::to_string(problem),
                       {{"revision", newest_.revision}});
  for (const Wait& wait : outcome.waits)
    parts_.log.warning("the worker configurations wait for a provider: " + wait.reason,
                       {{"provider", wait.provider_id.str()}, {"revision", newest_.revision}});
  parts_.status_changed(status());
}

}  // namespace muster::pools

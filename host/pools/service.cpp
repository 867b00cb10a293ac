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

std::shared_ptr<const SourceFiles> Service::previous_files() const {
  const std::lock_guard lock(mutex_);
  return previous_;
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

void Service::keep_last_good(SourceFiles last_good) {
  const bool same = kept_ && kept_->revision == last_good.revision &&
                    digest_of(kept_->files) == digest_of(last_good.files);
  kept_ = std::move(last_good);
  if (parts_.kept.empty() || same) return;
  if (const auto kept = keep(*kept_, parts_.kept); !kept)
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
  const bool same_providers = built_for_ && same(*built_for_, provider_context);
  Selection selection =
      select_files(builder_, newest_, kept_ ? kept_->files : std::vector<rules::SourceFile>(),
                   provider_context, expand);
  if (leaving_) return;
  built_for_ = provider_context;
  built_revision_ = newest_.revision;
  waiting_ = !selection.outcome.waits.empty();
  if (selection.outcome.configuration)
    serve(std::move(selection), same_providers);
  else
    refuse(selection);
}

// What is held back of the newest revision, and since when.
void Service::show_refusal(Status& status, const Selection& selection) const {
  status.problems = selection.outcome.problems;
  status.waits = selection.outcome.waits;
  status.held_files = selection.held;
  const Status before = this->status();
  const bool is_same = before.refused_revision == newest_.revision && before.refused_at;
  status.refused_revision = newest_.revision;
  status.refused_at = is_same ? before.refused_at : parts_.clock->now();
}

// Whether the fleet has this already.
bool Service::is_in_force(const Selection& selection) const {
  const fleet::Configuration& now = *selection.outcome.configuration;
  return in_force_ && kept_ && digest_of(kept_->files) == digest_of(selection.last_good) &&
         in_force_->pools == now.pools && in_force_->untouched_origins == now.untouched_origins;
}

void Service::serve(Selection selection, bool same_providers) {
  const Outcome& outcome = selection.outcome;
  const bool is_old = same_providers && is_in_force(selection);
  Status status = this->status();
  // If only the last good versions serve, nothing of the newest revision does.
  const bool nothing_new =
      !selection.held.empty() && kept_ && digest_of(kept_->files) == digest_of(selection.last_good);
  const SourceFiles serving{nothing_new ? kept_->revision : newest_.revision,
                            std::move(selection.serving)};
  status.revision = serving.revision;
  if (!is_old) status.loaded_at = parts_.clock->now();
  status.files = serving.files.size();
  status.pools = outcome.configuration->pools.size();
  status.launch_configs = 0;
  for (const auto& [id, pool] : outcome.configuration->pools)
    status.launch_configs += pool->launch_configs.size();
  status.refused_revision.clear();
  status.refused_at.reset();
  if (!selection.held.empty()) {
    show_refusal(status, selection);
  } else {
    status.problems = outcome.problems;
    status.waits = outcome.waits;
    status.held_files.clear();
  }
  {
    const std::lock_guard lock(mutex_);
    // After a start, what served before it counts.
    auto before = serving_;
    if (!before && kept_) before = std::make_shared<const SourceFiles>(*kept_);
    if (before && digest_of(before->files) != digest_of(serving.files)) previous_ = before;
    serving_ = std::make_shared<const SourceFiles>(serving);
    refused_ = selection.held.empty() ? nullptr : std::make_shared<const SourceFiles>(newest_);
  }
  if (!is_old)
    parts_.log.info("the worker configurations are in force",
                    {{"revision", status.revision},
                     {"files", status.files},
                     {"pools", status.pools},
                     {"launchConfigs", status.launch_configs}});
  keep_last_good({serving.revision, std::move(selection.last_good)});
  in_force_ = outcome.configuration;
  publish(status, is_old ? nullptr : outcome.configuration);
}

// Nothing can serve; what served goes on.
void Service::refuse(const Selection& selection) {
  Status status = this->status();
  show_refusal(status, selection);
  {
    const std::lock_guard lock(mutex_);
    refused_ = std::make_shared<const SourceFiles>(newest_);
  }
  publish(status);
}

// The status is there before the configuration is accepted, and told after it.
void Service::publish(const Status& status,
                      const std::shared_ptr<const fleet::Configuration>& accepted) {
  Status before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(status_, status);
  }
  if (accepted) parts_.accept(accepted);
  if (before == status) return;
  log_news(before, status);
  parts_.status_changed(status);
}

void Service::log_news(const Status& before, const Status& now) const {
  const bool other_revision = before.refused_revision != now.refused_revision;
  if (other_revision || before.problems != now.problems)
    for (const rules::Problem& problem : now.problems)
      if (problem.severity == rules::Severity::error)
        parts_.log.error("the worker configurations are refused: " + rules::to_string(problem),
                         {{"revision", newest_.revision}});
  if (other_revision || before.held_files != now.held_files)
    for (const HeldFile& held : now.held_files)
      parts_.log.error(
          held.serves ? "a worker configuration is held back; its last good version stays in force"
                      : "a worker configuration is held back; no version of it can serve",
          {{"file", held.file}, {"reason", held.reason}, {"revision", newest_.revision}});
  if (other_revision || before.waits != now.waits)
    for (const Wait& wait : now.waits)
      parts_.log.warning("the worker configurations wait for a provider: " + wait.reason,
                         {{"provider", wait.provider_id.str()}, {"revision", newest_.revision}});
}

}  // namespace muster::pools

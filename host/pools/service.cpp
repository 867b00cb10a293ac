#include "host/pools/service.hpp"

#include <algorithm>

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

bool Service::read_source() {
  const std::string known = have_files_ ? newest_.revision : "";
  auto read = parts_.source->read(known);
  // Somebody may be copying files into the folder: they are taken when they have stopped changing,
  // for a file that is missing for a moment would end its pool.
  for (int tries = 0; tries < 50 && read && *read && parts_.source->changes_piecemeal(); ++tries) {
    if (watch_.wait(settings_.settle) == FolderWatch::Event::woken) ask_providers_ = true;
    if (leaving_) return true;
    auto again = parts_.source->read((*read)->revision);
    if (again && !*again) break;
    read = std::move(again);
  }
  if (!read) return source_failed(read.error()), false;
  if (*read && (*read)->files.empty() && have_files_ && !newest_.files.empty()) {
    // An unmounted disk looks the same, and a typing mistake must not end the whole fleet.
    source_failed(Error::not_found(
        "there is no worker configuration any more; the last ones stay in force. If all pools are "
        "really to end, restart the host"));
    return false;
  }
  source_was_read();
  if (*read) {
    newest_ = std::move(**read);
    have_files_ = true;
  }
  return true;
}

void Service::source_was_read() {
  {
    const std::lock_guard lock(mutex_);
    if (status_.source_error.empty()) return;
    status_.source_error.clear();
    status_.source_failed_at.reset();
  }
  parts_.log.info("the worker configurations can be read again",
                  {{"source", parts_.source->name()}});
  parts_.status_changed(status());
}

void Service::source_failed(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (!status_.source_failed_at) status_.source_failed_at = parts_.clock->now();
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
    status_ = status;
    serving_ = std::make_shared<const SourceFiles>(newest_);
    refused_.reset();
  }
  parts_.log.info("the worker configurations are in force",
                  {{"revision", status.revision},
                   {"files", status.files},
                   {"pools", status.pools},
                   {"launchConfigs", status.launch_configs}});
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

#include "plugins/provider/static/awake_machines.hpp"

#include <muster/codec.hpp>

#include "plugins/provider/static/settings.hpp"

namespace muster::static_machines {

KeptPowerState::KeptPowerState(const std::string& path) {
  if (!path.empty() && path != in_memory) file_.emplace(path);
}

Result<std::reference_wrapper<const PowerState>> KeptPowerState::look() {
  if (!file_) return std::cref(state_);
  const auto text = file_->refresh();
  if (!text) return text.error();
  if (!*text) return std::cref(state_);
  auto read = decode<PowerState>(**text);
  if (read && read->v == 1) {
    state_ = std::move(*read);
    return std::cref(state_);
  }
  file_->distrust();
  if (!read)
    return Error::invalid("stateFile: " + file_->path() + " is damaged: " + read.error().message +
                          "; restore it, or remove it once all powered machines sleep");
  return Error::invalid("stateFile: " + file_->path() + " has version " + std::to_string(read->v) +
                        ", this plugin reads version 1");
}

Result<void> KeptPowerState::change(const Context& context,
                                    const std::function<Result<void>(PowerState&)>& change) {
  std::optional<Descriptor> held;
  if (file_) {
    auto lock = file_->lock(context);
    if (!lock) return lock.error();
    held.emplace(std::move(*lock));
  }
  const auto current = look();
  if (!current) return current.error();
  PowerState next = state_;
  if (const auto changed = change(next); !changed) return changed.error();
  if (file_) {
    const std::string text = encode(next);
    if (text == encode(state_)) return {};
    if (const auto stored = file_->store(text); !stored) {
      file_->distrust();  // nobody knows what is there now
      return stored.error();
    }
  }
  state_ = std::move(next);
  return {};
}

}  // namespace muster::static_machines

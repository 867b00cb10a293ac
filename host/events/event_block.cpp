#include "host/events/event_block.hpp"

#include <algorithm>
#include <cstring>

#include <muster/codec.hpp>

namespace muster::events {
namespace {

constexpr std::string_view after_number = "\nevent: ", after_kind = "\ndata: ",
                           end_of_frame = "\n\n";
constexpr std::string_view before_number = "id: ";

std::size_t frame_bytes(const std::string& number, const Event& event, std::string_view json) {
  return before_number.size() + number.size() + after_number.size() + event.kind.size() +
         after_kind.size() + json.size() + end_of_frame.size();
}

}  // namespace

std::string to_json_line(const Event& event) {
  json::object document = codec::to_value(event).get_object();
  for (const char* name :
       {"workerPoolId", "launchConfigId", "providerId", "workerGroup", "workerId"})
    if (const auto* value = document.if_contains(name); value && value->get_string().empty())
      document.erase(name);
  if (event.details.empty()) document.erase("details");
  return json::write(json::value(std::move(document)));
}

EventBlock::EventBlock(std::size_t at_least_bytes)
    : capacity_(std::max(usual_bytes, at_least_bytes + 256)),
      bytes_(std::make_unique_for_overwrite<char[]>(capacity_)),
      entries_(std::make_unique<Entry[]>(usual_events)) {}

void EventBlock::write(std::string_view text) {
  std::memcpy(bytes_.get() + used_, text.data(), text.size());
  used_ += text.size();
}

bool EventBlock::append(const Event& event, std::string_view json) {
  const std::size_t at = size_.load(std::memory_order_relaxed);
  const std::string number = std::to_string(event.number);
  if (at == usual_events || used_ + frame_bytes(number, event, json) > capacity_) return false;
  if (at > 0 && event.number != entries_[at - 1].event.number + 1) return false;
  Entry& entry = entries_[at];
  entry.event = event;
  entry.begin = used_;
  write(before_number);
  write(number);
  write(after_number);
  write(event.kind);
  write(after_kind);
  entry.json = used_;
  write(json);
  write(end_of_frame);
  entry.end = used_;
  size_.store(at + 1, std::memory_order_release);
  return true;
}

std::string_view EventBlock::json(std::size_t i) const {
  const Entry& entry = entries_[i];
  return {bytes_.get() + entry.json, entry.end - end_of_frame.size() - entry.json};
}

std::string_view EventBlock::frames(std::size_t from, std::size_t to) const {
  if (from >= to) return {};
  const std::size_t begin = entries_[from].begin;
  return {bytes_.get() + begin, entries_[to - 1].end - begin};
}

}  // namespace muster::events

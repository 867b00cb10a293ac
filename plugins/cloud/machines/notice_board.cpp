#include "plugins/cloud/machines/notice_board.hpp"

namespace muster::cloud {
namespace {

constexpr std::chrono::minutes repeated_for{10};

}  // namespace

bool NoticeBoard::add(Notices::Notice notice) {
  Key key{notice.worker_group, notice.worker_id};
  return known_.insert_or_assign(std::move(key), std::move(notice)).second;
}

void NoticeBoard::ended(const WorkerGroup& group, const WorkerId& id) {
  known_.erase({group, id});
}

Notices NoticeBoard::notices(Time now) {
  std::erase_if(known_, [&](const auto& entry) {
    return entry.second.interruption.at + repeated_for <= now;
  });
  Notices notices;
  for (const auto& [key, notice] : known_) notices.notices.push_back(notice);
  return notices;
}

}  // namespace muster::cloud

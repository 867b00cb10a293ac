// Server-sent events, as bytes come in.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace muster::cli {

struct StreamedEvent {
  std::string name;  // of `event:`; "message" if there is none
  std::string data;
};

// One for each connection. Pure.
class EventParser {
 public:
  // Calls `take` for each event that is complete. Lines end with \n, \r or \r\n, wherever the bytes
  // are cut.
  void feed(std::string_view bytes, const std::function<void(const StreamedEvent&)>& take);

  // The last `id:` that was complete; where to go on after the connection is lost.
  const std::string& last_id() const { return last_id_; }
  // Milliseconds of `retry:`; 0: the server said nothing.
  int retry() const { return retry_; }

 private:
  void line(const std::function<void(const StreamedEvent&)>& take);
  void field(std::string_view name, std::string_view value);

  std::string line_, data_, name_, id_, last_id_;
  bool has_data_ = false, after_return_ = false;
  int retry_ = 0;
};

}  // namespace muster::cli

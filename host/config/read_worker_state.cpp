#include "host/config/read_worker_state.hpp"

#include "host/config/section_reader.hpp"

namespace muster::config {

WorkerStateSettings read_worker_state(const json::object& from, const std::filesystem::path& base) {
  WorkerStateSettings settings;
  const SectionReader section(from, base);
  section.read("kept", settings.kept);
  section.read("mostOfWorker", settings.most_of_worker);
  section.read("mostOfPool", settings.most_of_pool);
  section.read("mostOfConfiguration", settings.most_of_configuration);
  const json::value* queue = from.if_contains("queue");
  if (!queue || !queue->is_object()) return settings;
  RunQueueSettings& into = settings.queue.emplace();
  const SectionReader reader(queue->get_object(), base);
  reader.read("url", into.url);
  reader.read("name", into.name);
  reader.read("passwordFile", into.password_file);
  reader.read("caFile", into.ca_file);
  std::string type = "classic";
  reader.read("type", type);
  into.quorum = type == "quorum";
  reader.read("exchangePrefix", into.exchange_prefix);
  reader.read("heartbeat", into.heartbeat);
  reader.read("prefetch", into.prefetch);
  return settings;
}

}  // namespace muster::config

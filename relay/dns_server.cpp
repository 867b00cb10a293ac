#include "relay/dns_server.hpp"

#include <ares.h>
#include <arpa/inet.h>
#include <cstdint>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <utility>

namespace muster::relay {
namespace {

// What fits a packet everywhere; larger answers come by TCP.
constexpr int largest_datagram = 1232;
constexpr int dns_class_in = 1;
constexpr std::uint16_t first_unprivileged_port = 1024;

DnsAnswer without_message(int status) {
  switch (status) {
    case ARES_ENOTFOUND:
      return {DnsResult::no_such_name};
    case ARES_ENODATA:
      return {DnsResult::no_such_record};
    case ARES_ETIMEOUT:
      return {DnsResult::timed_out};
    case ARES_ESERVFAIL:
      return {DnsResult::server_failure};
    case ARES_EREFUSED:
    case ARES_ENOTIMP:
    case ARES_EFORMERR:
      return {DnsResult::refused};
    case ARES_EBADRESP:
    case ARES_EBADNAME:
    case ARES_EBADQUERY:
      return {DnsResult::malformed};
    default:
      return {DnsResult::unreachable};
  }
}

using Done = std::function<void(DnsAnswer)>;

// Everything is given, so that no file of the system is read.
int open_channel(ares_channel* channel, std::chrono::milliseconds timeout) {
  ares_options options{};
  char lookups[] = "b";
  in_addr replaced_later{};
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_NOCHECKRESP | ARES_FLAG_EDNS;
  options.timeout = static_cast<int>(timeout.count());
  options.tries = 1;
  options.ednspsz = largest_datagram;
  options.lookups = lookups;
  options.ndots = 1;
  options.servers = &replaced_later;
  options.nservers = 1;
  return ares_init_options(channel, &options,
                           ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
                               ARES_OPT_LOOKUPS | ARES_OPT_NDOTS | ARES_OPT_SERVERS |
                               ARES_OPT_DOMAINS | ARES_OPT_SORTLIST);
}

// The kernel takes ports for others from less than half of all that there are.
bool bind_to(int socket, int family, std::uint16_t port) {
  sockaddr_storage own{};
  own.ss_family = static_cast<sa_family_t>(family);
  socklen_t size = sizeof(sockaddr_in);
  if (family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&own)->sin6_port = htons(port);
    size = sizeof(sockaddr_in6);
  } else {
    reinterpret_cast<sockaddr_in*>(&own)->sin_port = htons(port);
  }
  return ::bind(socket, reinterpret_cast<const sockaddr*>(&own), size) == 0;
}

// Who cannot see the question has to guess its 16 bits and those of the port. A port that is in use
// is not taken; if many are, the kernel chooses when it connects.
int use_a_random_port(ares_socket_t socket, int type, void*) {
  int family = 0;
  socklen_t size = sizeof family;
  if (type != SOCK_DGRAM || ::getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0)
    return 0;
  for (int attempt = 0; attempt < 32; ++attempt) {
    std::uint16_t port = 0;
    if (::getrandom(&port, sizeof port, 0) != sizeof port) break;
    if (port >= first_unprivileged_port && bind_to(socket, family, port)) break;
  }
  return 0;
}

}  // namespace

// A question under way, with sockets of its own.
struct DnsServer::Query {
  ares_channel channel = nullptr;
  Done done = {};
  bool over = false;

  Query() = default;
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    if (channel) ares_destroy(channel);
  }

  int open(const std::string& address, std::chrono::milliseconds timeout) {
    const int status = open_channel(&channel, timeout);
    if (status != ARES_SUCCESS) return status;
    ares_set_socket_configure_callback(channel, use_a_random_port, nullptr);
    return ares_set_servers_ports_csv(channel, address.c_str());
  }

  static void on_answer(void* given, int status, int, unsigned char* bytes, int size) {
    auto* const query = static_cast<Query*>(given);
    query->over = true;
    const Done done = std::move(query->done);
    if (bytes && size > 0)
      done(to_answer({bytes, static_cast<std::size_t>(size)}));
    else
      done(without_message(status));
  }

  void append_sockets(std::vector<pollfd>& sockets) const {
    ares_socket_t open[ARES_GETSOCK_MAXNUM];
    const unsigned bits = static_cast<unsigned>(ares_getsock(channel, open, ARES_GETSOCK_MAXNUM));
    for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
      short events = 0;
      if (ARES_GETSOCK_READABLE(bits, i)) events |= POLLIN;
      if (ARES_GETSOCK_WRITABLE(bits, i)) events |= POLLOUT;
      if (events != 0) sockets.push_back({open[i], events, 0});
    }
  }

  void process(const std::vector<pollfd>& sockets) {
    std::vector<pollfd> own;
    append_sockets(own);
    for (const pollfd& mine : own)
      for (const pollfd& socket : sockets) {
        if (socket.revents == 0 || socket.fd != mine.fd) continue;
        const bool readable = socket.revents & (POLLIN | POLLERR | POLLHUP);
        ares_process_fd(channel, readable ? socket.fd : ARES_SOCKET_BAD,
                        socket.revents & POLLOUT ? socket.fd : ARES_SOCKET_BAD);
      }
    ares_process_fd(channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // what has timed out
  }
};

DnsServer::DnsServer(std::string address, std::chrono::milliseconds timeout)
    : address_(std::move(address)), timeout_(timeout) {}
DnsServer::~DnsServer() = default;

Result<std::unique_ptr<DnsServer>> DnsServer::open(const std::string& address,
                                                   std::chrono::milliseconds timeout) {
  Query trial;
  if (const int status = trial.open(address, timeout); status != ARES_SUCCESS)
    return Error::config("the DNS server " + address + " cannot be used: " + ares_strerror(status));
  return std::unique_ptr<DnsServer>(new DnsServer(address, timeout));
}

void DnsServer::ask(const Question& question, Done done) {
  auto query = std::make_unique<Query>();
  if (query->open(address_, timeout_) != ARES_SUCCESS) return done({DnsResult::unreachable});
  query->done = std::move(done);
  ares_query(query->channel, question.name.c_str(), dns_class_in, static_cast<int>(question.type),
             Query::on_answer, query.get());
  if (!query->over) queries_.push_back(std::move(query));
}

void DnsServer::append_sockets(std::vector<pollfd>& sockets) const {
  for (const auto& query : queries_) query->append_sockets(sockets);
}

std::chrono::milliseconds DnsServer::wait_at_most(std::chrono::milliseconds longest) const {
  for (const auto& query : queries_) {
    timeval most{static_cast<time_t>(longest.count() / 1000),
                 static_cast<suseconds_t>(longest.count() % 1000 * 1000)};
    timeval time{};
    const timeval* const left = ares_timeout(query->channel, &most, &time);
    longest = std::chrono::milliseconds(left->tv_sec * 1000 + (left->tv_usec + 999) / 1000);
  }
  return longest;
}

void DnsServer::process(const std::vector<pollfd>& sockets) {
  for (const auto& query : queries_) query->process(sockets);
  std::erase_if(queries_, [](const auto& query) { return query->over; });
}

std::vector<std::string> system_servers() {
  std::vector<std::string> servers;
  ares_channel channel = nullptr;
  if (ares_init(&channel) != ARES_SUCCESS) return servers;
  ares_addr_port_node* list = nullptr;
  if (ares_get_servers_ports(channel, &list) == ARES_SUCCESS) {
    for (const ares_addr_port_node* node = list; node; node = node->next) {
      char text[INET6_ADDRSTRLEN] = {};
      ares_inet_ntop(node->family, &node->addr, text, sizeof text);
      const std::string port = ":" + std::to_string(node->udp_port ? node->udp_port : 53);
      servers.push_back(node->family == AF_INET6 ? "[" + std::string(text) + "]" + port
                                                 : text + port);
    }
    ares_free_data(list);
  }
  ares_destroy(channel);
  return servers;
}

DnsAnswer ask_once(const std::string& server, const Question& question,
                   std::chrono::milliseconds timeout) {
  DnsAnswer answer{DnsResult::timed_out};
  auto opened = DnsServer::open(server, timeout);
  if (!opened) return {DnsResult::unreachable};
  bool answered = false;
  (*opened)->ask(question, [&](DnsAnswer given) {
    answer = std::move(given);
    answered = true;
  });
  while (!answered) {  // c-ares ends it
    std::vector<pollfd> sockets;
    (*opened)->append_sockets(sockets);
    ::poll(sockets.data(), sockets.size(),
           static_cast<int>((*opened)->wait_at_most(timeout).count()));
    (*opened)->process(sockets);
  }
  return answer;
}

}  // namespace muster::relay

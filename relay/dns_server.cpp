#include "relay/dns_server.hpp"

#include <algorithm>
#include <ares.h>

namespace muster::relay {
namespace {

// What fits a packet everywhere; larger answers come by TCP.
constexpr int largest_datagram = 1232;
constexpr int dns_class_in = 1;

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

void on_answer(void* given, int status, int, unsigned char* bytes, int size) {
  const std::unique_ptr<Done> done(static_cast<Done*>(given));
  if (bytes && size > 0)
    (*done)(to_answer({bytes, static_cast<std::size_t>(size)}));
  else
    (*done)(without_message(status));
}

// Everything is given, so that no file of the system is read.
int open_channel(ares_channel* channel, std::chrono::milliseconds timeout) {
  ares_options options{};
  char lookups[] = "b";
  options.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_NOCHECKRESP | ARES_FLAG_EDNS;
  options.timeout = static_cast<int>(timeout.count());
  options.tries = 1;
  options.ednspsz = largest_datagram;
  options.lookups = lookups;
  options.ndots = 1;
  return ares_init_options(channel, &options,
                           ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
                               ARES_OPT_LOOKUPS | ARES_OPT_NDOTS);
}

}  // namespace

struct DnsServer::Impl {
  ares_channel channel = nullptr;
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (channel) ares_destroy(channel);
  }
};

DnsServer::DnsServer(std::string address, std::unique_ptr<Impl> impl)
    : address_(std::move(address)), impl_(std::move(impl)) {}
DnsServer::~DnsServer() = default;

Result<std::unique_ptr<DnsServer>> DnsServer::open(const std::string& address,
                                                   std::chrono::milliseconds timeout) {
  auto impl = std::make_unique<Impl>();
  int status = open_channel(&impl->channel, timeout);
  if (status == ARES_SUCCESS) status = ares_set_servers_ports_csv(impl->channel, address.c_str());
  if (status != ARES_SUCCESS)
    return Error::config("the DNS server " + address + " cannot be used: " + ares_strerror(status));
  return std::unique_ptr<DnsServer>(new DnsServer(address, std::move(impl)));
}

void DnsServer::ask(const Question& question, Done done) {
  ares_query(impl_->channel, question.name.c_str(), dns_class_in, static_cast<int>(question.type),
             on_answer, std::make_unique<Done>(std::move(done)).release());
}

void DnsServer::append_sockets(std::vector<pollfd>& sockets) const {
  ares_socket_t open[ARES_GETSOCK_MAXNUM];
  const unsigned bits =
      static_cast<unsigned>(ares_getsock(impl_->channel, open, ARES_GETSOCK_MAXNUM));
  for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
    short events = 0;
    if (ARES_GETSOCK_READABLE(bits, i)) events |= POLLIN;
    if (ARES_GETSOCK_WRITABLE(bits, i)) events |= POLLOUT;
    if (events != 0) sockets.push_back({open[i], events, 0});
  }
}

std::chrono::milliseconds DnsServer::wait_at_most(std::chrono::milliseconds longest) const {
  timeval most{static_cast<time_t>(longest.count() / 1000),
               static_cast<suseconds_t>(longest.count() % 1000 * 1000)};
  timeval time{};
  const timeval* const left = ares_timeout(impl_->channel, &most, &time);
  return std::chrono::milliseconds(left->tv_sec * 1000 + (left->tv_usec + 999) / 1000);
}

void DnsServer::process(const std::vector<pollfd>& sockets) {
  std::vector<pollfd> own;
  append_sockets(own);
  for (const pollfd& socket : sockets) {
    if (socket.revents == 0) continue;
    const bool mine = std::any_of(own.begin(), own.end(),
                                  [&](const pollfd& other) { return other.fd == socket.fd; });
    if (!mine) continue;
    const bool readable = socket.revents & (POLLIN | POLLERR | POLLHUP);
    ares_process_fd(impl_->channel, readable ? socket.fd : ARES_SOCKET_BAD,
                    socket.revents & POLLOUT ? socket.fd : ARES_SOCKET_BAD);
  }
  ares_process_fd(impl_->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);  // what has timed out
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

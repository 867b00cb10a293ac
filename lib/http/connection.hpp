// One connection: requests in, answers out, in order, until one side has had enough. Private to
// this folder.
#pragma once

#include <memory>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/http/lane.hpp"
#include "lib/http/outgoing.hpp"
#include "lib/http/request_parser.hpp"
#include "lib/http/transport.hpp"

namespace muster::http {

// THREADS: that of its lane only.
class Connection final : public TransportUser, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Lane> lane, std::unique_ptr<Transport> transport,
             std::unique_ptr<Seat> seat);

  void start();
  // Closes at once if nothing of a request has come, else after its answer. A stream ends.
  void drain();
  void close();
  void check_deadline(SteadyTime now);
  // Sends what the stream has to say, unless something is still on its way.
  void pull_stream();

  void on_read(bool ok, std::size_t bytes) override;
  void on_written(bool ok) override;

 private:
  enum class State {
    reading,     // waits for (the rest of) a request
    continuing,  // writes "100 Continue"
    handling,    // a handler works on the answer
    writing,     // the answer is on its way
    streaming,   // the answer goes on; what the peer sends is thrown away
    lingering,   // all is said; reads on for a moment so that the peer gets to read it
    closed,
  };

  void read_more();
  void process_input();
  // Whether the request may go on; if not it was answered.
  bool begin(Request& head);
  void handle();
  void note(Request& request);
  void find_client(Request& request);
  std::optional<Response> over_rate(const Request& request);
  // Whether there is room for what has come of the body; if not it was answered.
  bool count_body();
  void answer_head(Response&& response, const Request& head);
  void await_request();
  void refuse(int status, std::string_view code, const std::string& message);
  void send(Response&& response, bool keep_alive);
  void begin_stream(Response&& response);
  void on_piece_written();
  void write_piece(bool last);
  void end_stream();
  void linger();
  void discard_more();
  std::chrono::microseconds time_taken() const;
  void write_access_log() const;
  void set_deadline(std::chrono::milliseconds from_now);

  const std::shared_ptr<Lane> lane_;
  const std::unique_ptr<Transport> transport_;
  const std::unique_ptr<Seat> seat_;
  RequestParser parser_;
  State state_ = State::reading;
  bool draining_ = false, keep_alive_ = true, head_only_ = false, body_deadline_set_ = false;
  bool read_pending_ = false, refused_ = false;
  bool head_deadline_set_ = true;  // of a connection's first request the time runs from its start
  bool discarding_ = false;        // the request was answered, its body is read and thrown away
  SteadyTime deadline_ = SteadyTime::max();
  std::string input_;         // received, not yet parsed
  std::size_t received_ = 0;  // of input_; behind that lies the room for the next read
  std::string head_, body_;   // of the answer on its way
  std::shared_ptr<Stream> stream_;
  bool chunked_ = false, piece_on_its_way_ = false, last_piece_ = false;

  const std::optional<Address> peer_;  // of the connection

  // Of the request that is being answered.
  std::string request_id_, trace_id_, method_, path_, client_id_;
  std::string sender_;             // behind a trusted proxy: the address of the client
  std::shared_ptr<Peer> counted_;  // whose limits count
  std::shared_ptr<BodyHold> hold_;
  const Router* router_ = nullptr;  // that it began with
  Router::Found found_;
  bool head_is_known_ = false, known_caller_ = false;
  bool api_ = false;
  SteadyTime began_{};
  int status_ = 0;
  std::size_t bytes_ = 0;  // of the answer's body
  bool http_1_0_ = false;
};

}  // namespace muster::http

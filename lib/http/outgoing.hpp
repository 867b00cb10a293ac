// What an answer gets on its way out: a tag by which a client can ask whether it has changed,
// compression, and the head. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/http/message.hpp"

namespace muster::http {

// What the request says about the form of its answer.
struct Wishes {
  bool api = false;   // below /api, /references or /schemas: for browsers of any origin
  bool read = false;  // GET or HEAD
  bool gzip = false;
  std::string if_none_match;
};
Wishes wishes_of(const Request& request);

// "gzip;q=0.5, *;q=0": whether an Accept-Encoding allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

// Tags answers of the API to reads, makes them 304 if the client has them, compresses what is worth
// it. Leaves streams alone. THREADS: any; usually the thread that answers, so that no other request
// waits.
void shape(Response& response, const Wishes& wishes);

struct HeadFacts {
  std::string_view date, request_id, trace_id;
  bool api = false, keep_alive = true;
  enum class Body { none, sized, chunked, until_close } body = Body::sized;
  std::size_t length = 0;
};
// The answer's head in place of what `head` holds. A header of the handler that would end the head
// is left out.
void write_head(std::string& head, const Response& response, const HeadFacts& facts);

}  // namespace muster::http

#include "lib/http/gzip.hpp"

#include <zlib.h>

namespace muster::http {

std::string gzip(std::string_view text) {
  constexpr int with_gzip_head = 15 + 16, memory = 8;
  z_stream stream{};
  if (::deflateInit2(&stream, 1, Z_DEFLATED, with_gzip_head, memory, Z_DEFAULT_STRATEGY) != Z_OK)
    return {};
  std::string out(::deflateBound(&stream, text.size()), '\0');
  // zlib does not change its input; its interface is older than const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool done = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(done ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return out;
}

std::string gunzip(std::string_view compressed) {
  constexpr int with_gzip_head = 15 + 16;
  z_stream stream{};
  if (::inflateInit2(&stream, with_gzip_head) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char piece[16384];
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    result = ::inflate(&stream, Z_NO_FLUSH);
    out.append(piece, sizeof piece - stream.avail_out);
  }
  ::inflateEnd(&stream);
  return result == Z_STREAM_END ? out : std::string();
}

}  // namespace muster::http

#include "tests/unit/host/documentation/tar_builder.hpp"

#include <algorithm>
#include <cstdio>
#include <zlib.h>

namespace muster::documentation::testing {
namespace {

constexpr std::size_t block = 512;

void place(std::string& header, std::size_t at, std::size_t most, std::string_view text) {
  header.replace(at, std::min(most, text.size()), text.substr(0, most));
}

std::string octal(std::uint64_t number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

std::string entry(const TarEntry& of) {
  std::string header(block, '\0');
  place(header, 0, 100, of.name);
  place(header, 100, 8, "0000644");
  place(header, 108, 8, "0000000");
  place(header, 116, 8, "0000000");
  place(header, 124, 12, of.size.empty() ? octal(of.content.size(), 11) : of.size);
  place(header, 136, 12, "00000000000");
  place(header, 148, 8, "        ");
  header[156] = of.type;
  place(header, 157, 100, of.link);
  place(header, 257, 8, std::string_view("ustar\00000", 8));
  place(header, 345, 155, of.prefix);
  unsigned sum = of.wrong_checksum ? 7 : 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  place(header, 148, 8, octal(sum, 6) + std::string("\0 ", 2));
  std::string out = header + of.content;
  out.resize((out.size() + block - 1) / block * block, '\0');
  return out;
}

std::string file(std::string name, std::string content) {
  return entry({.name = std::move(name), .content = std::move(content)});
}

std::string folder(std::string name) {
  return entry({.name = std::move(name), .type = '5'});
}

std::string pax(std::string_view key, std::string_view value) {
  const std::string rest = " " + std::string(key) + "=" + std::string(value) + "\n";
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length)
    length = std::to_string(length).size() + rest.size();
  return entry({.name = "PaxHeader/x", .content = std::to_string(length) + rest, .type = 'x'});
}

std::string gnu_long_name(const std::string& name) {
  return entry({.name = "././@LongLink", .content = name + '\0', .type = 'L'});
}

std::string tar_end() {
  return std::string(2 * block, '\0');
}

std::string gzip(std::string_view bytes) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string tarball(const std::string& entries) {
  return gzip(file("metadata.json", good_metadata) + entries + tar_end());
}

}  // namespace muster::documentation::testing

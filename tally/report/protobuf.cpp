#include "tally/report/protobuf.hpp"

#include <algorithm>
#include <array>

namespace tally::report {
namespace {

/// The check sum of RFC 1952, section 8.
std::uint32_t crc32(std::string_view bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < made.size(); ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c & 1) ? 0xedb88320u ^ (c >> 1) : c >> 1;
      made[i] = c;
    }
    return made;
  }();
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) crc = table[(crc ^ static_cast<unsigned char>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

void add_little(std::string& text, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
}

}  // namespace

std::string gzip_stored(std::string_view bytes) {
  constexpr std::size_t most = 65535;  // of a stored block (RFC 1951, section 3.2.4)
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  for (std::size_t at = 0;; at += most) {
    const std::string_view block = bytes.substr(at, most);
    const bool is_last = bytes.size() - at <= most;
    file += static_cast<char>(is_last ? 1 : 0);
    add_little(file, static_cast<std::uint32_t>(block.size()), 2);
    add_little(file, ~static_cast<std::uint32_t>(block.size()), 2);
    file += block;
    if (is_last) break;
  }
  add_little(file, crc32(bytes), 4);
  add_little(file, static_cast<std::uint32_t>(bytes.size()), 4);
  return file;
}

}  // namespace tally::report

#include "tally/output/formats/gzip.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

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

/// Lengths and distances: the least of each code, and how many bits tell the rest (RFC 1951, section 3.2.5).
struct Range {
  std::uint16_t least;
  std::uint8_t bits;
};
constexpr Range lengths[] = {{3, 0},   {4, 0},   {5, 0},   {6, 0},   {7, 0},  {8, 0},  {9, 0},  {10, 0},
                             {11, 1},  {13, 1},  {15, 1},  {17, 1},  {19, 2}, {23, 2}, {27, 2}, {31, 2},
                             {35, 3},  {43, 3},  {51, 3},  {59, 3},  {67, 4}, {83, 4}, {99, 4}, {115, 4},
                             {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};
constexpr Range distances[] = {{1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
                               {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
                               {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
                               {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
                               {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

class Packer {
 public:
  explicit Packer(std::string& to) : to_(to) {}

  void pack(std::string_view bytes) {
    constexpr std::size_t least = 4, most = 258, window = 32768;
    constexpr std::uint32_t none = ~0u;
    std::vector<std::uint32_t> seen(std::size_t{1} << 16, none);  // where four such bytes stood last
    put(3, 3);                                                    // the last block, of fixed codes
    for (std::size_t at = 0; at < bytes.size();) {
      std::size_t length = 0, distance = 0;
      if (at + least <= bytes.size()) {
        std::uint32_t four = 0;
        std::memcpy(&four, bytes.data() + at, sizeof four);
        std::uint32_t& last = seen[(four * 2654435761u) >> 16];  // Knuth's multiplicative hash
        if (last != none && at - last <= window) {
          distance = at - last;
          const std::size_t limit = std::min(most, bytes.size() - at);
          while (length < limit && bytes[last + length] == bytes[at + length]) length++;
        }
        last = static_cast<std::uint32_t>(at);
      }
      if (length >= least) {
        put_range(length, lengths, [this](unsigned code) { put_symbol(257 + code); });
        put_range(distance, distances, [this](unsigned code) { put_code(code, 5); });
        at += length;
      } else {
        put_symbol(static_cast<unsigned char>(bytes[at++]));
      }
    }
    put_symbol(256);  // the end
    if (count_ > 0) to_ += static_cast<char>(bits_);
  }

 private:
  void put(std::uint32_t value, int bits) {
    bits_ |= value << count_;
    for (count_ += bits; count_ >= 8; count_ -= 8, bits_ >>= 8) to_ += static_cast<char>(bits_);
  }
  /// Codes begin with their highest bit.
  void put_code(unsigned code, int bits) {
    unsigned turned = 0;
    for (int i = 0; i < bits; ++i) turned |= ((code >> i) & 1) << (bits - 1 - i);
    put(turned, bits);
  }
  void put_symbol(unsigned symbol) {
    if (symbol < 144) return put_code(0x30 + symbol, 8);
    if (symbol < 256) return put_code(0x190 + symbol - 144, 9);
    if (symbol < 280) return put_code(symbol - 256, 7);
    put_code(0xc0 + symbol - 280, 8);
  }
  template <std::size_t N, class PutCode>
  void put_range(std::size_t value, const Range (&ranges)[N], PutCode put_its_code) {
    const Range* const behind = std::upper_bound(std::begin(ranges), std::end(ranges), value,
                                                 [](std::size_t one, const Range& range) { return one < range.least; });
    const Range* const range = behind - 1;
    put_its_code(static_cast<unsigned>(range - ranges));
    put(static_cast<std::uint32_t>(value - range->least), range->bits);
  }

  std::string& to_;
  std::uint32_t bits_ = 0;
  int count_ = 0;
};

void add_little(std::string& text, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) text += static_cast<char>(value >> (8 * i));
}

}  // namespace

std::string gzipped(std::string_view bytes) {
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  Packer(file).pack(bytes);
  add_little(file, crc32(bytes));
  add_little(file, static_cast<std::uint32_t>(bytes.size()));
  return file;
}

}  // namespace tally::report

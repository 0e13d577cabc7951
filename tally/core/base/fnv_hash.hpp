// The FNV-1a hash: http://www.isthe.com/chongo/tech/comp/fnv/
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

/// Of 32 bits. The checksum of files; not for what somebody may have changed on purpose.
constexpr std::uint32_t fnv_hash32(std::string_view bytes) {
  std::uint32_t hash = 0x811c9dc5;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193;
  return hash;
}

/// Of 64 bits.
constexpr std::uint64_t fnv_hash64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace tally

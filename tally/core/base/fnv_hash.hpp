// The FNV-1a hash: http://www.isthe.com/chongo/tech/comp/fnv/
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

/// The 32-bit hash. Used as a checksum of files; it does not protect against deliberate changes.
constexpr std::uint32_t fnv_hash32(std::string_view bytes) {
  std::uint32_t hash = 0x811c9dc5;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193;
  return hash;
}

/// The 64-bit hash.
constexpr std::uint64_t fnv_hash64(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace tally

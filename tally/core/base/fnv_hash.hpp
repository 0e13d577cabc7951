// The FNV-1a hash: http://www.isthe.com/chongo/tech/comp/fnv/
#pragma once

#include <cstdint>
#include <string_view>

namespace tally {

inline constexpr std::uint64_t fnv_basis64 = 0xcbf29ce484222325;

/// The 64-bit hash; with the hash of what precedes the bytes, that of both. It does not protect against deliberate
/// changes.
constexpr std::uint64_t fnv_hash64(std::string_view bytes, std::uint64_t hash = fnv_basis64) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace tally

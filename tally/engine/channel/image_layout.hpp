/// The layout of the file `tally-engine`: what the command needs to map it into a program.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// Where the image is mapped: an address that the address, memory and thread sanitizers accept, below those that the
/// kernel assigns by itself.
inline constexpr uint64_t image_base = 0x7ea000000000;

/// The engine's own mappings are from here to Process::own_end, except for code caches near the code that they serve.
inline constexpr uint64_t own_addresses = 0x7e9000000000;

/// First page of the image. Offsets are from the start of the image, both in the file and in memory.
struct ImageHeader {
  uint64_t magic;
  uint32_t layout_version;  ///< that of the channel
  uint32_t reserved;
  uint64_t bytes;            ///< mapped; the rest is only in the file
  uint64_t writable_offset;  ///< data is from here to `bytes`
  uint64_t entry;            ///< address of the first instruction
  uint64_t thread_offset;    ///< memory of a thread, with a jump table without targets
  uint64_t build;            ///< identifies the content of the file: equal only for the same engine
};
inline constexpr uint64_t image_magic = 0x676e'6579'6c6c'6174;

}  // namespace tally::channel

/// The file `tally-engine`: what the command must know of it to map it into a program.
#pragma once
#include <stdint.h>

namespace tally::channel {

/// Where the image is mapped: accepted by the address, memory and thread sanitizers, and below what the kernel gives
/// out by itself.
inline constexpr uint64_t image_base = 0x7ea000000000;

/// All that the engine maps for itself lies from here on, up to Process::own_end, but for caches near the code that
/// they serve.
inline constexpr uint64_t own_addresses = 0x7e9000000000;

/// First page of the image. Offsets are from the image's start, both in the file and in memory.
struct ImageHeader {
  uint64_t magic;
  uint32_t layout_version;  ///< of the channel
  uint32_t reserved;
  uint64_t bytes;            ///< mapped: what follows is only in the file
  uint64_t writable_offset;  ///< from here to `bytes`: data
  uint64_t entry;            ///< address of the first instruction
  uint64_t table_offset;     ///< a jump table without targets
  uint64_t build;            ///< of everything in the file: the same only for the same engine
};
inline constexpr uint64_t image_magic = 0x676e'6579'6c6c'6174;

}  // namespace tally::channel

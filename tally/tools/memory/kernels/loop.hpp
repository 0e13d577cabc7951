// The loop of the kernels without what they do to memory.
#pragma once

#include "tally/tools/memory/kernels/walk.hpp"

namespace tally::memory {

/// A line that is neither stored nor loaded; the compiler has to have its address and what it would hold.
struct NoLine {
  static void store(std::byte* line, std::uint64_t next) { asm volatile("" : : "r"(line), "r"(next)); }
  static void done() {}
};

/// What write_blocks() costs beside its stores: the order is read, addresses are made.
inline void loop_over_blocks(const Chain& chain) { write_blocks<NoLine>(chain); }

}  // namespace tally::memory

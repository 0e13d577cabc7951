// The loop of the store kernels, without memory accesses.
#pragma once

#include "programs/memory/kernels/walk.hpp"

namespace tally::memory {

/// A line that is neither stored nor loaded; the compiler must compute its address and value.
struct NoLine {
  static void store(std::byte* line, std::uint64_t next) { asm volatile("" : : "r"(line), "r"(next)); }
  static void done() {}
};

/// The cost of write_blocks() without its stores: reads the order and computes addresses.
inline void loop_over_blocks(const Chain& chain) { write_blocks<NoLine>(chain); }

}  // namespace tally::memory

// The loops over the lines of a chain, shared by all flavours.
#pragma once

#include "programs/memory/kernels/flavours.hpp"

namespace tally::memory {

constexpr std::uint64_t kernel_line_bytes = 64;

/// Calls `each` with the offset of every line of a block. Unrolled: a loop for each line would be the limit in a
/// first-level cache.
template <class Each>
void each_line(std::uint64_t bytes, Each&& each) {
#pragma GCC unroll 8
  for (std::uint64_t at = 0; at < bytes; at += kernel_line_bytes) each(at);
}

/// Reads only the order, sequentially: the misses of a random index would be timed too.
template <class Line>
void write_blocks(const Chain& chain) {
  const auto stride = static_cast<std::uint64_t>(chain.stride);
  const auto bytes = static_cast<std::uint64_t>(chain.lines) * kernel_line_bytes;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(chain.blocks); ++k) {
    const std::uint64_t next = chain.order[k + 1] * stride;
    std::byte* const block = chain.base + chain.order[k] * stride;
    each_line(bytes, [&](std::uint64_t at) { Line::store(block + at, next); });
  }
  Line::done();
}

/// Does not read the order: each block points to the next one.
template <class Line>
std::uint64_t read_blocks(const Chain& chain, std::uint64_t offset) {
  const auto bytes = static_cast<std::uint64_t>(chain.lines) * kernel_line_bytes;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(chain.blocks); ++k) {
    const std::byte* const block = chain.base + offset;
    std::uint64_t at = 0;
    for (; at + kernel_line_bytes < bytes; at += kernel_line_bytes) Line::load(block + at);
    offset = Line::load_next(block + at);
  }
  Line::done();
  return offset;
}

/// Takes addresses only from the order, so that as many loads overlap as the processor supports.
template <class Line>
void touch_blocks(const Chain& chain) {
  const auto stride = static_cast<std::uint64_t>(chain.stride);
  const auto bytes = static_cast<std::uint64_t>(chain.lines) * kernel_line_bytes;
  for (std::uint64_t k = 0; k < static_cast<std::uint64_t>(chain.blocks); ++k) {
    const std::byte* const block = chain.base + chain.order[k] * stride;
    each_line(bytes, [&](std::uint64_t at) { Line::load(block + at); });
  }
  Line::done();
}

}  // namespace tally::memory

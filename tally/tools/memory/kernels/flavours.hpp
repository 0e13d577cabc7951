// The ways to store and to load a line: one row each in the tables of the architecture, and each its own kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tally/tools/memory/kernels/kernels.hpp"

namespace tally::memory {

/// Numbers of different things have different types: a count of blocks given for a distance measured nothing at all.
enum class Blocks : std::uint64_t {};
enum class Bytes : std::uint64_t {};
enum class Lines : std::uint64_t {};

/// A part of a region, in the order of its visits.
struct Chain {
  std::byte* base = nullptr;
  const std::uint32_t* order = nullptr;  ///< `blocks` + 1 entries: the last names what follows the part
  Blocks blocks{};
  Bytes stride{};  ///< from one block to the next in memory
  Lines lines{1};  ///< of 64 bytes in a block
};

/// A way to store. Every line of a block gets, as its first word, the offset of the block that follows.
struct Store {
  std::string_view name;
  std::string_view needs;  ///< of the processor, in words
  bool (*present)();
  void (*write)(const Chain& chain);
};

/// A way to load. All lines of a block are loaded; the last one's first word names the next block. Returns the offset
/// of the block that follows.
struct Load {
  std::string_view name;
  std::string_view needs;
  bool (*present)();
  std::uint64_t (*read)(const Chain& chain, std::uint64_t offset);
  /// The same lines in the chain's order, none waiting for another: what they hold does not matter.
  void (*touch)(const Chain& chain);
};

/// A way to wait until stores are done.
struct Fence {
  std::string_view name;
  std::string_view needs;
  bool (*present)();
  void (*wait)();
};

/// Those of this architecture, the plainest first. Not all are present on every processor.
std::span<const Store> stores();
std::span<const Load> loads();
std::span<const Fence> fences();

/// What is taken where nobody names one: the widest non-temporal store, the widest plain load, the full fence.
const Store& usual_store();
const Load& usual_load();
const Fence& usual_fence();

/// Readings of the counter before and after what is timed.
Stamp begin_stamp();
Stamp end_stamp();

}  // namespace tally::memory

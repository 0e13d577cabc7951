// The kinds of stores, loads and fences: rows of a table per architecture, each with a kernel of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "programs/memory/kernels/kernels.hpp"

namespace tally::memory {

/// Distinct types, because a count of blocks passed as a distance once measured nothing at all.
enum class Blocks : std::uint64_t {};
enum class Bytes : std::uint64_t {};
enum class Lines : std::uint64_t {};

/// A part of a region, in the order of its visits.
struct Chain {
  std::byte* base = nullptr;
  const std::uint32_t* order = nullptr;  ///< `blocks` + 1 entries: the last is the block after the part
  Blocks blocks{};
  Bytes stride{};  ///< from one block to the next in memory
  Lines lines{1};  ///< lines of 64 bytes per block
};

/// A kind of store. Writes the offset of the next block into the first word of every line of a block.
struct Store {
  std::string_view name;
  std::string_view needs;  ///< processor features, in words
  bool (*present)();
  void (*write)(const Chain& chain);
};

/// A kind of load. read() loads all lines of each block, takes the next block from the first word of the last line, and
/// returns the offset of the block after the last.
struct Load {
  std::string_view name;
  std::string_view needs;
  bool (*present)();
  std::uint64_t (*read)(const Chain& chain, std::uint64_t offset);
  /// Loads the same lines in the chain's order, without dependencies between them and whatever they contain.
  void (*touch)(const Chain& chain);
};

/// A kind of wait for stores to complete.
struct Fence {
  std::string_view name;
  std::string_view needs;
  bool (*present)();
  void (*wait)();
};

/// The kinds of this architecture, the plainest first. A processor may lack some.
std::span<const Store> stores();
std::span<const Load> loads();
std::span<const Fence> fences();

/// Defaults: the widest non-temporal store, the widest plain load, the full fence.
const Store& usual_store();
const Load& usual_load();
const Fence& usual_fence();

/// Read the time-stamp counter before and after the timed code.
Stamp begin_stamp();
Stamp end_stamp();

}  // namespace tally::memory

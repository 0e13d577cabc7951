// The access log: what a thread executed, in compact form, for models that need every access.
//
// Most of what the models need follows from the code: the lines fetched, the accesses of each instruction, the order of
// branches. A *log path* describes that for one path through a code region. The remaining data, addresses and targets,
// follow the path's number in the log, one word each.
#pragma once

#include <cstdint>

#include "tally/engine/models/access_sequence.hpp"
#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/branch/missed_branches.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/engine/models/observer.hpp"

namespace tally::models {

/// The steps of a path, in order of execution. The first seven values, and those from busy_load on, are of Access.
enum class Step : std::uint8_t {
  load,
  store,
  modify,
  fetch,  ///< of a line of code
  chase,
  chase_store,
  chase_modify,
  repeat,            ///< a string instruction
  element_accesses,  ///< accesses known only at run time: their number, and two words for each (ElementAccess::word)
  conditional,
  call,
  indirect_jump,
  indirect_call,
  ret,
  busy_load = 16,
  updated_load = 20,
  deciding_load = 32,
};

/// A string instruction. Its words in the log are RCX, RSI and RDI before it, and the same after it.
struct Repeat {
  std::uint8_t bytes;  ///< of an element
  bool from, to;       ///< loads at RSI, accesses at RDI
  bool to_stores;      ///< the access at RDI is a store
  bool low;            ///< uses the low halves of the registers
  static constexpr std::uint32_t words = 6;
  /// Returns the steps, of about a cycle each, in which processors execute N elements: 32 bytes when they move, fill or
  /// compare, half an element when they load or scan.
  constexpr std::uint64_t steps(std::uint64_t elements) const {
    return (from && to) || to_stores ? (elements * bytes + 31) / 32 : 2 * elements;
  }
  constexpr std::uint64_t bits() const {
    return bytes | static_cast<std::uint64_t>(from) << 8 | static_cast<std::uint64_t>(to) << 9 |
           static_cast<std::uint64_t>(to_stores) << 10 | static_cast<std::uint64_t>(low) << 11;
  }
  static Repeat of(std::uint64_t bits) {
    return {static_cast<std::uint8_t>(bits), (bits >> 8 & 1) != 0, (bits >> 9 & 1) != 0, (bits >> 10 & 1) != 0,
            (bits >> 11 & 1) != 0};
  }
};

/// The accesses of one string instruction, computed from the registers before and after it.
struct Repetition {
  /// `words`: RCX, RSI and RDI before, and the same after.
  Repetition(const Repeat& repeat, const std::uint64_t* words);
  std::uint64_t elements, from, to;
  bool down;
};

/// One step of a path.
struct Op {
  std::uint64_t at;      ///< address of the instruction or line; for a repetition Repeat::bits()
  std::uint64_t target;  ///< of a branch; 0: the last word of the record. For other steps the instruction that `at` is
                         ///< for a branch
  std::uint16_t word;    ///< index in the record: of an access's address, or of the first word of a repetition or of
                         ///< element accesses
  std::uint16_t bytes;   ///< of the access or the instruction
  Step what;
  std::uint16_t site_bits = 0;  ///< the upper 16 bits of site(); instruction() has 48

  std::uint64_t instruction() const { return what < Step::conditional || what >= Step::busy_load ? target : at; }
  /// The instruction as reported to observers: with its mapping (channel::code_site()).
  std::uint64_t site() const { return instruction() | std::uint64_t{site_bits} << 48; }
};

/// A path: `count` steps, starting at step number `first`.
struct LogPath {
  std::uint32_t first;
  std::uint16_t count;
  std::uint16_t words;     ///< of its record: the path's number and what follows
  std::uint16_t outcomes;  ///< of its conditional branches, the last one in bit 0
  std::uint16_t branches;  ///< number of conditional branches: 16 at most
};

/// The models of one thread; null ones are skipped.
struct Models {
  Hierarchy* caches;  ///< an access without a first level costs a lookup there and counts nothing
  Tlbs* tlbs;
  Branches* branches;
  bool fetches, accesses;  ///< which accesses go to the caches
};

/// Runs the models over the records from `access_log` to `end`, path by path and step by step. `missed`, unless null:
/// receives the mispredicted conditional branches. Cost: that of the models, and some nanoseconds per record.
void play(const Models& models, const LogPath* paths, const Op* ops, const std::uint64_t* access_log,
          const std::uint64_t* end, Observer* observer = nullptr, MissedBranches* missed = nullptr);

}  // namespace tally::models

// The tape: what a thread did, as short as it can be written down, for models that are asked about everything.
//
// Most of what they must know is in the program's code: which lines are fetched, what each instruction accesses, which
// branch comes where. A *way* is that for one way through a stretch of code. What is left, addresses and targets,
// follows its number on the tape: one word each.
#pragma once

#include <cstdint>

#include "tally/engine/models/access_sequence.hpp"
#include "tally/engine/models/branch/branches.hpp"
#include "tally/engine/models/cache/tlb.hpp"
#include "tally/engine/models/observer.hpp"

namespace tally::models {

/// What happens, in the order in which it does.
enum class Step : std::uint8_t {
  load,
  store,
  modify,
  fetch,   ///< of a line of code
  repeat,  ///< a string instruction has run
  pieces,  ///< accesses that were found when it ran: how many, and two words for each (Piece::word)
  conditional,
  jump,
  call,
  indirect_jump,
  indirect_call,
  ret,
};

/// A string instruction. Its words on the tape are RCX, RSI and RDI before it, and the same after it.
struct Repeat {
  std::uint8_t bytes;  ///< of an element
  bool from, to;       ///< loads at RSI, accesses at RDI
  bool to_stores;      ///< and that is a store
  bool low;            ///< by the low halves of the registers
  static constexpr std::uint32_t words = 6;
  constexpr std::uint64_t bits() const {
    return bytes | static_cast<std::uint64_t>(from) << 8 | static_cast<std::uint64_t>(to) << 9 |
           static_cast<std::uint64_t>(to_stores) << 10 | static_cast<std::uint64_t>(low) << 11;
  }
  static Repeat of(std::uint64_t bits) {
    return {static_cast<std::uint8_t>(bits), (bits >> 8 & 1) != 0, (bits >> 9 & 1) != 0, (bits >> 10 & 1) != 0,
            (bits >> 11 & 1) != 0};
  }
};

/// What one did, by the registers before it and after it: so many elements, upwards or downwards.
struct Repetition {
  /// `words`: RCX, RSI and RDI before, and the same after.
  Repetition(const Repeat& repeat, const std::uint64_t* words);
  std::uint64_t elements, from, to;
  bool down;
};

/// One step of a way.
struct Op {
  std::uint64_t at;      ///< where the instruction or line lies; of a repetition Repeat::bits()
  std::uint64_t target;  ///< of a branch; 0: the last word of the record. Of all others the instruction, as `at`
  std::uint16_t word;    ///< of the record: an access's address, the first word of a repetition or of pieces
  std::uint16_t bytes;   ///< of the access or the instruction
  Step what;
  std::uint16_t site_bits = 0;  ///< the upper 16 bits of site(), where instruction() has none

  std::uint64_t instruction() const { return what < Step::conditional ? target : at; }
  /// The instruction as observers are told of it: with its mapping (channel::code_site()).
  std::uint64_t site() const { return instruction() | std::uint64_t{site_bits} << 48; }
};

/// A way: `count` steps from the one of number `first`.
struct LogPath {
  std::uint32_t first;
  std::uint16_t count;
  std::uint16_t words;     ///< of its record: the way's number and what follows
  std::uint16_t outcomes;  ///< of its conditional branches, the last one in bit 0
  std::uint16_t branches;  ///< how many of these there are: 16 at most
};

/// One thread's models. What is null is not asked.
struct Models {
  Hierarchy* caches;  ///< what it has no first level for costs a look, and counts nothing there
  Tlbs* tlbs;
  Branches* branches;
  bool fetches, accesses;  ///< which of them the caches are asked about
};

/// The records from `tape` to `end`: each way by the models, step by step. Cost: that of the models, and some
/// nanoseconds a record.
void play(const Models& models, const LogPath* ways, const Op* ops, const std::uint64_t* access_log,
          const std::uint64_t* end, Observer* observer = nullptr);

}  // namespace tally::models

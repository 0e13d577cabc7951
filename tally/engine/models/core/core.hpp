// The core model: how many cycles a stretch of instructions takes when nothing is missed. Its measure is the height of
// the dependences: a result is there when its sources are and its latency has passed, instructions end in order, at
// most `width` a cycle. A core that is in order starts them in order, too: one that waits holds up all after it. Not
// modelled: ports that get in each other's way beyond the units below, decoding, fusion of a comparison with its
// branch, forwarding from stores to loads. It is a declared model, not a measurement.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tally/engine/models/core/operation.hpp"

namespace tally::models {

/// Time is counted in parts of a cycle that every width and rate of ours divides.
constexpr std::int32_t ticks_per_cycle = 24;

/// Something that has to be there when an instruction starts, or is when it ends: 0 is none.
using Register = std::uint8_t;
constexpr Register no_register = 0;
constexpr Register first_general = 1;    ///< RAX, RCX, RDX, RBX, RSP … R15: 16
constexpr Register flags_register = 17;  ///< all but the carry: processors rename the two apart
constexpr Register first_x87 = 18;       ///< ST0 (MM0) … : 8
constexpr Register first_vector = 26;    ///< XMM0 … XMM31, whatever the length: 32
constexpr Register first_mask = 58;      ///< K0 … : 8
constexpr Register carry_register = 66;
constexpr unsigned registers = 67;

/// One instruction as the model sees it: 14 bytes, plain data.
struct CoreInstruction {
  static constexpr std::uint8_t loads = 1, stores = 2;

  Operation operation = Operation::unknown;
  std::uint8_t memory = 0;   ///< loads, stores, both, or 0
  Register address[2] = {};  ///< registers of the memory operand's address
  Register sources[6] = {};  ///< other registers that are read, or of which something is kept or may be. RSP of push,
                             ///< pop, call and ret is not: the front end keeps it
  Register results[4] = {};  ///< registers that are written
};

/// What there is only a limited number of.
enum class Unit : std::uint8_t { none, load, store, multiply, shuffle, fp_add, fp_multiply, vector, divide, count };
constexpr unsigned units = static_cast<unsigned>(Unit::count);

/// How long one kind takes.
struct Timing {
  Operation operation = Operation::unknown;
  std::uint8_t latency = 0;  ///< cycles from the last source to the result
  std::uint16_t slots = 1;   ///< of the `width` places in a cycle, without a store's second one
  Unit unit = Unit::none;
  std::uint16_t busy = 0;   ///< ticks for which it keeps its unit from others
  const char* source = "";  ///< where the figures come from
};

/// A core: a table of timings with what is common to all.
struct CoreTable {
  const char* name;
  std::uint8_t width;                      ///< instructions that start, and end, in a cycle; divides ticks_per_cycle
  std::uint8_t window;                     ///< cycles by which an instruction can be done before those in front of it
  std::uint8_t load_latency;               ///< cycles of a load into a general register that hits in L1D
  std::uint8_t vector_load_latency;        ///< into a vector register
  std::uint8_t load_busy, store_busy;      ///< ticks for which a load or store keeps its unit from others
  bool in_order = false;                   ///< nothing starts before what stands in front of it; `window` is 0 then
  std::array<Timing, operations> timings;  ///< by kind; see by_operation()

  /// The row of a kind; null for one that the table does not know.
  const Timing* timing(Operation operation) const {
    const Timing& row = timings[static_cast<unsigned>(operation)];
    return operation != Operation::unknown && row.operation == operation ? &row : nullptr;
  }
};

/// Rows in any order, put into the places of their kinds.
constexpr std::array<Timing, operations> by_operation(std::span<const Timing> rows) {
  std::array<Timing, operations> result{};
  for (const Timing& row : rows) result[static_cast<unsigned>(row.operation)] = row;
  return result;
}

/// When what is ready, in ticks relative to the end of the last instruction: 0 is now, what is negative was ready
/// before, down to the window. In order it is relative to where the next instruction may start, and what is positive is
/// on its way. Zeroes are the state at the beginning. Small: there is one for every block of a program.
struct CoreState {
  std::int16_t ready[registers] = {};
  std::int16_t free[units] = {};
  bool operator==(const CoreState&) const = default;
};

/// Instructions of which the table has no timing take one slot and no time.
struct CoreCost {
  std::int64_t ticks = 0;     ///< from the end of what was before to the end of these
  std::uint32_t unknown = 0;  ///< instructions that the table does not know
  bool operator==(const CoreCost&) const = default;
};

/// Runs a stretch of instructions once, from `state` on. Cost: some 10 ns an instruction.
CoreCost run(const CoreTable& core, std::span<const CoreInstruction> instructions, CoreState& state);

}  // namespace tally::models

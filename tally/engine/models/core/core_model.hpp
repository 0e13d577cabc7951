// The core model: the cycles of a code region without cache misses and mispredictions. It computes the critical path: a
// result is ready when its sources are and its latency has passed; instructions end in order, at most `width` per
// cycle. Each of its operations takes the port that is free first, of those that can execute it. An in-order core also
// starts instructions in order: one that waits delays all later ones. Fetching runs ahead, a line of code or a part of
// it per cycle. Not modelled: decoding, the size of the micro-operation cache, banks of the first level. It is a
// declared model, not a measurement.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tally/engine/models/core/causes.hpp"
#include "tally/engine/models/core/operation.hpp"

namespace tally::models {

/// Time is counted in fractions of a cycle that every width in the tables divides.
constexpr std::int32_t ticks_per_cycle = 120;

/// A resource that must be ready when an instruction starts, or becomes ready when it ends: 0 is none.
using Register = std::uint8_t;
constexpr Register no_register = 0;
constexpr Register first_general = 1;    ///< RAX, RCX, RDX, RBX, RSP … R15: 16
constexpr Register flags_register = 17;  ///< all flags but carry, which processors rename separately
constexpr Register first_x87 = 18;       ///< ST0 (MM0) … : 8
constexpr Register first_vector = 26;    ///< XMM0 … XMM31, of any length: 32
constexpr Register first_mask = 58;      ///< K0 … : 8
constexpr Register carry_register = 66;
constexpr unsigned registers = 67;
/// Vectors, x87 and masks.
constexpr bool is_vector(Register r) { return r >= first_x87 && r < carry_register; }

/// Where an access is, by registers: equal places are equal addresses, as long as the registers do not change.
struct SymbolicAddress {
  static constexpr std::uint8_t factor = 15, has_base = 16, in_fs = 32, in_gs = 64;  // parts of `form`

  Register base = no_register, index = no_register;
  std::uint8_t form = 0;           ///< the factor of the index, and which parts and segment the address has
  std::uint8_t bytes = 0;          ///< 0: not known
  std::uint32_t displacement = 0;  ///< modulo 2^32
  bool operator==(const SymbolicAddress&) const = default;
};

/// One instruction for the model: 32 bytes, plain data.
struct CoreInstruction {
  static constexpr std::uint8_t loads = 1, stores = 2;

  Operation operation = Operation::unknown;
  std::uint8_t memory = 0;   ///< loads, stores, both, or 0
  Register address[2] = {};  ///< registers of the memory operand's address
  Register sources[6] = {};  ///< other registers that are read, or may be kept in part. Without RSP of push, pop, call
                             ///< and ret, which the front end tracks
  Register results[4] = {};  ///< registers that are written
  Register moved =
      no_register;          ///< the register to which the instruction adds `by`, and that it does not write otherwise
  SymbolicAddress at = {};  ///< of its access to memory, if there is one
  std::uint32_t by = 0;
  bool begins_line = false;  ///< it is fetched as the first one of a 64-byte line of code
  bool is_indirect = false;  ///< a jump or call to an address that is not in the instruction; no return
};

/// Whether an instruction waits in the schedulers of vectors and masks, which have as much room as the reorder buffer.
inline bool is_of_vectors(const CoreInstruction& instruction) {
  bool is = false;
  for (const Register r : instruction.results) is |= is_vector(r);
  for (const Register r : instruction.sources) is |= is_vector(r);
  return is;
}

/// Execution ports, one bit each, by number. What a bit is, the file of the core says; a unit that is not pipelined (a
/// divider) is a port as well.
using Ports = std::uint16_t;
constexpr unsigned ports = 16;
/// What an operation may occupy: a port, the fetching of code, the writing of stores into the first level, or the
/// prediction of returns.
constexpr unsigned fetch_unit = ports, write_unit = ports + 1, return_unit = ports + 2, units = ports + 3;

/// Cycles of work, each on any one of these ports.
struct PortUse {
  Ports any = 0;
  std::uint8_t cycles = 0;
};

/// The timing of one kind of instruction, without its accesses to memory.
struct Timing {
  Operation operation = Operation::unknown;
  std::uint8_t latency = 0;  ///< cycles from the last source to the result
  std::uint16_t slots = 1;   ///< of the `width` slots in a cycle, without the second one of a store
  PortUse uses[3] = {};
  const char* source = "";  ///< the source of these values
};

/// Which loads of general registers get the value of a store at renaming, if address and size are the same.
///   moves: moves and read-modify-writes, not loads that are a source of another operation
///   all: these too; and read-modify-writes of less than 4 bytes.
enum class Renames : std::uint8_t { none, without_index, moves, all };

/// A core: a table of timings, and the parameters of the whole core.
struct CoreTable {
  const char* name;
  std::uint8_t width;                 ///< slots per cycle in which instructions start, and end; divides
                                      ///< ticks_per_cycle
  std::uint16_t rob;                  ///< slots that are in work at a time; 0: in order
  std::uint16_t scheduler = 0;        ///< operations that wait for sources and ports at a time
  std::uint8_t load_latency;          ///< cycles of a load into a general register that hits in L1D
  std::uint8_t vector_load_latency;   ///< into a vector register
  Ports loads, vector_loads, stores;  ///< the ports of an access; each takes one for a cycle
  std::uint8_t index_latency = 0;     ///< more cycles of a load whose address has an index
  std::uint8_t forward = 5;           ///< cycles from a store's data to the result of a load inside it
  std::uint8_t vector_forward = 0;    ///< the same into a vector register; 0: as `forward`
  std::uint8_t forward_blocked = 12;  ///< from the end of a store to the result of a load of which it has only a part
  Renames renames = Renames::none;    ///< loads of exactly what was stored take no time
  std::uint8_t renamed_stores = 9;    ///< of the last stores, those for which this holds
  std::uint8_t loads_extend = 0;  ///< loads extend their values in no time of their own: 1: by zeros; 2: also by the
                                  ///< sign
  bool shifts_keep_flags = true;  ///< a shift by a register waits for the flags, which it may keep
  bool reissues = false;          ///< see CoreRun::reissue()
  bool adds_index_last = false;   ///< an index of three address parts has a latency of 1
  std::uint8_t add_to_add = 0;    ///< cycles by which an addition of floating point gets the result of another earlier
  std::uint8_t stack_sync = 0;    ///< cycles until others see what push, pop, call and ret add to RSP
  bool fuses_moves = false;       ///< a move between registers and an operation that changes its result take one slot
  bool computes_constants = false;  ///< a move of a constant takes a port
  bool fuses = false;               ///< a comparison and the conditional jump after it are one operation
  std::uint8_t fetch = 0;           ///< operations of one line of code that are fetched in a cycle, up to a taken
                                    ///< branch; 0: any
  std::uint8_t fetches = 1;         ///< 2: two of one line, or before and after a taken branch, are one cycle's
  std::uint8_t loop_queue = 0;  ///< instructions of a loop that is repeated from the queue of decoded ones, not fetched
  std::uint8_t indirect = 0;    ///< cycles in which nothing is fetched after an indirect jump or call
  std::uint8_t returns = 0;     ///< cycles from a return to the next one, at least
  std::uint8_t access_bytes = 64;  ///< most bytes of an access that a port takes in a cycle
  std::uint8_t store_bytes = 64;   ///< the same of a store
  bool store_joins = false;        ///< the store of an instruction that also computes takes no slot of its own
  bool store_merges = false;       ///< stores are written a line per cycle, of general registers together
  std::uint8_t mispredict = 0;     ///< cycles lost by a wrong prediction of a branch that a load decides
  std::uint8_t wrong_target = 0;   ///< more of them if the branch is indirect
  std::uint8_t waiting = 0;        ///< operations that wait in one scheduler at a time: see ReorderBuffer; 0: not
                                   ///< measured, loops overlap with nothing
  std::array<Timing, operations> timings;  ///< by kind; see by_operation()

  /// Whether no instruction starts before earlier ones.
  bool in_order() const { return rob == 0; }
  /// Cycles of waiting that the slots in work hide.
  std::int32_t window() const { return rob / width; }
  /// Cycles by which an instruction of general registers may be done before earlier ones that wait: the time in which
  /// the schedulers fill. Those of vectors and masks may lead by window().
  std::int32_t lead() const { return (scheduler < rob ? scheduler : rob) / width; }

  /// Returns the row of a kind; null if the table has none.
  const Timing* timing(Operation operation) const {
    const Timing& row = timings[static_cast<unsigned>(operation)];
    return operation != Operation::unknown && row.operation == operation ? &row : nullptr;
  }
};

constexpr std::int32_t most_window = 256;  ///< of all cores, in cycles

/// Returns the timing of an instruction; null if the table has none.
inline const Timing* timing_of(const CoreTable& core, const CoreInstruction& instruction) {
  const Operation operation = instruction.operation;
  if ((operation == Operation::extend ? core.loads_extend >= 1
                                      : operation == Operation::extend_sign && core.loads_extend == 2) &&
      instruction.memory != 0)
    return core.timing(Operation::move);
  const bool is_constant = instruction.memory == 0 && instruction.sources[0] == no_register;
  const bool computes = operation == Operation::move && is_constant && core.computes_constants;
  return core.timing(computes ? Operation::alu : operation);
}

/// Copies what the run of code depends on except the timings, to or from a struct with the same members as integers.
template <class From, class To>
constexpr void copy_parameters(const From& from, To& to) {
  const auto copy = []<class T, class U>(const T& value, U& copied) { copied = static_cast<U>(value); };
  copy(from.rob, to.rob), copy(from.scheduler, to.scheduler), copy(from.width, to.width);
  copy(from.loads, to.loads), copy(from.vector_loads, to.vector_loads), copy(from.stores, to.stores);
  copy(from.load_latency, to.load_latency), copy(from.vector_load_latency, to.vector_load_latency);
  copy(from.index_latency, to.index_latency), copy(from.forward_blocked, to.forward_blocked);
  copy(from.forward, to.forward), copy(from.vector_forward, to.vector_forward);
  copy(from.renames, to.renames), copy(from.renamed_stores, to.renamed_stores), copy(from.fuses, to.fuses);
  copy(from.stack_sync, to.stack_sync), copy(from.fuses_moves, to.fuses_moves);
  copy(from.loads_extend, to.loads_extend), copy(from.reissues, to.reissues);
  copy(from.adds_index_last, to.adds_index_last), copy(from.shifts_keep_flags, to.shifts_keep_flags);
  copy(from.add_to_add, to.add_to_add), copy(from.wrong_target, to.wrong_target);
  copy(from.computes_constants, to.computes_constants);
  copy(from.waiting, to.waiting), copy(from.mispredict, to.mispredict), copy(from.fetch, to.fetch),
      copy(from.fetches, to.fetches), copy(from.loop_queue, to.loop_queue);
  copy(from.indirect, to.indirect), copy(from.returns, to.returns);
  copy(from.access_bytes, to.access_bytes), copy(from.store_bytes, to.store_bytes);
  copy(from.store_joins, to.store_joins), copy(from.store_merges, to.store_merges);
}

/// Sorts rows by their kind.
constexpr std::array<Timing, operations> by_operation(std::span<const Timing> rows, std::span<const Timing> more = {}) {
  std::array<Timing, operations> result{};
  for (const std::span<const Timing> list : {rows, more})
    for (const Timing& row : list) result[static_cast<unsigned>(row.operation)] = row;
  return result;
}

/// A store that later loads may read from.
struct RecentStore {
  SymbolicAddress at = {};  ///< by the present values of the registers
  std::int16_t ready = 0;   ///< its data
  std::int16_t end = 0;     ///< it and all instructions before it have ended: it can be written to L1
  bool operator==(const RecentStore&) const = default;
};
constexpr unsigned recent_stores = 16;
/// For how many cycles after its data is ready a store delays loads 4 KiB away: on a Zen 5 (2026-11-30), a loop of a
/// cycle that adds to memory takes 3 to 10 if the store is 1 to 9 iterations before the load, and 1.5 to 2.4 at 10
/// to 16.
constexpr std::int32_t alias_cycles = 4;

/// The ready times of registers, ports and stored data, in ticks relative to the end of the last instruction: negative
/// values were ready before, down to the window. In order they are relative to the earliest start of the next
/// instruction, and positive values are in flight. The initial state is all zero. Small, because every block of a
/// program has one.
struct CoreState {
  std::int16_t ready[registers] = {};
  std::int16_t free[units] = {};
  std::uint8_t fetched = 0;   ///< 1 + the operations that were fetched and have not started; 0: after a taken branch
  bool fetch_joins = false;   ///< the next fetch may be in the cycle of the last one
  bool stack_moved = false;   ///< RSP was moved by the front end, and nothing else has read it since
  std::uint64_t loaded = 0;   ///< bit r: the value of register r comes from a load
  std::uint64_t chained = 0;  ///< bit r: from an operation that begins a chain, see CoreRun::reissue()
  std::uint64_t added = 0;    ///< bit r: from an addition of floating point
  RecentStore stores[recent_stores];  ///< the newest first
  bool operator==(const CoreState&) const = default;
};

/// The cost of a run. Instructions without a timing take one slot and no time.
struct CoreCost {
  std::int64_t ticks = 0;     ///< from the end of the previous code to the end of this one
  CoreTimes causes = {};      ///< the same, by what they are spent on: their sum is `ticks`
  std::uint32_t unknown = 0;  ///< instructions without a timing
  std::uint32_t aliases = 0;  ///< loads that a pending store delays, 4 KiB away; the delay is not modelled
  bool operator==(const CoreCost&) const = default;
};

/// Runs a code region once, starting from `state`. If `each` is not empty, it receives what each instruction added to
/// the time from the end of the one before it. `is_queued`: it is not fetched. Cost: some 10 ns per instruction.
CoreCost run(const CoreTable& core, std::span<const CoreInstruction> instructions, CoreState& state,
             std::span<CoreTimes> each = {}, bool is_queued = false);

}  // namespace tally::models

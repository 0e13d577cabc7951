/// Marked addresses of the program: where functions begin, and points between which is counted.
///
/// The command knows symbols, the engine knows addresses: each time a program maps a file that it may execute, its
/// engine asks, and the command writes the addresses into the process's page of the channel. What a thread has counted
/// there stands in pages of its own, so that it outlives the process.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/fields.hpp"
#include "tally/engine/channel/models.hpp"

namespace tally::channel {

inline constexpr uint32_t mark_limit = 16, mark_event_limit = 24;

/// What an event is a sum of: the fields of Totals, then the numbers of ModelValues.
inline constexpr uint32_t mark_fields = field_count;
inline constexpr uint32_t mark_values = mark_fields + sizeof(ModelValues) / sizeof(uint64_t);

/// Instructions that programs mark their own parts with: the first one begins, the next one ends.
enum MarkTrap : uint8_t { no_trap, trap_int2e, trap_int3 };

/// What is counted at marks, and by the instruction rdpmc.
struct Marks {
  uint8_t on;                     ///< there is something
  uint8_t trap;                   ///< a MarkTrap, which is the last mark
  uint8_t rdpmc;                  ///< the instruction reads the counters below; without it fails as it does natively
  uint8_t selector[4], fixed[3];  ///< rows of `weight`, from 1; 0: there is no such counter
  uint32_t count;                 ///< of marks
  uint32_t events;                ///< of which the first so many rows of `weight` are
  uint32_t modelled;              ///< some need ModelValues
  int8_t weight[mark_event_limit][mark_values];
  uint32_t cycles_rows;                            ///< bit i: row i has no weights: it is the cycles
  int32_t miss_cycles[mark_values - mark_fields];  ///< what each of ModelValues adds to those of the core
};

/// What an address is to its mark.
enum MarkRole : uint32_t {
  mark_function,  ///< the first instruction of a function: counted is up to its return
  mark_from,      ///< counting begins
  mark_to,        ///< counting ends
  mark_starts,    ///< of no mark: the thread's windows start (windows.hpp)
  mark_stops,     ///< and stop
  mark_leaves,    ///< of no mark: a function that may leave others without their return, as longjmp does
};

struct MarkPoint {
  uint64_t address;
  uint32_t mark;  ///< its number
  uint32_t role;  ///< a MarkRole
};

/// A page of the file for each process: the answer to what its engine asked.
struct MarkPoints {
  uint32_t count;
  uint32_t reserved[3];
  MarkPoint point[255];
};
inline constexpr uint64_t mark_points_bytes = 4096;
static_assert(sizeof(MarkPoints) == mark_points_bytes);

struct MarkEvent {
  int64_t total, least, most;
  int64_t start;  ///< of the entry that is open
};

/// What a thread counted at a mark.
struct MarkCounts {
  uint64_t entries;    ///< that ended
  uint64_t recursive;  ///< of a function, while it was open
  uint64_t dropped;    ///< that nobody knows the end of
  uint64_t cut;        ///< among `entries`: those that the end of their thread ended
  uint64_t open;       ///< 1: one has begun
  uint64_t sp, back;   ///< of that: where its return address lies, and which it is
  MarkEvent event[mark_event_limit];
};
inline constexpr uint64_t mark_counts_bytes = 16384;
static_assert(mark_limit * sizeof(MarkCounts) <= mark_counts_bytes);

}  // namespace tally::channel

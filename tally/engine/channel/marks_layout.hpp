/// Marked addresses of the program: entries of functions, and the bounds of regions that are counted.
///
/// The command resolves symbols; the engine works with addresses. Whenever a program maps a file that it may execute,
/// its engine asks, and the command writes the addresses into the process's page of the channel. The counts of each
/// thread are in pages of its own, so they outlive the process.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/event_fields.hpp"
#include "tally/engine/channel/model_counts.hpp"

namespace tally::channel {

/// Windows need more events than marks: cycles of a model are a sum of several.
inline constexpr uint32_t mark_limit = 16, mark_event_limit = 30, weight_limit = 40;

/// An event is a weighted sum of the fields of Totals and the values of ModelValues, in this order.
inline constexpr uint32_t mark_fields = field_count;
inline constexpr uint32_t mark_values = mark_fields + sizeof(ModelValues) / sizeof(uint64_t);

/// Instructions by which programs mark regions: the first one begins a region, the next one ends it.
enum MarkTrap : uint8_t { no_trap, trap_int2e, trap_int3 };

/// What is counted at marks, and what the instruction rdpmc reads.
struct Marks {
  uint8_t on;                     ///< 1: marks or counters are requested
  uint8_t trap;                   ///< a MarkTrap, which has the last mark
  uint8_t rdpmc;                  ///< 1: rdpmc reads the counters below; otherwise it fails as it does natively
  uint8_t selector[4], fixed[3];  ///< rows of `weight`, from 1; 0: no such counter
  uint8_t python;                 ///< 1: each thread has a PythonTable, with the first events of `weight`
  uint32_t count;                 ///< number of marks
  uint32_t events;                ///< number of events: the first rows of `weight`
  uint32_t modelled;              ///< 1: some events need ModelValues
  int8_t weight[weight_limit][mark_values];
  uint32_t cycles_rows;                            ///< bit i: row i has no weights but contains the cycles
  int32_t miss_cycles[mark_values - mark_fields];  ///< cycles that each of ModelValues adds to those of the core
};

/// Whether translations of a run with these marks are kept: it has none, or only those of Python interpreters, whose
/// addresses follow from the code.
inline bool can_keep_code(const Marks& m) {
  return m.on == 0 ||
         (m.python != 0 && m.count == 0 && m.rdpmc == 0 && m.trap == no_trap && m.modelled == 0 && m.cycles_rows == 0);
}

/// How an address belongs to its mark.
enum MarkRole : uint32_t {
  mark_function,       ///< the first instruction of a function, which is counted until it returns
  mark_from,           ///< counting begins
  mark_to,             ///< counting ends
  mark_starts,         ///< no mark: the thread's windows start (windows.hpp)
  mark_stops,          ///< no mark: they stop
  mark_leaves,         ///< no mark: a function that may leave others without a return, like longjmp
  mark_python,         ///< no mark: _PyEval_EvalFrameDefault of CPython; `mark` is its size, and above python_size_bits
                       ///< the index of the version in python::layouts
  mark_python_frame,   ///< set by the engine: an instruction there that stores the current frame
  mark_python_return,  ///< set by the engine: a return from there
  mark_entered,        ///< no mark: a function whose entries by jumps are calls, if calls are followed
  mark_toggles,        ///< no mark: a function whose calls switch the collection of their thread (parts.hpp)
};

inline constexpr uint32_t python_size_bits = 24;

struct MarkPoint {
  uint64_t address;
  uint32_t mark;  ///< number of the mark
  uint32_t role;  ///< a MarkRole
};

/// A page of the file for each process: the command's answer to its engine.
struct MarkPoints {
  uint32_t count;
  uint32_t reserved[3];
  MarkPoint point[255];
};
inline constexpr uint64_t mark_points_bytes = 4096;
static_assert(sizeof(MarkPoints) == mark_points_bytes);

struct MarkEvent {
  int64_t total, least, most;
  int64_t start;  ///< value when the open entry began
};

/// What a thread counted at a mark.
struct MarkCounts {
  uint64_t entries;    ///< that have ended
  uint64_t recursive;  ///< of a function, while it was open
  uint64_t dropped;    ///< whose end is unknown
  uint64_t cut;        ///< among `entries`: those that ended with their thread
  uint64_t open;       ///< 1: an entry is open
  uint64_t sp, back;   ///< of that entry: the address of its return address, and the return address
  MarkEvent event[mark_event_limit];
};
inline constexpr uint64_t mark_counts_bytes = 16384;
static_assert(mark_limit * sizeof(MarkCounts) <= mark_counts_bytes);

}  // namespace tally::channel

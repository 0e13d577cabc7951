/// Parts of a run, which marks in the program's own code separate. mark_dialects.inc lists the tools whose marks these
/// are.
///
/// As for callgrind, *instrumentation* is on or off for a whole process, and *collection* for each thread. A thread
/// counts while both are on. A dump ends the part of a process and begins the next one.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/event_fields.hpp"
#include "tally/engine/channel/model_counts.hpp"

namespace tally::channel {

/// The state of instrumentation or collection when a program starts. `automatic`: the first mark decides. It was off
/// before a mark that switches it on.
enum class AtStart : uint8_t { automatic, on, off };

/// Dialects whose marks are illegal instructions natively.
enum class IllegalMarks : uint8_t {
  none,
#define TALLY_ILLEGAL_MARKS(name, examples) name,
#include "tally/engine/channel/mark_dialects.inc"
};

/// Which marks count, and how.
struct PartSettings {
  uint8_t on;  ///< 1: marks divide the run into parts
  AtStart instrumentation, collection;
  uint8_t as_valgrind;   ///< 1: client requests are answered as valgrind does; 0: they have no effect, as natively
  IllegalMarks illegal;  ///< these illegal instructions are marks; others raise SIGILL, as natively
};

/// How a part ended.
enum class PartEnd : uint32_t {
  process,     ///< its process ended, or was killed
  dump,        ///< a dump without a name
  named_dump,  ///< a dump; the name is in `name`
  discarded,   ///< the program discarded the counts, or the first mark showed that they were not to be counted
};

/// Values of everything that the engine counts.
struct CountedValues {
  Totals totals;
  ModelValues models;
  int64_t cycles;  ///< including misses; 0 if not requested

  /// Adds `n` times `v`.
  void add(const CountedValues& v, int64_t n = 1) {
    constexpr uint64_t words = sizeof(CountedValues) / 8;
    uint64_t sums[words], more[words];
    __builtin_memcpy(sums, this, sizeof sums);
    __builtin_memcpy(more, &v, sizeof more);
    for (uint64_t i = 0; i < words; i++) sums[i] += static_cast<uint64_t>(n) * more[i];
    __builtin_memcpy(static_cast<void*>(this), sums, sizeof sums);
  }
};

/// What one thread counted in a part. A thread writes it each time that it stops counting, so it outlives a killed
/// process; the dump then adds the end.
struct PartCounts {
  uint32_t state;            ///< 0: not used, 1: valid
  uint32_t process, thread;  ///< indices of their records
  uint32_t number;           ///< of the part in its process, from 1; those that were discarded have none
  uint32_t label;            ///< of the part in its process, from 1: in CodeCounts::part
  uint32_t entries;          ///< how often the thread began to count
  uint32_t cut;              ///< 1: it was counting when it ended
  PartEnd end;
  char name[96];  ///< of a named dump, or of what the program's marks separate; cut at 95 bytes
  CountedValues values;
};
static_assert(sizeof(PartCounts) % 8 == 0);
/// After this many, counts of further parts are lost.
inline constexpr uint32_t part_counts_limit = 1u << 16;

}  // namespace tally::channel

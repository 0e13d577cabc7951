/// Windows: a row of counts whenever a thread has counted N instructions or other events.
///
/// A thread writes its rows into its own ring (notes.hpp) and continues; the command takes them. A row
/// holds what the thread has counted since it began. If the thread is killed, its counters minus its last row are what
/// it counted after that row.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/channel/marks_layout.hpp"
#include "tally/engine/channel/notes.hpp"

namespace tally::channel {

/// Ends a window after `every` events. The event is a weighted sum of the fields of Totals.
struct WindowTrigger {
  uint64_t every;
  int8_t weight[mark_fields];
};
inline constexpr uint32_t window_trigger_limit = 4;
/// Most events that generated code sums, in addition to those of triggers. If there are more, all counters are read.
inline constexpr uint32_t window_sum_limit = 4;
/// WindowRow::ended_by if the end of its thread cut the window.
inline constexpr uint32_t window_cut = window_trigger_limit;
/// WindowRow::ended_by if the row holds only a part of the window's vector: the rest follows.
inline constexpr uint32_t window_part = window_trigger_limit + 1;
/// WindowRow::ended_by of rows without a window: the thread's windows start after this row, or stopped before it.
inline constexpr uint32_t window_starts = window_trigger_limit + 2, window_stops = window_trigger_limit + 3;
/// WindowRow::ended_by of a row without a window: the thread is about to use, or has used, what it read from a Source.
/// `cpu` is the Source, and the words are addresses on the stack that follow a call, innermost first.
inline constexpr uint32_t window_read = window_trigger_limit + 4;
inline constexpr uint32_t window_read_callers = 8;
/// Most events per window. A thread counts down in 64 bits and tests the sign in the highest byte.
inline constexpr uint64_t window_event_limit = uint64_t{1} << 54;

/// The windows of a run. Rows contain the events of Marks::weight.
struct Windows {
  uint8_t on;
  uint8_t vectors;  ///< 1: rows contain which segments were executed
  uint8_t bounded;  ///< 1: windows start and stop at addresses (marks.hpp), and rows record when
  uint8_t waits;    ///< 1: the windows of a program start at such an address, or at a trap
  uint8_t repeats;  ///< 1: they start again after they stopped, and each stop ends a window
  uint8_t paths;    ///< 1: rows contain a hash of the executed path; there is one trigger, and no sum of other events
  uint8_t reads;    ///< 1: threads also write a row for each read of a Source
  uint32_t triggers;
  WindowTrigger trigger[window_trigger_limit];
  uint64_t first;  ///< with `paths`: length of a thread's first window; 0: that of the others
  uint64_t most;   ///< with `paths`: windows after that one, before the last, which has no end; 0: no limit
};

/// The path hash of a thread is a polynomial over the branches that it executed: hash = hash * 9 + path_step(). The
/// branches are all conditional and indirect ones, and returns; a conditional branch that is not taken adds a second
/// step. The position of a branch is its offset in its page, which no address randomisation and no cache changes, with
/// its bytes. Returns a step; `not_taken`: the second one.
inline int32_t path_step(uint64_t pc, const uint8_t* bytes, uint32_t length, bool not_taken) {
  uint64_t hash = (pc & 0xfff) << 1 | (not_taken ? 1 : 0);
  for (uint32_t i = 0; i < length; i++) hash = checksum_with(hash, bytes[i]);
  return static_cast<int32_t>(hash32(hash));
}

/// One row, of window_row_bytes(). It is valid once `number` is set. Its part of the window's vector follows `sum`:
/// words as of window_word().
struct WindowRow {
  uint64_t time_ns;   ///< CLOCK_MONOTONIC
  uint64_t address;   ///< of the last instruction of the window; 0 if its thread's end cut it
  uint16_t ended_by;  ///< number of a trigger, or one of the constants above
  uint16_t cpu;       ///< the CPU that the thread ran on
  uint32_t number;    ///< of the window in its thread, from 1; shows which rows of an open block are new
  uint32_t words;     ///< words of the vector
  uint32_t log;       ///< number of the CodeLog that describes its segments
  uint64_t path;      ///< hash of the thread's path so far and of `address`; of window_read: a hash of what was read
  int64_t sum[];      ///< of each event, since the thread began
};
inline constexpr uint32_t window_row_bytes(uint32_t events, uint32_t words = 0) {
  return static_cast<uint32_t>(sizeof(WindowRow) + events * sizeof(int64_t) + words * sizeof(uint64_t));
}

/// A word of a vector: a segment number, and in the upper 32 bits how often the segment was executed. If the number is
/// word_corrects, the next word is the address of an instruction that was executed that many times more (signed) than
/// the segments count.
inline constexpr uint32_t word_corrects = 1;
inline constexpr uint64_t window_word(uint32_t segment, uint32_t times) {
  return segment | static_cast<uint64_t>(times) << 32;
}

}  // namespace tally::channel

/// Windows: a row of counts each time that a thread has counted so many instructions, or other events.
///
/// A thread writes its rows into a ring of its own (notes.hpp, Handed::windows) and counts on; the command takes them.
/// A row holds what the thread has counted since it began, so that what a killed thread counted after its last row is
/// the difference to what its counters say.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

#include "tally/engine/channel/marks.hpp"
#include "tally/engine/channel/notes.hpp"

namespace tally::channel {

/// What ends a window: so many of an event that is a sum of the fields of Totals.
struct WindowTrigger {
  uint64_t every;
  int8_t weight[mark_fields];
};
inline constexpr uint32_t window_trigger_limit = 4;
/// So many events, beside those of triggers, are summed by generated code; of more all counters are read.
inline constexpr uint32_t window_sum_limit = 4;
/// The number that stands for a trigger where the thread's end cut its last window.
inline constexpr uint32_t window_cut = window_trigger_limit;
/// Of a row that holds but a part of a window's vector: the rest follows.
inline constexpr uint32_t window_part = window_trigger_limit + 1;
/// Of rows without a window: the thread's windows start after them, or have stopped before them.
inline constexpr uint32_t window_starts = window_trigger_limit + 2, window_stops = window_trigger_limit + 3;
/// Most events of a window: a thread counts down in 64 bits, whose sign it looks at by the highest byte.
inline constexpr uint64_t window_event_limit = uint64_t{1} << 54;

/// The windows of a run. What a row holds are the rows of Marks::weight.
struct Windows {
  uint8_t on;
  uint8_t vectors;  ///< 1: rows tell which segments were executed
  uint8_t bounded;  ///< 1: threads tell by rows when their windows start and stop, at addresses (marks.hpp)
  uint8_t waits;    ///< 1: those of a program start at one
  uint32_t triggers;
  WindowTrigger trigger[window_trigger_limit];
};

/// One row, of window_row_bytes(). It is there once its number is. After `sum` stands its part of the window's vector:
/// words of WindowWord.
struct WindowRow {
  uint64_t time_ns;   ///< CLOCK_MONOTONIC
  uint64_t address;   ///< of the last instruction of the window; 0 where its thread's end cut it
  uint16_t ended_by;  ///< number of a trigger, or one of those above
  uint16_t cpu;       ///< where the thread ran then
  uint32_t number;    ///< of the windows of the thread, from 1: in a block that was not published it tells the last one
  uint32_t words;     ///< of the vector
  uint32_t log;       ///< number of the CodeLog that says what its segments are
  int64_t sum[];      ///< of each event, since the thread began
};
inline constexpr uint32_t window_row_bytes(uint32_t events, uint32_t words = 0) {
  return static_cast<uint32_t>(sizeof(WindowRow) + events * sizeof(int64_t) + words * sizeof(uint64_t));
}

/// A word of a vector: a segment's number, and above it how often it was executed; or, in place of the number,
/// word_corrects: the next word is the address of an instruction, which was executed so many times more (a signed
/// number) than segments say.
inline constexpr uint32_t word_corrects = 1;
inline constexpr uint64_t window_word(uint32_t segment, uint32_t times) {
  return segment | static_cast<uint64_t>(times) << 32;
}

}  // namespace tally::channel

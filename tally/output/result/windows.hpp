// Windows: what a thread counted in each stretch of so many instructions, or of other events.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::result {

struct CodeFile;

/// What ends a window.
struct WindowTrigger {
  EventName event;
  std::uint64_t every = 0;      ///< so many of it; 0: not fixed
  std::uint64_t frequency = 0;  ///< so often in a second, by what the kernel has for its period then; 0: it does not
  bool operator==(const WindowTrigger&) const = default;
};

/// How many instructions of a block a window executed.
struct BlockCount {
  std::uint32_t block = 0;  ///< a number, from 1: the same in all windows of the measurement
  std::int64_t instructions = 0;
  bool operator==(const BlockCount&) const = default;
};

/// One window of a thread.
struct Window {
  std::uint32_t series = 0;  ///< whose it is: another number for each thread of each program that a process executes
  std::string_view program = {};  ///< its file name
  std::uint64_t number = 0;       ///< in its series, from 1
  Nanoseconds time{0};            ///< when it ended, from the start of the measurement
  std::int64_t length = 0;        ///< events of its trigger in it; of a cut one, those of the first trigger
  std::int64_t pid = 0, tid = 0;
  int cpu = -1;                             ///< where its thread ran when it ended; negative: not known
  std::optional<std::size_t> trigger = {};  ///< which ended it; nothing: its thread's end cut it
  std::uint64_t address = 0;                ///< of its last instruction; 0: not known
  const CodeFile* file = nullptr;  ///< where places are wanted: what the address is mapped from; null: not known
  std::uint64_t offset = 0;        ///< of the address in that file
  std::string_view function = {}, line = {};  ///< of the address, as far as they are known
  bool partial = false;   ///< its thread was killed between two counts, or its process is not wholly counted
  std::int64_t lost = 0;  ///< windows before it that got no row, and are in this one
  std::span<const BlockCount> vector = {};    ///< where vectors are wanted: by rising numbers
  std::span<const std::int64_t> counts = {};  ///< in it, of each event that could be counted: see WindowsHead::places
};

/// What is the same for all windows of a measurement.
struct WindowsHead {
  std::vector<std::string> command;
  std::vector<WindowTrigger> triggers;
  std::vector<EventCount> events;  ///< that were asked for: name, unit, and the trust of the counts in a window
  std::vector<std::optional<std::size_t>> places = {};  ///< of each, which of Window::counts it is; nothing: absent
  std::string start = {}, stop = {};                    ///< places of the program where threads' windows began and
                                                        ///< ended; empty: with the thread
  bool merged = false;                                  ///< rows are of processes: their threads' parts by time
  bool named = false;                                   ///< windows tell the function and the line of their addresses
  bool operator==(const WindowsHead&) const = default;
};

}  // namespace tally::result

// Windows: what a thread counted during N instructions, or N other events.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::result {

struct CodeFile;

/// The event that ends a window.
struct WindowTrigger {
  EventName event;
  std::uint64_t every = 0;      ///< events per window; 0: not fixed
  std::uint64_t frequency = 0;  ///< windows per second, from the kernel's adjusted period; 0: none
  bool operator==(const WindowTrigger&) const = default;
};

/// How many instructions of a block a window executed.
struct BlockCount {
  std::uint32_t block = 0;  ///< its number, from 1: the same in all windows of the measurement
  std::int64_t instructions = 0;
  bool operator==(const BlockCount&) const = default;
};

/// One window of a thread.
struct Window {
  std::uint32_t series = 0;       ///< one number for each thread of each program that a process executes
  std::string_view program = {};  ///< name of its file
  std::uint64_t number = 0;       ///< in its series, from 1
  Nanoseconds time{0};            ///< when it ended, from the start of the measurement
  std::int64_t length = 0;        ///< number of trigger events; for a cut window, events of the first trigger
  std::int64_t pid = 0, tid = 0;
  int cpu = -1;                             ///< where its thread ran at the end; negative: unknown
  std::optional<std::size_t> trigger = {};  ///< that ended it; empty: cut by the thread's end
  std::uint64_t address = 0;                ///< of its last instruction; 0: unknown
  const CodeFile* file = nullptr;  ///< if locations are requested: the file that contains the address; null: unknown
  std::uint64_t offset = 0;        ///< file offset of the address
  std::string_view function = {}, line = {};  ///< of the address, if known
  bool partial = false;   ///< the thread was killed between two counts, or its process is counted only in part
  std::int64_t lost = 0;  ///< preceding windows without a row, whose counts are in this one
  std::span<const BlockCount> vector = {};    ///< if vectors are requested: in ascending order
  std::uint64_t path = 0;                     ///< if path hashes are requested: the thread's hash at the end
  std::uint32_t process = 0;                  ///< one number for each program that a process executes
  std::span<const std::int64_t> counts = {};  ///< of each event that could be counted: see WindowsHead::places
};

/// Data that all windows of a measurement share.
struct WindowsHead {
  std::vector<std::string> command;
  std::vector<WindowTrigger> triggers;
  std::vector<EventCount> events;  ///< requested events: name, unit, and the trust of the counts in a window
  std::vector<std::optional<std::size_t>> places = {};  ///< of each event: index in Window::counts; empty: absent
  std::string start = {}, stop = {};  ///< locations where windows of threads begin and end; empty: with the thread
  std::string cpu_model = {}, machine_model = {}, clock = {}, program_environment = {};  ///< as in Stat
  std::optional<std::vector<ReadSource>> nondeterminism = {};  ///< as in Run; known at the end
  bool merged = false;         ///< rows are of processes: windows of their threads, merged by time
  bool named = false;          ///< windows have the function and line of their addresses
  Provenance provenance = {};  ///< files of the format binary do not contain it
  bool operator==(const WindowsHead&) const = default;
};

}  // namespace tally::result

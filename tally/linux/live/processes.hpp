// All processes, and what each uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/linux/live/folder_files.hpp"

namespace tally::linux {

/// What /proc/PID/stat says (proc(5)).
struct ProcessStatistics {
  int process = 0;
  std::string name;
  char state = '?';
  std::uint64_t ticks = 0;  ///< of 10 ms, in user mode and in the kernel, of all its threads
  std::uint64_t minor_faults = 0, major_faults = 0;
  std::uint64_t threads = 0;
  std::uint64_t started = 0;  ///< ticks after the start of the machine: tells two of one number apart
  std::uint64_t resident_bytes = 0;
  bool operator==(const ProcessStatistics&) const = default;
};

/// Meaning of that text; nothing where it is no such text.
std::optional<ProcessStatistics> process_statistics(int process, std::string_view text);

/// All that are there, by number. Cost: one file a process.
std::vector<ProcessStatistics> read_processes(const std::string& root);

/// What is told of a process beyond that, in two more files.
struct ProcessDetails {
  std::optional<std::uint64_t> switches;   ///< of its first thread alone: /proc/PID/status
  std::optional<std::uint64_t> waited_ns;  ///< for a processor, its first thread: /proc/PID/schedstat
  bool operator==(const ProcessDetails&) const = default;
};
ProcessDetails read_details(FolderFiles& proc, int process);

}  // namespace tally::linux

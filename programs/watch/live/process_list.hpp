// Lists all processes and what each uses.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "programs/watch/live/folder_files.hpp"

namespace tally::watch {

/// Fields of /proc/PID/stat (proc(5)).
struct ProcessStatistics {
  int process = 0;
  std::string name;
  char state = '?';
  std::uint64_t user_ticks = 0, kernel_ticks = 0;  ///< of 10 ms, of all its threads
  std::uint64_t minor_faults = 0, major_faults = 0;
  std::uint64_t threads = 0;
  std::uint64_t started = 0;  ///< ticks since boot; distinguishes processes that had the same ID
  std::uint64_t resident_bytes = 0;
  std::uint64_t ticks() const { return user_ticks + kernel_ticks; }
  bool operator==(const ProcessStatistics&) const = default;
};

/// Parses that file; nothing if the text is invalid.
std::optional<ProcessStatistics> process_statistics(int process, std::string_view text);

/// Returns all processes, by ID. Cost: one file for each.
std::vector<ProcessStatistics> read_processes(const std::string& root);

/// Whether /proc hides the processes of other users from this one (mount option hidepid). Lists of processes then have
/// only those of this user.
bool hides_processes(const std::string& root);

/// More about a process, from other files.
struct ProcessDetails {
  std::string command;                     ///< with arguments, separated by spaces; empty for threads of the kernel
  std::optional<std::uint64_t> switches;   ///< of its first thread only: /proc/PID/status
  std::optional<std::uint64_t> waited_ns;  ///< for a CPU, first thread only: /proc/PID/schedstat
  bool operator==(const ProcessDetails&) const = default;
};
ProcessDetails read_details(FolderFiles& proc, int process);

}  // namespace tally::watch

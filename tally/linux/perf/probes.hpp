// What a system answers when one tries to count on it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/perf/known_work.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/survey.hpp"

namespace tally::linux {

/// A counter that was tried.
struct Attempt {
  int os_errno = 0;                  ///< why it did not open; 0: it did
  std::optional<PerfValue> counted;  ///< over the trial loop
  bool operator==(const Attempt&) const = default;
};

/// Turns of the loop that is counted in a trial: a user-mode count of instructions must not be smaller.
inline constexpr std::int64_t trial_loop = 1'000'000;

/// What was tried, and the answers.
struct Probes {
  int gate_errno = 0;                 ///< perf_gate_errno()
  std::vector<Attempt> cores;         ///< instructions in user mode, by each PMU of the survey (one where it has none)
  std::vector<KnownWork> known_work;  ///< of each of these PMUs, by which `auto` judges them; empty where there is none
  Attempt with_kernel;                ///< instructions in user mode and kernel
  int whole_processor_errno = 0;      ///< everything on one processor; 0: it opened
  std::optional<UserReads> user_reads;  ///< whether a program may read the counter itself; nothing where none opened
  Attempt software;                     ///< page faults, those in the kernel too
  Attempt software_user;                ///< page faults in user mode
  int memory_file_errno = 0;            ///< memfd_create, which the engine uses for its counts
  int trace_errno = 0;                  ///< ptrace of a child, by which the engine gets into a program
  std::optional<std::uint64_t> time_stamp_hertz;  ///< measured_time_stamp_hertz()
  bool operator==(const Probes&) const = default;
};

/// Tries. Opens and closes some counters, starts a child and ends it. Cost: some 20 ms.
Probes try_counting(const Survey& survey);

}  // namespace tally::linux

// Tries to count on a system, and records what works.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "programs/linux/survey.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/perf/known_work.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// A counter that was tried.
struct Attempt {
  int os_errno = 0;                  ///< why it did not open, or 0
  std::optional<PerfValue> counted;  ///< in the trial loop
  bool operator==(const Attempt&) const = default;
};

/// Iterations of the trial loop: a user-mode count of instructions must not be smaller.
inline constexpr std::int64_t trial_loop = 1'000'000;

/// Whether a program may read a counter in user mode.
struct UserReads {
  int os_errno = 0;      ///< why the kernel does not map the counter's page, or 0. EPERM: too much is mapped already
  bool allowed = false;  ///< the page permits it (cap_user_rdpmc) and has an index
  bool operator==(const UserReads&) const = default;
};

/// Results of the trials.
struct Probes {
  int gate_errno = 0;                 ///< perf_gate_errno()
  std::vector<Attempt> cores;         ///< instructions in user mode, for each PMU of the survey (one if it has none)
  std::vector<KnownWork> known_work;  ///< for each of these PMUs; `auto` uses it to judge them; empty if there are none
  Attempt with_kernel;                ///< instructions in user mode and kernel mode
  int whole_processor_errno = 0;      ///< all instructions on one CPU; 0: it opened
  std::optional<UserReads> user_reads;            ///< whether a program may read the counter; nothing if none opened
  Attempt software;                               ///< page faults, including those in the kernel
  Attempt software_user;                          ///< page faults in user mode
  int memory_file_errno = 0;                      ///< memfd_create, which the engine needs for its counts
  int trace_errno = 0;                            ///< ptrace of a child, which the engine needs to enter a program
  std::optional<std::uint64_t> time_stamp_hertz;  ///< rate of the time-stamp counter; nothing without one
  bool operator==(const Probes&) const = default;
};

/// Opens and closes some counters, starts a child and ends it. Cost: some 20 ms.
Probes try_counting(const Survey& survey);

}  // namespace tally::linux

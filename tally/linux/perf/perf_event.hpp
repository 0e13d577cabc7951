// Opens and reads counters of the kernel: perf_event_open(2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tally/core/base/units.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// PERF_TYPE_HARDWARE and PERF_TYPE_SOFTWARE of linux/perf_event.h.
inline constexpr std::uint32_t perf_type_hardware = 0;
inline constexpr std::uint32_t perf_type_software = 1;

/// Software events: values of PerfEvent::config for perf_type_software (perf_sw_ids of linux/perf_event.h).
enum class KernelEvent : std::uint64_t {
  cpu_clock = 0,
  task_clock = 1,
  page_faults = 2,
  context_switches = 3,
  cpu_migrations = 4,
  minor_faults = 5,
  major_faults = 6,
  alignment_faults = 7,
  emulation_faults = 8,
  dummy = 9,             ///< counts nothing: opened for its records of what programs do
  cgroup_switches = 11,  ///< since Linux 5.13
};

/// Whether the kernel of this architecture counts an event at all. On x86 nothing adds to alignment_faults and
/// emulation_faults: their counters open and read a false 0.
bool kernel_counts(KernelEvent event);

/// An event to count.
struct PerfEvent {
  std::uint32_t type = perf_type_software;
  std::uint64_t config = 0;
  bool user_only = false;    ///< without the kernel and hypervisors
  bool kernel_only = false;  ///< without user mode and hypervisors
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  bool operator==(const PerfEvent&) const = default;
};

/// When a counter starts.
enum class PerfStart {
  at_once,
  at_exec,       ///< when the thread executes its next program
  when_enabled,  ///< PerfCounter::enable()
};

/// Which threads a counter counts.
struct PerfTarget {
  std::int32_t thread = 0;      ///< its ID; 0: the calling thread; −1: any that runs on the CPU
  std::int32_t processor = -1;  ///< CPU; −1: any
  bool inherit = false;         ///< also threads and processes that it creates from now on, and their descendants
  PerfStart start = PerfStart::at_once;
  int cgroup = -1;           ///< descriptor of a cgroup: only its tasks, on `processor`; −1: none
  bool whole_group = false;  ///< of a leader: PerfCounter::read_group() reads its group
  bool pinned = false;  ///< of a leader: takes precedence over unpinned ones; if no counter is free, it is in error and
                        ///< reads fail
  bool threads_only = false;  ///< inherit to threads, not to processes (since Linux 5.13)
  bool operator==(const PerfTarget&) const = default;
};

/// The target of a command that a child of the calling thread is about to execute: all of it, from its execve on.
/// Inherited counters count tasks that are created after they were opened, and the execve starts them: they may be
/// opened before the fork, and count nothing of this process.
inline constexpr PerfTarget next_program{0, -1, true, PerfStart::at_exec};

/// Value of a counter.
struct PerfValue {
  std::uint64_t value = 0;
  Nanoseconds enabled{0};  ///< how long it was enabled
  Nanoseconds running{0};  ///< how long it ran
  bool operator==(const PerfValue&) const = default;
};

/// Maximum size of a group for PerfCounter::read_group(): more than any PMU counts at once.
inline constexpr std::size_t largest_group_read = 32;

/// An open counter, or why it did not open.
struct PerfCounter {
  Descriptor fd;
  int os_errno = 0;  ///< of perf_event_open(2); 0 if it opened

  explicit operator bool() const { return static_cast<bool>(fd); }

  /// Reads the current value, including that of tasks that have ended. Nothing if the kernel returns nothing. Cost: one
  /// system call, and an interrupt of each CPU on which something counted runs.
  std::optional<PerfValue> read() const;

  /// Reads this leader and its group, in the order in which they were opened, at one time; the leader must have been
  /// opened with `whole_group`. Returns 0 or the errno of the read: ECHILD while a task exists that inherited the group
  /// before it was complete (since Linux 6.6; before, the sums were wrong), EIO if the kernel returns fewer values. At
  /// most largest_group_read values. Cost: one system call for all of them.
  int read_group(std::span<PerfValue> values) const;

  /// Enables it and its group. Returns false if the kernel refuses.
  bool enable() const;

  /// Disables it, also for all that inherited it.
  bool disable() const;

  /// Returns the ID in the records of a ring, for it and all that inherited it; 0 if the kernel reports none.
  std::uint64_t id() const;

  /// Redirects its records to the ring of another counter on the same CPU. Returns false if the kernel refuses.
  bool write_into(const PerfCounter& other) const;
};

/// Opens a counter. With a `leader` it becomes a member of its group: they count at the same times or not at all, and
/// start together.
PerfCounter open_counter(const PerfEvent& event, const PerfTarget& target = {}, const PerfCounter* leader = nullptr);

/// Which records a sampling counter writes into its ring (SampleRing), and when.
struct PerfSampling {
  std::uint64_t period = 1;        ///< events per record; 0: for a group member without its own records
  std::uint64_t fields = 0;        ///< of a record: PERF_SAMPLE_… bits
  std::uint32_t wakeup_bytes = 0;  ///< the descriptor becomes readable at this fill level
  bool by_frequency = false;       ///< `period` is the number of records per second
  bool report_threads = false;     ///< also record when threads begin, end and execute programs
  bool report_counts = false;      ///< if inherited: also record its value for a thread when that ends
  bool ordered = false;  ///< each record ends with thread, time and counter (sample_id_all); time as in linux::now()
  bool report_mappings = false;   ///< also record code mappings with their files
  bool users_calls_only = false;  ///< leave out the kernel's part of call chains
  int precise = 0;  ///< how close the sampled address must be to the counted instruction: precise_ip, 0 to 3
  bool operator==(const PerfSampling&) const = default;
};

/// Opens a counter that samples. The kernel only provides a ring for an inherited counter if it counts on one CPU.
/// `leader`: as for open_counter().
PerfCounter open_sampled(const PerfEvent& event, const PerfTarget& target, const PerfSampling& sampling,
                         const PerfCounter* leader = nullptr);

/// Opens a counter of the next program that a child of this thread executes, and of all that it starts. If the kernel
/// refuses to count itself (perf_event_paranoid 2), clocks are opened for user mode only, because they count the same:
/// all time on a CPU. Other events are not: context switches and migrations happen in the kernel and would read a false
/// 0, and page faults would lack those of system calls; `user_only` requests that.
PerfCounter open_for_next_program(KernelEvent event, bool user_only = false);

/// Returns why a counter failed to open with EMFILE, and what allows more: a counter is a file.
std::string why_no_more_files();

/// Calls perf_event_open(2) with flags that no kernel supports, and returns the errno. EINVAL comes from the kernel,
/// which checks the flags before permissions. Anything else means that the call did not get that far: ENOSYS if the
/// kernel has no perf, or if a system call filter (seccomp) answers, as with EPERM.
int perf_gate_errno();

}  // namespace tally::linux

// Counters of the kernel: perf_event_open(2).
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

/// The kernel's own events: what PerfEvent::config is for perf_type_software (perf_sw_ids of linux/perf_event.h).
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
  dummy = 9,             ///< counts nothing: it is opened for the records that tell what programs do
  cgroup_switches = 11,  ///< since Linux 5.13
};

/// Whether the kernel of this architecture counts an event at all: x86 has no place that adds to alignment_faults and
/// emulation_faults, so their counters open and hold a false 0.
bool kernel_counts(KernelEvent event);

/// What to count.
struct PerfEvent {
  std::uint32_t type = perf_type_software;
  std::uint64_t config = 0;
  bool user_only = false;    ///< not what happens in the kernel or in a hypervisor
  bool kernel_only = false;  ///< not what happens in user mode or in a hypervisor
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  bool operator==(const PerfEvent&) const = default;
};

/// When a counter begins to count.
enum class PerfStart {
  at_once,
  at_exec,       ///< when the thread executes its next program
  when_enabled,  ///< PerfCounter::enable()
};

/// Whose events to count.
struct PerfTarget {
  std::int32_t thread = 0;      ///< its number; 0: the calling one; −1: whoever runs on the processor
  std::int32_t processor = -1;  ///< −1: any
  bool inherit = false;         ///< and those of threads and processes that it makes from now on, and of theirs
  PerfStart start = PerfStart::at_once;
  int cgroup = -1;           ///< descriptor of a control group: only what its tasks do, on `processor`; −1: none
  bool whole_group = false;  ///< of a leader: it is read with all of its group, by PerfCounter::read_group()
  bool pinned = false;  ///< of a leader: ahead of all that is not; where there is no room it is dead, and reads fail
  bool threads_only = false;  ///< of what is inherited: threads, not processes (since Linux 5.13)
  bool operator==(const PerfTarget&) const = default;
};

/// The target of a command that a child of the calling thread is about to execute: all of it, from its execve on.
/// Inherited counters count what is made after they were opened, and its execve starts them: they may be opened before
/// the fork, and count nothing of this process.
inline constexpr PerfTarget next_program{0, -1, true, PerfStart::at_exec};

/// What a counter holds.
struct PerfValue {
  std::uint64_t value = 0;
  Nanoseconds enabled{0};  ///< how long it was to count
  Nanoseconds running{0};  ///< how long it did
  bool operator==(const PerfValue&) const = default;
};

/// The members of a group that PerfCounter::read_group() takes: more than any PMU counts at once.
inline constexpr std::size_t largest_group_read = 32;

/// An open counter, or why there is none.
struct PerfCounter {
  Descriptor fd;
  int os_errno = 0;  ///< of perf_event_open(2); 0 where it opened

  explicit operator bool() const { return static_cast<bool>(fd); }

  /// What it holds now, of all that it counts, living and ended. Nothing where the kernel gives nothing. Cost: one
  /// system call, and an interrupt of each processor on which something counted runs.
  std::optional<PerfValue> read() const;

  /// What it and the members of its group hold, in the order in which they were opened, of a leader that was opened so:
  /// values that belong together. Returns 0, or the errno of the read: ECHILD where something that had inherited the
  /// group before it was whole is alive (since Linux 6.6; the sums before were nonsense), EIO where the kernel
  /// gives less than that many. At most largest_group_read values. Cost: one system call for all of them.
  int read_group(std::span<PerfValue> values) const;

  /// Lets it count from now on, with all of its group. False where the kernel refuses.
  bool enable() const;

  /// Ends that, for all that inherited it too.
  bool disable() const;

  /// The number by which records of a ring name it, and all that inherited it; 0 where the kernel gives none.
  std::uint64_t id() const;

  /// What it writes goes into the ring of another one, which counts on the same processor. False where the kernel
  /// refuses.
  bool write_into(const PerfCounter& other) const;
};

/// Opens a counter. With a `leader` it becomes a member of its group: they count at the same times or not at all, and
/// start with it.
PerfCounter open_counter(const PerfEvent& event, const PerfTarget& target = {}, const PerfCounter* leader = nullptr);

/// What a counter that samples writes into its ring (SampleRing), and when.
struct PerfSampling {
  std::uint64_t period = 1;        ///< events for each record; 0: of a member that has none of its own
  std::uint64_t fields = 0;        ///< of a record: bits of PERF_SAMPLE_…
  std::uint32_t wakeup_bytes = 0;  ///< the descriptor becomes readable when so many wait
  bool by_frequency = false;       ///< `period` is how many records there are to be in a second
  bool report_threads = false;     ///< beginnings, ends and new programs of threads are records, too
  bool report_counts = false;      ///< of an inherited one: so is what it has of a thread when that ends
  bool ordered = false;           ///< every record has thread, time and counter behind it (sample_id_all), and its time
                                  ///< is that of linux::now()
  bool report_mappings = false;   ///< code that is mapped is a record, with its file
  bool users_calls_only = false;  ///< of chains of calls, those in the kernel are left out
  int precise = 0;                ///< how near the instruction is to be to the one that counted: precise_ip, 0 to 3
  bool operator==(const PerfSampling&) const = default;
};

/// Opens a counter that samples. The kernel gives a ring to one that is inherited only where it counts on one
/// processor. `leader`: as of open_counter().
PerfCounter open_sampled(const PerfEvent& event, const PerfTarget& target, const PerfSampling& sampling,
                         const PerfCounter* leader = nullptr);

/// Opens a counter of the next program that a child of this thread executes, and of all that it starts. Where the
/// kernel refuses its own part of the count (perf_event_paranoid 2) the clocks are opened without it, for they tell the
/// same: the whole time on a processor. Nothing else is: context switches and migrations happen in the kernel, and
/// would read a false 0; page faults would lack those of system calls, which is what `user_only` asks for.
PerfCounter open_for_next_program(KernelEvent event, bool user_only = false);

/// Why a counter did not open with EMFILE, and what allows more: a counter is a file.
std::string why_no_more_files();

/// The errno that a call of perf_event_open(2) with flags that no kernel knows ends with. EINVAL comes from the kernel:
/// it looks at the flags before it asks who calls. Anything else means that the call never got there: ENOSYS where the
/// kernel has no perf, or, as EPERM, where a filter of system calls (seccomp) answers.
int perf_gate_errno();

/// Whether a program may read a counter itself.
struct UserReads {
  int os_errno = 0;      ///< why the kernel maps no page of the counter; 0: it does. EPERM: too much is mapped already
  bool allowed = false;  ///< the page says that it may (cap_user_rdpmc), and where
  bool operator==(const UserReads&) const = default;
};
UserReads readable_in_user_mode(const PerfCounter& counter);

}  // namespace tally::linux

#include "tally/counting/backend/lost_counters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/program_file.hpp"

namespace tally::backend {
namespace {

/// Returns how much processor time counters may miss without a loss: they start within the execve and, on newer kernels
/// (seen on 6.18), stop before the memory of a process is released. On a virtual machine with an AMD EPYC that was 0.1
/// to 1.6 ms for commands of 1 to 250 ms, and 16 ms of the 78 ms of a program that touched 120 MB and ended. The kernel
/// takes longer to touch memory than to release it, so three quarters of its time are allowed for both. For six
/// processes of 2 ms each it was up to 5 ms. The kernel divides such short times by its ticks, and sometimes reports no
/// system time. Each process has about 60 page faults, which show how many processes there were. At each context switch
/// the counters of a process are off for a part of the time that the kernel charges to it: 13 us on the same machine,
/// for a program that sleeps 600 or 2000 times.
Nanoseconds before_and_after(const linux::Usage& usage) {
  const Nanoseconds taken = usage.user + usage.system;
  const Nanoseconds by_faults = std::chrono::microseconds(10) * std::min<std::int64_t>(usage.minor_faults, 1000);
  const Nanoseconds by_switches =
      std::chrono::microseconds(20) * (usage.voluntary_switches + usage.involuntary_switches);
  return std::chrono::milliseconds(3) +
         std::max({usage.system * 3 / 4, std::min(by_faults, taken / 4), std::min(by_switches, taken / 2)}) +
         taken / 50;
}

/// If the program is known to lose its counters, missing half of the time is enough evidence: the kernel does not take
/// them away if the file system or the process forbids the change of rights (nosuid, no_new_privs).
bool is_mostly_missing(Nanoseconds missing, Nanoseconds taken) { return missing > taken / 2; }

}  // namespace

std::string why_counters_were_lost(Nanoseconds enabled, const linux::Usage& usage, const std::string& program) {
  const Nanoseconds taken = usage.user + usage.system, missing = taken - enabled;
  if (missing <= Nanoseconds{0}) return "";
  if (is_mostly_missing(missing, taken)) {
    const auto path = linux::find_program(program, linux::search_path());
    if (path && linux::changes_rights(*path))
      return fmt::format("the kernel took the counters away: {} changes user, group or capabilities", printable(*path));
    if (path && !linux::is_readable(*path))
      return fmt::format("the kernel took the counters away: {} may be executed but not read", printable(*path));
  }
  if (missing <= before_and_after(usage)) return "";
  return fmt::format(
      "the counters were on for {} of the {} that the processes ran: a program that changes user, group or "
      "capabilities, or may not be read, loses them",
      duration_text(enabled), duration_text(taken));
}

Nanoseconds longest_enabled(const std::vector<KernelCount>& counts) {
  Nanoseconds longest{0};
  for (const KernelCount& count : counts)
    if (count.value) longest = std::max(longest, count.value->enabled);
  return longest;
}

Count count_of_lost(const event::Event& event, const RunStatistics& statistics, Count until_then,
                    const std::string& why) {
  RunStatistics by_wait4 = statistics;
  by_wait4.kernel.clear();
  Count whole = software_count(event, by_wait4);
  return downgraded(whole.value ? std::move(whole) : std::move(until_then), Trust::partial, why);
}

}  // namespace tally::backend

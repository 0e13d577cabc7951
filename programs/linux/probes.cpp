#include "programs/linux/probes.hpp"

#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "tally/linux/system_call.hpp"

namespace tally::linux {
namespace {

// A PERF_TYPE_HARDWARE event goes to the PMU whose type is in the upper half (Linux 5.13, commit 55bcf6ef314a).
PerfEvent instructions(std::optional<std::uint32_t> pmu, bool user_only) {
  PerfEvent event{perf_type_hardware, PERF_COUNT_HW_INSTRUCTIONS, user_only};
  if (pmu) event.config |= std::uint64_t{*pmu} << 32;
  return event;
}

Attempt count_loop(const PerfCounter& counter) {
  if (!counter) return {counter.os_errno, std::nullopt};
  const auto before = counter.read();
  volatile bool more = true;  // read in every iteration, so that the loop is not removed
  for (std::int64_t i = 0; i < trial_loop && more; ++i) {
  }
  const auto after = counter.read();
  if (!before || !after) return {0, std::nullopt};
  return {0,
          PerfValue{after->value - before->value, after->enabled - before->enabled, after->running - before->running}};
}

// Pins the calling thread to one CPU during its lifetime: the PMU of one kind of core counts only there.
class Placed {
 public:
  explicit Placed(const std::string& cpus) {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(std::strtol(cpus.c_str(), nullptr, 10)), &one);
    if (!cpus.empty()) sched_setaffinity(0, sizeof one, &one);
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;
  ~Placed() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_{};
};

// arm64 requires a request to read a counter in user mode (Linux, arm64 perf.rst: config1, bit 1).
PerfEvent read_by_program(PerfEvent event) {
#if defined(__aarch64__)
  constexpr std::uint64_t user_access = 2;
  event.config1 |= user_access;
#endif
  return event;
}

UserReads readable_in_user_mode(const PerfCounter& counter) {
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, counter.fd.get(), 0);
  if (at == MAP_FAILED) return {errno, false};
  const auto* page = static_cast<const perf_event_mmap_page*>(at);
  // arm64 always sets the first one, whatever perf_user_access is, and then provides no index to read.
  const bool readable = page->cap_user_rdpmc != 0 && page->index != 0;
  munmap(at, bytes);
  return {0, readable};
}

void try_hardware(const Survey& survey, Probes& probes) {
  const bool hybrid = survey.core_pmus.size() > 1;
  if (survey.core_pmus.empty()) probes.cores.push_back(count_loop(open_counter(instructions({}, true))));
  for (const CorePmu& pmu : survey.core_pmus) {
    const Placed placed(hybrid ? pmu.cpus : "");
    const PerfEvent event = instructions(hybrid ? pmu.type : std::nullopt, true);
    const PerfCounter counter = open_counter(event);
    probes.cores.push_back(count_loop(counter));
    probes.known_work.push_back(count_known_work(hybrid ? pmu.type : std::nullopt));
    if (!counter || probes.user_reads) continue;
    if (const PerfCounter other = open_counter(read_by_program(event)))
      probes.user_reads = readable_in_user_mode(other);
  }
  probes.with_kernel = count_loop(open_counter(instructions({}, false)));
  probes.whole_processor_errno = open_counter(instructions({}, false), {.thread = -1, .processor = 0}).os_errno;
}

int try_to_trace() {
  const pid_t child = fork();
  if (child < 0) return errno;
  if (child == 0) {
    while (true) pause();
  }
  const int why = ptrace(PTRACE_SEIZE, child, nullptr, PTRACE_O_TRACEEXEC) == 0 ? 0 : errno;
  kill(child, SIGKILL);
  retry([&] { return waitpid(child, nullptr, 0); });
  return why;
}

int try_memory_file() {
  const Descriptor file(memfd_create("tally-doctor", MFD_CLOEXEC));
  return file ? 0 : errno;
}

// Measures the rate of the time-stamp counter in hertz against the monotonic clock, for some 10 ms; nothing without it.
std::optional<std::uint64_t> measured_time_stamp_hertz() {
  // Of several readings, takes the one whose two clocks were read in the shortest time: the thread may have lost the
  // CPU between them.
  const auto close_moment = [] {
    Moment best = this_moment();
    std::uint64_t narrowest = ~0ULL;
    for (int i = 0; i < 10; ++i) {
      const Moment before = this_moment();
      const Moment after = this_moment();
      if (!after.ticks || *after.ticks - *before.ticks >= narrowest) continue;
      narrowest = *after.ticks - *before.ticks;
      best = after;
    }
    return best;
  };
  const Moment start = close_moment();
  if (!start.ticks) return std::nullopt;
  while (now() - start.time < std::chrono::milliseconds(10)) {
  }
  const Moment end = close_moment();
  const double seconds = std::chrono::duration<double>(end.time - start.time).count();
  return static_cast<std::uint64_t>(static_cast<double>(*end.ticks - *start.ticks) / seconds);
}

}  // namespace

Probes try_counting(const Survey& survey) {
  Probes probes;
  probes.gate_errno = perf_gate_errno();
  try_hardware(survey, probes);
  probes.software = count_loop(open_counter({perf_type_software, PERF_COUNT_SW_PAGE_FAULTS, false}));
  probes.software_user = count_loop(open_counter({perf_type_software, PERF_COUNT_SW_PAGE_FAULTS, true}));
  probes.memory_file_errno = try_memory_file();
  probes.trace_errno = try_to_trace();
  probes.time_stamp_hertz = measured_time_stamp_hertz();
  return probes;
}

}  // namespace tally::linux

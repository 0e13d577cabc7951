#include "tally/linux/perf/perf_event.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "tally/linux/system_call.hpp"

namespace tally::linux {

static_assert(perf_type_hardware == PERF_TYPE_HARDWARE && perf_type_software == PERF_TYPE_SOFTWARE);

#define TALLY_IS(ours, theirs) static_assert(static_cast<std::uint64_t>(KernelEvent::ours) == PERF_COUNT_SW_##theirs)
TALLY_IS(cpu_clock, CPU_CLOCK);
TALLY_IS(task_clock, TASK_CLOCK);
TALLY_IS(page_faults, PAGE_FAULTS);
TALLY_IS(context_switches, CONTEXT_SWITCHES);
TALLY_IS(cpu_migrations, CPU_MIGRATIONS);
TALLY_IS(minor_faults, PAGE_FAULTS_MIN);
TALLY_IS(major_faults, PAGE_FAULTS_MAJ);
TALLY_IS(alignment_faults, ALIGNMENT_FAULTS);
TALLY_IS(emulation_faults, EMULATION_FAULTS);
TALLY_IS(dummy, DUMMY);
TALLY_IS(cgroup_switches, CGROUP_SWITCHES);
#undef TALLY_IS

bool kernel_counts([[maybe_unused]] KernelEvent event) {
#if defined(__x86_64__)
  return event != KernelEvent::alignment_faults && event != KernelEvent::emulation_faults;
#else
  return true;
#endif
}

namespace {

perf_event_attr attributes_of(const PerfEvent& event, const PerfTarget& target, bool leads) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.config1 = event.config1;
  attributes.config2 = event.config2;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  if (leads && target.whole_group) attributes.read_format |= PERF_FORMAT_GROUP;
  attributes.exclude_user = event.kernel_only ? 1 : 0;
  attributes.exclude_kernel = event.user_only ? 1 : 0;
  attributes.exclude_hv = event.user_only || event.kernel_only ? 1 : 0;
  attributes.inherit = target.inherit ? 1 : 0;
  attributes.inherit_thread = target.threads_only ? 1 : 0;
  // A member counts whenever its leader does.
  attributes.disabled = leads && target.start != PerfStart::at_once ? 1 : 0;
  attributes.pinned = leads && target.pinned ? 1 : 0;
  attributes.enable_on_exec = leads && target.start == PerfStart::at_exec ? 1 : 0;
  return attributes;
}

PerfCounter open_with(perf_event_attr attributes, const PerfTarget& target, int group) {
  const bool by_cgroup = target.cgroup >= 0;
  const unsigned long flags = PERF_FLAG_FD_CLOEXEC | (by_cgroup ? PERF_FLAG_PID_CGROUP : 0);
  const long fd = retry([&] {
    return syscall(SYS_perf_event_open, &attributes, by_cgroup ? target.cgroup : target.thread, target.processor, group,
                   flags);
  });
  return {Descriptor(static_cast<int>(fd)), fd < 0 ? errno : 0};
}

}  // namespace

PerfCounter open_counter(const PerfEvent& event, const PerfTarget& target, const PerfCounter* leader) {
  return open_with(attributes_of(event, target, leader == nullptr), target, leader ? leader->fd.get() : -1);
}

PerfCounter open_sampled(const PerfEvent& event, const PerfTarget& target, const PerfSampling& sampling,
                         const PerfCounter* leader) {
  perf_event_attr attributes = attributes_of(event, target, leader == nullptr);
  attributes.sample_period = sampling.period;
  attributes.sample_type = sampling.fields;
  attributes.watermark = 1;
  attributes.wakeup_watermark = sampling.wakeup_bytes;
  attributes.freq = sampling.by_frequency ? 1 : 0;
  attributes.task = attributes.comm = attributes.comm_exec = sampling.report_threads ? 1 : 0;
  attributes.inherit_stat = sampling.report_counts ? 1 : 0;
  attributes.mmap = attributes.mmap2 = sampling.report_mappings ? 1 : 0;
  attributes.exclude_callchain_kernel = sampling.users_calls_only ? 1 : 0;
  attributes.precise_ip = static_cast<unsigned>(sampling.precise) & 3;
  if (sampling.ordered) {
    attributes.sample_id_all = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
  }
  // Unknown to Linux before 5.12.
  attributes.build_id = sampling.report_mappings ? 1 : 0;
  const int group = leader ? leader->fd.get() : -1;
  PerfCounter opened = open_with(attributes, target, group);
  if (opened.fd || opened.os_errno != EINVAL || attributes.build_id == 0) return opened;
  attributes.build_id = 0;
  return open_with(attributes, target, group);
}

bool PerfCounter::enable() const { return ioctl(fd.get(), PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) == 0; }

bool PerfCounter::disable() const { return ioctl(fd.get(), PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) == 0; }

std::uint64_t PerfCounter::id() const {
  std::uint64_t number = 0;
  return ioctl(fd.get(), PERF_EVENT_IOC_ID, &number) == 0 ? number : 0;
}

bool PerfCounter::write_into(const PerfCounter& other) const {
  return ioctl(fd.get(), PERF_EVENT_IOC_SET_OUTPUT, other.fd.get()) == 0;
}

PerfCounter open_for_next_program(KernelEvent event, bool user_only) {
  PerfEvent asked{perf_type_software, static_cast<std::uint64_t>(event), user_only};
  PerfCounter counter = open_counter(asked, next_program);
  const bool is_clock = event == KernelEvent::task_clock || event == KernelEvent::cpu_clock;
  if (counter.os_errno != EACCES || !is_clock) return counter;
  asked.user_only = true;
  return open_counter(asked, next_program);
}

std::optional<PerfValue> PerfCounter::read() const {
  if (!fd) return std::nullopt;
  std::uint64_t words[3] = {};
  const auto size = retry([&] { return ::read(fd.get(), words, sizeof words); });
  if (size != static_cast<ssize_t>(sizeof words)) return std::nullopt;
  return PerfValue{words[0], Nanoseconds(words[1]), Nanoseconds(words[2])};
}

int PerfCounter::read_group(std::span<PerfValue> values) const {
  std::array<std::uint64_t, 3 + largest_group_read> words;
  if (values.size() > largest_group_read) return E2BIG;
  const auto size = retry([&] { return ::read(fd.get(), words.data(), sizeof words); });
  if (size < 0) return errno;
  if (size != static_cast<ssize_t>((3 + values.size()) * sizeof words[0])) return EIO;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = {words[3 + i], Nanoseconds(words[1]), Nanoseconds(words[2])};
  }
  return 0;
}

std::string why_no_more_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return "too many open files: each counter is one";
  std::string text = fmt::format("each counter is a file, and it would be more than {} open files", limit.rlim_cur);
  if (limit.rlim_max > limit.rlim_cur) text += fmt::format(" (`ulimit -n {}` allows more)", limit.rlim_max);
  return text;
}

int perf_gate_errno() {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  const long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, ~0UL);
  const int why = fd < 0 ? errno : 0;
  if (fd >= 0) close(static_cast<int>(fd));
  return why;
}

}  // namespace tally::linux

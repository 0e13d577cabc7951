#include "tally/engine/guest/pmu_attributes.hpp"

#include <asm/perf_regs.h>

#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/guest/pmu_events.hpp"

namespace tally::engine::guest {
namespace {

constexpr u64 known_read_formats = 31, known_sample_types = (1ull << 25) - 1;

bool is_missing_processor(s32 cpu) {
  u8 allowed[1024];  // the kernel returns as many bytes as it needs for all processors
  if (cpu < 0) return cpu != -1;
  const s64 bytes = kernel(SYS_sched_getaffinity, 0, sizeof allowed, reinterpret_cast<u64>(allowed));
  return bytes > 0 && cpu / 8 >= bytes;
}

bool has_other_clock(const perf_event_attr& attr) {
  constexpr u32 known_clocks = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 7 | 1 << 11;  // of the time, and CLOCK_TAI
  return attr.use_clockid && (static_cast<u32>(attr.clockid) >= 32 || (known_clocks >> attr.clockid & 1) == 0);
}

/// Whether the kernel refuses a set of registers: none, those of segments, and those that no processor has.
bool are_refused(u64 registers) {
  constexpr u64 segments = 0xf << PERF_REG_X86_DS, unused = (1ull << PERF_REG_X86_XMM0) - (1ull << PERF_REG_X86_64_MAX);
  return registers == 0 || (registers & (segments | unused)) != 0;
}

}  // namespace

s64 check_attributes(const perf_event_attr& attr) {
  // The kernel's limits, as far as nobody has changed them.
  constexpr u64 highest_frequency = 100'000;
  constexpr u32 most_callers = 127;
  u64 flags = 0;
  copy(&flags, reinterpret_cast<const u8*>(&attr) + 40, sizeof flags);
  constexpr u32 first_reserved_flag = 39;  // since Linux 6.18: defer_callchain, defer_output
  if (flags >> first_reserved_flag != 0 || attr.__reserved_2 != 0) return -EINVAL;
  if ((attr.sample_type & ~known_sample_types) != 0 || (attr.read_format & ~known_read_formats) != 0) return -EINVAL;
  const bool names_branches = (attr.branch_sample_type & ~u64{PERF_SAMPLE_BRANCH_PLM_ALL}) != 0;
  if ((attr.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 && !names_branches) return -EINVAL;
  if (attr.inherit_thread && !attr.inherit) return -EINVAL;
  if (attr.remove_on_exec && attr.enable_on_exec) return -EINVAL;
  if (attr.sigtrap && !attr.remove_on_exec) return -EINVAL;
  if (attr.freq ? attr.sample_freq > highest_frequency : attr.sample_period >> 63 != 0) return -EINVAL;
  const auto has = [&](u64 content) { return (attr.sample_type & content) != 0; };
  if (has_other_clock(attr) || (has(PERF_SAMPLE_READ) && attr.inherit && !has(PERF_SAMPLE_TID))) return -EINVAL;
  if (has(PERF_SAMPLE_REGS_USER) && are_refused(attr.sample_regs_user)) return -EINVAL;
  if (has(PERF_SAMPLE_REGS_INTR) && are_refused(attr.sample_regs_intr)) return -EINVAL;
  if (has(PERF_SAMPLE_STACK_USER) && attr.sample_stack_user % sizeof(u64) != 0) return -EINVAL;
  return has(PERF_SAMPLE_CALLCHAIN) && attr.sample_max_stack > most_callers ? -EOVERFLOW : 0;
}

s64 ask_kernel(u8* attributes, s32 pid, s32 cpu, s32 group, u64 flags) {
  perf_event_attr software;
  copy(&software, attributes, PERF_ATTR_SIZE_VER0);
  software.type = PERF_TYPE_SOFTWARE;
  software.config = PERF_COUNT_SW_DUMMY;
  copy(attributes, &software, PERF_ATTR_SIZE_VER0);
  const s64 r = kernel(SYS_perf_event_open, reinterpret_cast<u64>(attributes), static_cast<u64>(s64{pid}),
                       static_cast<u64>(s64{cpu}), static_cast<u64>(s64{group}), flags);
  if (!failed(r)) kernel(SYS_close, static_cast<u64>(r));
  if (r == -EACCES || r == -EPERM || r == -ENOSYS) return not_of_pmu;
  // Only software events have no branches.
  const bool wants_branches = (software.sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 && software.sample_period != 0;
  return failed(r) && !(r == -EOPNOTSUPP && wants_branches) ? r : 0;
}

s64 copy_attributes(u64 from, s32 pid, s32 cpu, s32 group, u64 flags, perf_event_attr& attr) {
  u8 all[page_bytes] = {};
  u32 size = 0;
  if (get(&size, from + 4, sizeof size) != 0) return -EFAULT;
  if (size == 0) size = PERF_ATTR_SIZE_VER0;
  const auto too_big = [&](u32 limit) -> s64 {
    put(from + 4, &limit, sizeof limit);
    return -E2BIG;
  };
  const bool is_possible = size >= PERF_ATTR_SIZE_VER0 && size <= page_bytes;
  if (get(all, from, is_possible ? size : 8) != 0) return -EFAULT;
  copy(&attr, all, sizeof attr);
  s64 error = ask_kernel(all, pid, cpu, group, flags);
  if (error == -E2BIG) {
    copy(&size, all + 4, sizeof size);
    return too_big(size);
  }
  if (error == not_of_pmu && !is_possible) return too_big(sizeof attr);
  for (u64 i = sizeof attr; error == not_of_pmu && i < size; i++)
    if (all[i] != 0) return too_big(sizeof attr);
  if (error == not_of_pmu) error = is_missing_processor(cpu) ? -EINVAL : check_attributes(attr);
  // The kernel has checked that of its own event that counts nothing.
  return error != 0 || attr.exclude_kernel || attr.type == PERF_TYPE_SOFTWARE ? error : -EACCES;
}

u32 row_of(const perf_event_attr& attr) {
  // Control bits of a counter that the kernel ignores and sets itself: user, kernel, interrupt, enable.
  constexpr u64 ignored_bits = 0x530000;
  const u64 config = attr.type == PERF_TYPE_RAW ? attr.config & ~ignored_bits : attr.config;
  const channel::PresentedPmu& pmu = settings().pmu;
  if (attr.config1 != 0 || attr.config2 != 0) return no_row;
  for (u32 i = 0; i < pmu.event_count; i++)
    if (pmu.event[i].type == attr.type && pmu.event[i].config == config) return i;
  return no_row;
}

bool can_be_modelled(const perf_event_attr& attr) {
  constexpr u64 cycles_of_intel = 0x3c, cycles_of_amd = 0x76, code = 0xffff;
  if (attr.type == PERF_TYPE_RAW)
    return (attr.config & code) == cycles_of_intel || (attr.config & code) == cycles_of_amd;
  if (attr.type == PERF_TYPE_HW_CACHE) return (attr.config & 0xff) != PERF_COUNT_HW_CACHE_NODE;
  return attr.config < PERF_COUNT_HW_BUS_CYCLES || attr.config == PERF_COUNT_HW_REF_CPU_CYCLES;
}

bool is_invalid(const perf_event_attr& attr) {
  if (attr.type == PERF_TYPE_HARDWARE) return (attr.config & 0xffffffff) >= PERF_COUNT_HW_MAX;
  return attr.type == PERF_TYPE_HW_CACHE &&
         ((attr.config & 0xff) >= PERF_COUNT_HW_CACHE_MAX || (attr.config >> 8 & 0xff) >= PERF_COUNT_HW_CACHE_OP_MAX ||
          (attr.config >> 16 & 0xff) >= PERF_COUNT_HW_CACHE_RESULT_MAX);
}

}  // namespace tally::engine::guest

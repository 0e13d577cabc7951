#include "tally/linux/perf/user_counter.hpp"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>

namespace tally::linux {
namespace {

#define TALLY_SAME(ours, theirs) static_assert(offsetof(CounterPage, ours) == offsetof(perf_event_mmap_page, theirs))
TALLY_SAME(sequence, lock);
TALLY_SAME(offset, offset);
TALLY_SAME(time_enabled, time_enabled);
TALLY_SAME(time_running, time_running);
TALLY_SAME(capabilities, capabilities);
TALLY_SAME(width, pmc_width);
#undef TALLY_SAME
static_assert(offsetof(perf_event_mmap_page, index) == offsetof(perf_event_mmap_page, lock) + 4);

// cap_bit0_is_deprecated and cap_user_rdpmc: before Linux 3.12 another bit meant both.
constexpr std::uint64_t reports_reads = 1u << 1;
constexpr std::uint64_t allows_reads = 1u << 2;

#if defined(__aarch64__)
// PMEVCNTR<n>_EL0 is op0 3, op1 3, CRn 14, CRm 8 + n / 8, op2 n % 8 (Arm Architecture Reference Manual, D24.5.9).
// Computed from the number, so that no register can be confused with another.
template <std::uint32_t n, std::uint32_t width>
std::int64_t read_register() {
  std::uint64_t value;
  if constexpr (n == 31)
    asm volatile("mrs %0, pmccntr_el0" : "=r"(value));
  else
    asm volatile("mrs %0, s3_3_c14_c%c1_%c2" : "=r"(value) : "i"(8 + n / 8), "i"(n % 8));
  return signed_word(value, width);
}

template <std::uint32_t width, std::uint32_t... n>
constexpr std::array<ReadWord, sizeof...(n)> readers(std::integer_sequence<std::uint32_t, n...>) {
  return {read_register<n, width>...};
}
#elif defined(__x86_64__)
template <std::uint32_t width>
std::int64_t read_register(std::uint32_t selector) {
  std::uint32_t low, high;
  asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(selector));
  return signed_word(low | static_cast<std::uint64_t>(high) << 32, width);
}

template <std::uint32_t... before>
constexpr std::array<ReadWord, sizeof...(before)> readers(std::integer_sequence<std::uint32_t, before...>) {
  return {read_register<before + 1>...};
}
#endif

}  // namespace

bool allows_user_reads(std::uint64_t capabilities) {
  return (capabilities & reports_reads) != 0 && (capabilities & allows_reads) != 0;
}

ReadWord word_reader([[maybe_unused]] std::uint32_t index, [[maybe_unused]] std::uint32_t width) {
#if defined(__aarch64__)
  // The kernel's page gives the cycle counter number 31, whatever number the kernel uses itself. All counters are 32 or
  // 64 bits wide in it (arch_perf_update_userpage() of the arm64 driver).
  static constexpr auto narrow = readers<32>(std::make_integer_sequence<std::uint32_t, 32>());
  static constexpr auto wide = readers<64>(std::make_integer_sequence<std::uint32_t, 32>());
  if (index < 1 || index > wide.size()) return nullptr;
  return width == 64 ? wide[index - 1] : width == 32 ? narrow[index - 1] : nullptr;
#elif defined(__x86_64__)
  static constexpr auto all = readers(std::make_integer_sequence<std::uint32_t, 64>());
  return index >= 1 && width >= 1 && width <= all.size() ? all[width - 1] : nullptr;
#else
  return nullptr;
#endif
}

bool UserCounter::refresh() {
  for (int tries = 0; tries < 16; ++tries) {
    const std::uint64_t before = page->sequence;
    const std::int64_t new_offset = page->offset;
    const std::uint64_t enabled = page->time_enabled;
    const std::uint64_t running = page->time_running;
    const std::uint64_t capabilities = page->capabilities;
    const std::uint32_t width = page->width;
    if (page->sequence != before) continue;
    const auto index = static_cast<std::uint32_t>(before >> 32);
    if (index == 0 || !allows_user_reads(capabilities)) return false;
    const ReadWord now = reader_of(index, width);
    if (now == nullptr) return false;
    if (enabled - running > absent && seen != 0 && turns != nullptr) ++*turns;
    absent = enabled - running;
    offset = new_offset;
    reader = now;
    selector = index - 1;
    seen = before;
    return true;
  }
  return false;
}

PerfCounter open_readable(const PerfEvent& event, const PerfTarget& target, const PerfCounter* leader) {
#if defined(__aarch64__)
  // Bits of config1 for armv8_pmuv3 (Documentation/arch/arm64/perf.rst): 0 long, 1 rdpmc. Kernels before 5.17 support
  // neither, processors before Armv8.5 have no long counters. For other PMUs the bits mean something else.
  if (event.type != perf_type_software) {
    for (const std::uint64_t wish : {3u, 2u}) {
      PerfEvent readable = event;
      readable.config1 |= wish;
      if (PerfCounter counter = open_counter(readable, target, leader)) return counter;
    }
  }
#endif
  return open_counter(event, target, leader);
}

const volatile CounterPage* map_page(const PerfCounter& counter) {
  void* at = mmap(nullptr, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), PROT_READ, MAP_SHARED, counter.fd.get(), 0);
  return at == MAP_FAILED ? nullptr : static_cast<const volatile CounterPage*>(at);
}

void unmap_page(const volatile CounterPage* page) {
  // munmap takes no pointer to const or volatile data.
  if (page != nullptr)
    munmap(const_cast<CounterPage*>(page), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));  // NOLINT(*-const-cast)
}

std::int64_t ask_below(std::uint64_t option, std::uint64_t asked, void* to, std::size_t bytes) {
  const int before = errno;
  const long answer = syscall(SYS_prctl, option, asked, to, bytes, 0);
  const int why = errno;
  errno = before;
  return answer < 0 ? -why : answer;
}

}  // namespace tally::linux

// Reads counters in user mode, without a system call: rdpmc on x86, mrs on arm64.
//
// The kernel maps a page for each counter (struct perf_event_mmap_page of linux/perf_event.h, described in
// perf_event_open(2)), and changes its sequence word whenever it puts the counter on a CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/core/base/units.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// The part of the kernel's page that is read: perf_event_mmap_page, by offsets.
struct CounterPage {
  std::uint32_t version;
  std::uint32_t compatible;
  std::uint64_t sequence;  ///< the low half, `lock`, changes with everything below; the high half is `index`: 0 while
                           ///< the counter is on no CPU
  std::int64_t offset;     ///< to be added to the register's value
  std::uint64_t time_enabled;
  std::uint64_t time_running;
  std::uint64_t capabilities;
  std::uint16_t width;  ///< of the register, in bits
};

/// Sign-extends the value of a register of `width` bits (1 to 64): the kernel starts it at a negative number, and the
/// upper bits belong to the value.
constexpr std::int64_t signed_word(std::uint64_t raw, std::uint32_t width) {
  return static_cast<std::int64_t>(raw << (64 - width)) >> (64 - width);
}

/// Whether a page's `capabilities` permit reads in user mode, on any register.
bool allows_user_reads(std::uint64_t capabilities);

/// Reads a register, sign-extended: one function for each width, and on arm64 for each register, because the
/// instruction contains its number. On x86 the number is an argument.
#if defined(__x86_64__)
using ReadWord = std::int64_t (*)(std::uint32_t selector);
#else
using ReadWord = std::int64_t (*)();
#endif

/// Returns the reader of register `index` of `width` bits; null if this architecture has none.
ReadWord word_reader(std::uint32_t index, std::uint32_t width);

/// Waits until all earlier instructions have executed, and keeps later ones from beginning. Does nothing on
/// architectures where counters are not read in user mode.
inline void wait_for_instructions() {
#if defined(__x86_64__)
  asm volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");
#endif
}

/// Also waits until their writes have arrived.
inline void wait_for_everything() {
#if defined(__x86_64__)
  std::uint32_t leaf = 0, count = 0;
  asm volatile("cpuid" : "+a"(leaf), "+c"(count) : : "ebx", "edx", "memory");
#elif defined(__aarch64__)
  asm volatile("dsb sy\n\tisb" : : : "memory");
#endif
}

/// A counter of the calling thread. Only that thread reads it.
///
/// The content of the page is cached as long as its lock and index are unchanged: then only the register must be read.
/// Every read checks that before and after.
struct UserCounter {
  const volatile CounterPage* page = nullptr;
  std::uint64_t seen = 0;     ///< lock and index at the time of the copy
  ReadWord reader = nullptr;  ///< reads the register of that index
  std::int64_t offset = 0;
  std::uint32_t selector = 0;      ///< the register's number for rdpmc
  std::uint64_t absent = 0;        ///< ns that it was enabled and did not run, until it got this register
  std::uint64_t* turns = nullptr;  ///< incremented whenever `absent` has grown: other events were on the PMU
  ReadWord (*reader_of)(std::uint32_t, std::uint32_t) = word_reader;  ///< tests use their own

  /// Copies the page. Returns false if the counter cannot be read in user mode now.
  bool refresh();

  /// Returns the register's value. It belongs to this counter if the page still has `seen` afterwards.
  std::int64_t word() const {
#if defined(__x86_64__)
    return reader(selector);
#else
    return reader();
#endif
  }

  /// Reads the counter's value. Returns false if it cannot be read in user mode now.
  bool read(std::int64_t& value) {
    for (int tries = 0; tries < 16; ++tries) {
      const std::uint64_t before = page->sequence;
      if (before != seen && !refresh()) return false;
      // Copied first: a signal handler that reads this counter may refresh it meanwhile and change `seen`.
      const std::uint64_t of = seen;
      const std::int64_t base = offset;
      const std::int64_t own = word();
      if (page->sequence != of) continue;
      value = base + own;
      return true;
    }
    return false;
  }
};

/// Opens a counter of the calling thread that it can read in user mode if kernel and processor permit. On arm64 it
/// requests that, and a 64-bit counter if available.
PerfCounter open_readable(const PerfEvent& event, const PerfTarget& target, const PerfCounter* leader);

/// Maps the page of a counter; null if the kernel refuses. Release it with unmap_page().
const volatile CounterPage* map_page(const PerfCounter& counter);
void unmap_page(const volatile CounterPage* page);

/// Calls prctl(2) with an option that the kernel does not have: asks the engine that this program may run under.
/// Returns its result, or −errno.
std::int64_t ask_below(std::uint64_t option, std::uint64_t asked, void* to, std::size_t bytes);

}  // namespace tally::linux

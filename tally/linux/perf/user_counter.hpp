// Counters that a program reads itself, without a system call: rdpmc on x86, mrs on arm64.
//
// The kernel maps a page of each counter (struct perf_event_mmap_page of linux/perf_event.h, described in
// perf_event_open(2)) and changes its sequence word whenever it puts the counter on a processor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tally/core/base/units.hpp"
#include "tally/linux/perf/perf_event.hpp"

namespace tally::linux {

/// What of the kernel's page is read: perf_event_mmap_page, by its places.
struct CounterPage {
  std::uint32_t version;
  std::uint32_t compatible;
  std::uint64_t sequence;  ///< the low half, `lock`, changes with everything below; the high half is `index`: 0 where
                           ///< the counter is on no processor now
  std::int64_t offset;     ///< to be added to what the processor says
  std::uint64_t time_enabled;
  std::uint64_t time_running;
  std::uint64_t capabilities;
  std::uint16_t width;  ///< bits that the processor's counter has
};

/// What a counter of so many bits says, with the sign that the kernel means: it begins at a negative number, and the
/// upper bits belong to the value. `width` is 1 to 64.
constexpr std::int64_t signed_word(std::uint64_t raw, std::uint32_t width) {
  return static_cast<std::int64_t>(raw << (64 - width)) >> (64 - width);
}

/// Whether a page's `capabilities` say that programs may read the counter, wherever it is.
bool allows_user_reads(std::uint64_t capabilities);

/// Reads one of the processor's counters, with its sign: a function for each width, and on arm64 for each counter too,
/// whose number is part of the instruction. On x86 it is told the counter.
#if defined(__x86_64__)
using ReadWord = std::int64_t (*)(std::uint32_t selector);
#else
using ReadWord = std::int64_t (*)();
#endif

/// The reader of this processor's counter `index` of `width` bits; nullptr where this architecture has none such.
ReadWord word_reader(std::uint32_t index, std::uint32_t width);

/// Waits until everything before it has been executed, and lets nothing after it begin. Nothing on architectures where
/// counters are not read in user mode.
inline void wait_for_instructions() {
#if defined(__x86_64__)
  asm volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
  asm volatile("isb" : : : "memory");
#endif
}

/// The same, and until what was written has arrived.
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
/// What a page said is kept, for as long as its lock and index stand as they stood: then only the processor's own
/// counter is new. The check itself is made at every read, before and after it.
struct UserCounter {
  const volatile CounterPage* page = nullptr;
  std::uint64_t seen = 0;     ///< lock and index, as they were when the rest was copied
  ReadWord reader = nullptr;  ///< reads the counter of that index
  std::int64_t offset = 0;
  std::uint32_t selector = 0;      ///< what x86's instruction calls the counter
  std::uint64_t absent = 0;        ///< ns that it was to count and did not, until it was put where it is
  std::uint64_t* turns = nullptr;  ///< one more whenever `absent` has grown: others had their turn on the processor
  ReadWord (*reader_of)(std::uint32_t, std::uint32_t) = word_reader;  ///< tests give their own

  /// Copies what the page says. False where the counter cannot be read in user mode now.
  bool refresh();

  /// What the processor's counter says, whether that still is this one or not: where `seen` is still the
  /// page's after it, it is.
  std::int64_t word() const {
#if defined(__x86_64__)
    return reader(selector);
#else
    return reader();
#endif
  }

  /// What it holds. False where that cannot be read in user mode now.
  bool read(std::int64_t& value) {
    for (int tries = 0; tries < 16; ++tries) {
      const std::uint64_t before = page->sequence;
      if (before != seen && !refresh()) return false;
      // Copied first: a signal's handler that reads this counter may refresh it meanwhile, and then `seen` is another.
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

/// Opens a counter of the calling thread that it may read itself where the kernel and the processor let it: arm64 wants
/// that said, and to have 64 bits where it can.
PerfCounter open_readable(const PerfEvent& event, const PerfTarget& target, const PerfCounter* leader);

/// Maps the page of a counter; nullptr where the kernel does not. unmap_page() gives it back.
const volatile CounterPage* map_page(const PerfCounter& counter);
void unmap_page(const volatile CounterPage* page);

/// prctl(2) with an option that is not the kernel's: what it returns, −errno for a failure. How a program asks the
/// engine that it may run under.
std::int64_t ask_below(std::uint64_t option, std::uint64_t asked, void* to, std::size_t bytes);

}  // namespace tally::linux

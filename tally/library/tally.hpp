/// The C++ interface of libtally: a program counts events in parts of itself.
///
///     auto counters = tally::Counters::open({"instructions", "cycles"});
///     if (!counters) …  // counters.error(): what was tried, and what to do
///     {
///       tally::Region region{*counters, "parse"};
///       parse(input);
///     }
///     for (const auto& result : counters->regions()) tally::print(result);
///
/// Counters run all the time; a region reads them at its begin and at its end. See docs/guides/regions.md.
#pragma once

#if __cplusplus < 202002L
#error "tally/tally.hpp needs C++20: -std=c++20"
#endif

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tally/core/base/api.hpp"
#include "tally/core/base/expected.hpp"
#include "tally/core/count/count.hpp"
#include "tally/core/count/event_name.hpp"
#include "tally/core/count/region.hpp"

namespace tally {

namespace detail {
struct Shared;
struct Thread;
struct Record;
struct Access;

// State of an open region: the counter values at its begin. Programs of release 0.9.0 have room for eight, which the
// library respects: see the last parameter of Counters::open().
struct Open {
  Thread* thread;
  Record* record;
  Open* outer;
  std::uint64_t ended;
  std::uint64_t turns;
  std::int64_t start[most_events];
};

}  // namespace detail

/// A region name that is a string literal: found by its address, without reading its characters. The compiler
/// hashes them, so that a name is not mistaken for another that was at the same address, such as that of an unloaded
/// plugin.
class Literal {
 public:
  template <std::size_t n>
  consteval Literal(const char (&text)[n]) : text_(text) {  // NOLINT(google-explicit-constructor)
    hash_ = 2166136261u;                                    // FNV-1a, 32 bits
    for (std::size_t i = 0; i + 1 < n; ++i) hash_ = (hash_ ^ static_cast<unsigned char>(text[i])) * 16777619u;
  }
  constexpr const char* text() const { return text_; }

 private:
  friend struct detail::Access;
  constexpr explicit Literal(const char* text, std::uint32_t hash) : text_(text), hash_(hash) {}
  const char* text_;
  std::uint32_t hash_ = 0;
};

// Called directly: the dynamic linker would resolve the name at the first call, and that would be counted.
#ifdef __clang__
#define TALLY_CALL TALLY_API
#else
#define TALLY_CALL TALLY_API __attribute__((noplt))
#endif

namespace detail {

TALLY_CALL void begin(Open& open, Shared& shared, Literal name) noexcept;
TALLY_CALL void begin_named(Open& open, Shared& shared, std::string_view name) noexcept;
TALLY_CALL void end(Open& open) noexcept;

#ifdef __clang__
// clang has no noplt: these pointers are filled in when the program is loaded.
#define TALLY_POINTER [[gnu::visibility("hidden")]] inline
TALLY_POINTER void (*call_begin)(Open& open, Shared& shared, Literal name) noexcept = begin;
TALLY_POINTER void (*call_begin_named)(Open& open, Shared& shared, std::string_view name) noexcept = begin_named;
TALLY_POINTER void (*call_end)(Open& open) noexcept = end;
#undef TALLY_POINTER
#else
inline constexpr auto& call_begin = begin;
inline constexpr auto& call_begin_named = begin_named;
inline constexpr auto& call_end = end;
#endif
}  // namespace detail

/// An event and its count.
struct EventValue {
  EventName event;
  Count count;
  bool operator==(const EventValue&) const = default;
};

/// Counts of the calling thread at one time, or between two times; in the order of the events.
struct Values {
  std::vector<EventValue> events;

  /// Returns the count of an event, by its requested or its full name; absent if it was not requested.
  TALLY_API Count operator[](std::string_view event) const;
  bool operator==(const Values&) const = default;
};

/// Returns what one thread counted between two readings.
TALLY_API Values operator-(const Values& later, const Values& earlier);

/// Prints a result as a table.
TALLY_API void print(const RegionResult& result, std::FILE* to = stderr);

/// Which instructions must have executed before counters are read in user mode, and which ones wait until after the
/// read, at both ends of a region. The cost of waiting is subtracted with that of reading. System calls and the engine
/// need no waiting.
enum class Serialize : std::uint8_t {
  none,   ///< no waiting: some instructions near an end may be on either side of it
  fence,  ///< all earlier instructions have executed, and no later one has begun: x86 `lfence`, arm64 `isb`
  cpuid   ///< what they wrote has arrived, too: x86 `cpuid` (some thousand cycles in a virtual machine), arm64 `dsb sy;
          ///< isb`
};

/// How counters are read, and what is kept of entries.
struct Options {
  bool extremes = true;  ///< keep the minimum and maximum of entries: a few more instructions at each end
  Serialize serialize = Serialize::none;
  /// Names of regions with a histogram: how many entries had which count. "*": all regions. Each event of such a region
  /// takes 8 KB in each thread, and each end of any region executes some twenty more instructions for each event.
  std::vector<std::string> histograms = {};
  /// Metrics in addition to the default ones, as for `tally stat --metrics`: "IPC,CPI", "x=cycles / loads". They add no
  /// events: those that they use must be counted.
  std::vector<std::string> metrics = {};
};

/// Counters of a program's own threads. Each thread gets its own at its first entry into a region. Can be moved, not
/// copied. No region may be open when the last one is destroyed. All threads may call all functions.
class Counters {
 public:
  /// Opens counters for these events. Without events, it uses TALLY_EVENTS; else the first 16 hardware events and
  /// the metrics of `tally stat -e` or `--metrics`, if that runs the program under the engine; else instructions and
  /// cycles. They are counted together, all the time. TALLY_HISTOGRAMS and TALLY_METRICS, separated by commas, are
  /// added to `histograms` and `metrics`. If TALLY_OUTPUT is `table`, FILE.json or FILE.csv, all regions of the process
  /// are printed or written when it ends. Cost: some system calls, and a few hundred regions to measure the overhead.
  /// Errors: bad_usage for an unknown event, cannot_measure if the events cannot be counted here, or not at the same
  /// time. `room`: how many events the program's regions have room for; leave it out.
  TALLY_API static Expected<Counters> open(const std::vector<std::string>& events = {}, Options options = {},
                                           std::size_t room = most_events);

  Counters(Counters&&) noexcept = default;
  Counters& operator=(Counters&&) noexcept = default;
  ~Counters() = default;

  /// Returns what the calling thread counted since its first region or reading, without this library's own work: two
  /// readings in a row are equal. Cost: two reads of the counters, each a few dozen instructions in user mode, else a
  /// system call; memory for the names.
  TALLY_CALL Values read();

  /// Returns what the calling thread counts in a function: the difference of read() before and after it.
  template <std::invocable Function>
  Values measure(Function&& function) {
    const Values before = read();
    std::forward<Function>(function)();
    return read() - before;
  }

  /// Returns the counts of all regions, of entries that have ended so far.
  TALLY_API std::vector<RegionResult> regions() const;

  /// How the calling thread reads counters: "user mode", "system call", "engine", or "none" if it cannot.
  TALLY_API std::string_view path() const;

 private:
  friend class Region;
  friend struct detail::Access;
  explicit Counters(std::shared_ptr<detail::Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<detail::Shared> shared_;
};

/// Counts a part of the program, from construction to destruction, in the thread that constructs it. Regions can be
/// nested and recursive. Cost: no system call, lock or memory after a thread's first entry into a region.
class [[nodiscard]] Region {
 public:
  /// Takes a string literal as name.
  Region(Counters& counters, Literal name) noexcept { detail::call_begin(open_, *counters.shared_, name); }
  /// Takes a name made at run time: reads its characters at each entry.
  template <class Name>
    requires(std::convertible_to<const Name&, std::string_view> && !std::is_array_v<std::remove_cvref_t<Name>>)
  Region(Counters& counters, const Name& name) noexcept {
    detail::call_begin_named(open_, *counters.shared_, name);
  }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { detail::call_end(open_); }

 private:
  detail::Open open_;
};

#undef TALLY_CALL

}  // namespace tally

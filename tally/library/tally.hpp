/// tally's front door: counts of parts of a program, by the program itself.
///
///     auto counters = tally::Counters::open({"instructions", "cycles"});
///     if (!counters) …  // counters.error(): what was tried, and what to do
///     {
///       tally::Region region{*counters, "parse"};
///       parse(input);
///     }
///     for (const auto& result : counters->regions()) tally::print(result);
///
/// Counters run all the time; a region reads them where it begins and where it ends. docs/guides/regions.md tells more.
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

/// How many events one Counters counts at most: more than processors count at once for a program.
inline constexpr std::size_t most_events = 8;

namespace detail {
struct Shared;
struct Thread;
struct Record;
struct Access;

// What a region that is open keeps: where the counters stood.
struct Open {
  Thread* thread;
  Record* record;
  Open* outer;
  std::uint64_t ended;
  std::uint64_t turns;
  std::int64_t start[most_events];
};

}  // namespace detail

/// A region's name as it stands in the program's text: looked up by its place, without a look at its letters. The
/// compiler hashes them, so that a name is not taken for another that lay at the same place: that of a plugin that was
/// unloaded.
class Literal {
 public:
  template <std::size_t n>
  consteval Literal(const char (&text)[n]) : text_(text) {  // NOLINT(google-explicit-constructor)
    hash_ = 2166136261u;                                    // FNV-1a, of 32 bits
    for (std::size_t i = 0; i + 1 < n; ++i) hash_ = (hash_ ^ static_cast<unsigned char>(text[i])) * 16777619u;
  }
  constexpr const char* text() const { return text_; }

 private:
  friend struct detail::Access;
  constexpr explicit Literal(const char* text, std::uint32_t hash) : text_(text), hash_(hash) {}
  const char* text_;
  std::uint32_t hash_ = 0;
};

// Called without a detour: what resolves names at a first call would be counted.
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
// It has no noplt: these pointers are filled in when the program is loaded.
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

/// One event's count.
struct EventValue {
  EventName event;
  Count count;
  bool operator==(const EventValue&) const = default;
};

/// What the calling thread's counters held at a time, or what came between two times; in the order of the events.
struct Values {
  std::vector<EventValue> events;

  /// The count of an event, by the name that was asked for or its full one; absent where there is none.
  TALLY_API Count operator[](std::string_view event) const;
  bool operator==(const Values&) const = default;
};

/// What came between two readings of one thread.
TALLY_API Values operator-(const Values& later, const Values& earlier);

/// Prints a result as a table to stderr, or where it is told.
TALLY_API void print(const RegionResult& result, std::FILE* to = stderr);

/// What is to be executed before counters are read in user mode, and what only after it. Both ends do the same. It
/// costs what the instructions cost, and is taken off as the reading is; system calls and the engine need nothing of
/// it.
enum class Serialize : std::uint8_t {
  none,   ///< the processor reads when it gets there: some instructions around an end may be on either side of it
  fence,  ///< all instructions before have been executed, none after has begun: x86 `lfence`, arm64 `isb`
  cpuid   ///< what they wrote has arrived, too: x86 `cpuid` (some thousand cycles in a virtual machine), arm64 `dsb sy;
          ///< isb`
};

/// How counters are read, and what is kept of entries.
struct Options {
  bool extremes = true;  ///< the least and the most of an entry too: a few instructions more at each end
  Serialize serialize = Serialize::none;
  /// Regions of which a histogram is kept: how many entries counted so much. "*": all of them. Each event of such a
  /// region takes 8 KB in each thread, and each end of any region some twenty instructions more for each event.
  std::vector<std::string> histograms = {};
  /// Metrics besides those that stand beside events, as `tally stat --metrics` takes them: "IPC,CPI", "x=cycles /
  /// loads". Of events that are counted: they are not added.
  std::vector<std::string> metrics = {};
};

/// Counters of a program's own threads. Each thread that enters a region gets its own at its first entry. Moves, never
/// copies; no region may be open when the last one is destroyed. Threads: all functions may be called by all.
class Counters {
 public:
  /// Counters for these events, or for those of the environment's TALLY_EVENTS, or for the first eight hardware events
  /// that `tally stat -e` or `--metrics` asks for, with its metrics, where that runs the program under the engine, or
  /// instructions and cycles. They are counted together, all the time. TALLY_HISTOGRAMS and TALLY_METRICS, separated by
  /// commas, are added to `histograms` and `metrics`. Where the environment's TALLY_OUTPUT is `table`, FILE.json or
  /// FILE.csv, all regions of the process are printed or written when it ends. Cost: some system calls; a few hundred
  /// regions, to know what they cost. Errors: bad_usage for a name that is none, cannot_measure where they are not
  /// counted here, or not at once.
  TALLY_API static Expected<Counters> open(const std::vector<std::string>& events = {}, Options options = {});

  Counters(Counters&&) noexcept = default;
  Counters& operator=(Counters&&) noexcept = default;
  ~Counters() = default;

  /// What the calling thread did since its first region or reading, without what this library did in it: two readings,
  /// one after the other, are the same. Cost: counters are read twice, in a few dozen instructions where they are read
  /// in user mode, else by a system call each; memory for the names.
  TALLY_CALL Values read();

  /// What the calling thread did within a function, as read() before and after it.
  template <std::invocable Function>
  Values measure(Function&& function) {
    const Values before = read();
    std::forward<Function>(function)();
    return read() - before;
  }

  /// What was counted in all regions that have ended so far.
  TALLY_API std::vector<RegionResult> regions() const;

  /// How the calling thread reads: "user mode", "system call", "engine".
  TALLY_API std::string_view path() const;

 private:
  friend class Region;
  friend struct detail::Access;
  explicit Counters(std::shared_ptr<detail::Shared> shared) : shared_(std::move(shared)) {}
  std::shared_ptr<detail::Shared> shared_;
};

/// Marks a part of the program, from where it is made to where it ends; of the thread that makes it. Regions lie within
/// each other and call themselves. Cost: no system call, lock or memory after a thread's first entry into a region.
class [[nodiscard]] Region {
 public:
  /// A name that stands in the program's text.
  Region(Counters& counters, Literal name) noexcept { detail::call_begin(open_, *counters.shared_, name); }
  /// A name that is made at run time: a look at its letters at each entry.
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

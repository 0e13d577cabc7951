// What a thread keeps of its regions. Only the thread itself writes here; others read the numbers of its records.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/count/metric.hpp"
#include "tally/core/stats/histogram.hpp"
#include "tally/counting/backend/choose/own.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/library/tally.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/user_counter.hpp"
#include "tally/linux/process/self.hpp"

namespace tally::detail {

/// By what way counters are read; the two ends of an entry are read by the same one.
enum class Path : std::uint8_t { none, user, group, engine };
inline constexpr std::size_t path_count = 4;

using Numbers = std::array<std::int64_t, most_events>;

/// A number that its thread changes and others look at. It is written as any other: what is read of it elsewhere is
/// never half of it, on a processor with registers of 64 bits; std::atomic would keep two of them from being added up
/// at once, and take an instruction more for each on arm64.
class Number {
 public:
  std::int64_t get() const { return __atomic_load_n(&value_, __ATOMIC_RELAXED); }
  void set(std::int64_t value) { value_ = value; }
  void add(std::int64_t more) { value_ += more; }
  void lower(std::int64_t to) { value_ = to < value_ ? to : value_; }
  void raise(std::int64_t to) { value_ = to > value_ ? to : value_; }

 private:
  std::int64_t value_ = 0;
};
using SharedNumbers = std::array<Number, most_events>;

struct Record;

/// Reads the counters. Returns Thread::moves as they were then, and not_read where that failed: then Thread::turns is
/// another, and the thread may have another path. Unrolled for its events.
using Read = std::uint64_t (*)(Thread&, std::int64_t*) noexcept;
inline constexpr std::uint64_t not_read = 0;
Read read_of(Path path, std::uint32_t events, Serialize serialize);

/// Adds an entry that has ended, from what counters held then. Unrolled, too.
using Take = void (*)(Record&, const Open&, const std::int64_t*) noexcept;
Take take_of(std::uint32_t events, const Options& options);

/// How many entries counted so much, of each event.
using Histograms = std::array<std::array<Number, histogram_buckets>, most_events>;

/// One region in one thread, by one way of reading.
struct Record {
  std::int64_t depth = 0;  ///< entries that have not ended; the outermost one's numbers are taken before it has
  Number entries;
  Number inner;  ///< entries of regions within the counted ones
  Number recursive, dropped;
  std::uint32_t name = 0;  ///< its number
  Path path = Path::none;
  Take take = nullptr;
  Histograms* histograms = nullptr;  ///< of this region or, where it is not one of those asked for, of all others
  std::string_view text;             ///< its letters
  SharedNumbers total, least, most;  ///< what the events did
};

/// Where a name that stands in the program's text leads.
struct Slot {
  std::uint64_t key = 0;
  Record* record = nullptr;
};

/// An entry that C has begun; those of a thread stand in a row, from the outermost one inwards, and stay to be used
/// again.
struct Mark {
  Open open{};
  const char* name = nullptr;  ///< as it was given
  Mark* below = nullptr;
  Mark* above = nullptr;
};

/// A thread.
struct Thread {
  Read read = nullptr;
  std::uint64_t moves = not_read + 1;  ///< times that a counter's offset became another
  Open* innermost = nullptr;
  std::uint64_t ended = 0;  ///< entries that have ended so far
  std::uint64_t turns = 0;  ///< times that what was open cannot be counted: counters were without the processor's
                            ///< for a while, or are read another way
  std::uint64_t mask = 0;   ///< of `slots`
  std::vector<Slot> slots;  ///< by the place of the name; never more than half of them taken
  linux::UserCounter user[most_events];  ///< compilers reach a plain array's members without an address of their own
  std::uint64_t id = 0;                  ///< of its Counters
  Shared* shared = nullptr;              ///< there as long as anybody may have a region open
  std::int32_t number = 0;
  Path path = Path::none;
  std::uint32_t events = 0;
  bool busy = false;          ///< something is made: a signal's handler that needs the same is not counted
  bool has_readings = false;  ///< Counters::read() was called
  std::uint64_t absent = 0;   ///< ns that a group was without the processor's counters, as the kernel says
  Numbers base{};             ///< the offsets that the beginnings of open entries go with
  Numbers again{};            ///< what it cost to copy all pages again, the last time
  Numbers aside{};            ///< what counters hold and readings do not: what this library did itself. See not_own()
  std::vector<linux::PerfCounter> counters;  ///< one group; the first leads it
  std::atomic_flag closed;                   ///< the counters are, or are about to be
  std::deque<Record> records;
  std::array<std::map<std::string, Record*, std::less<>>, path_count> by_name;
  std::deque<Histograms> histograms;  ///< nothing where none were asked for; else the first is that of all others
  Record unnamed;                     ///< takes what has no record
  Mark bottom;                        ///< below the outermost mark
  Mark* top = &bottom;

  Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
  ~Thread();
};

/// What a begin and an end cost, by a way of reading: in an entry itself, and in the region around it.
struct Overhead {
  Numbers own{}, own_spread{};
  Numbers nested{}, nested_spread{};
  Numbers begun{};     ///< of `nested`, what comes before the entry has begun
  Numbers reading{};   ///< of Counters::read(), what lies outside its own two looks at the counters
  Numbers making{};    ///< the same of making a record
  Numbers per_open{};  ///< of both, for each region that is open
  bool known = false;
};

/// What all threads share.
struct Shared {
  std::uint64_t id = 0;
  Options options;
  std::vector<event::Event> events;
  std::vector<MetricChoice> metrics;  ///< that were asked for
  std::vector<backend::OwnEvent> own;
  bool by_engine = false;    ///< the program runs under the engine, which counts
  bool asks_models = false;  ///< and simulates some of the events
  std::mutex lock;           ///< of what follows
  std::vector<std::string> names;
  std::map<std::string, std::uint32_t, std::less<>> numbers;  ///< of the names
  std::vector<std::shared_ptr<Thread>> threads;
  std::array<Overhead, path_count> overhead;
  Numbers around_again{};  ///< what an end costs more that copies all pages again, besides that

  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared();
};

/// Makes a Counters of what is shared already.
struct Access {
  static Counters counters(std::shared_ptr<Shared> shared) { return Counters(std::move(shared)); }
  static Shared& shared(const Counters& counters) { return *counters.shared_; }
  /// A literal's place and letters in one number.
  static std::uint64_t key(Literal name) {
    const auto place = reinterpret_cast<std::uintptr_t>(name.text_);  // NOLINT(*-reinterpret-cast)
    return place ^ static_cast<std::uint64_t>(name.hash_) << 32;
  }
  /// A name that C says is a literal: it is known by its place alone.
  static Literal in_place(const char* text) { return Literal(text, 0); }
};

// --- region.cpp

/// The Counters and the thread that were last used by this one.
struct Here {
  std::uint64_t id = 0;
  Thread* thread = nullptr;
};
extern thread_local constinit Here here __attribute__((tls_model("initial-exec")));

/// The parts of begin() and end(): an entry into a record begins; what counters hold where it ends, and its end.
void enter(Open& open, Thread& thread, Record& record) noexcept;
struct Reached {
  std::uint64_t moves;  ///< as Read returns them
  std::int64_t now[most_events];
};
void read_end(Thread& thread, Reached& reached) noexcept;
void leave(Open& open, const Reached& reached) noexcept;

/// An entry that will not end: not counted, and told.
void drop(Open& open) noexcept;

/// Reads the counters of the calling thread by its path. False where that failed; then the thread has another path.
bool read_now(Thread& thread, std::int64_t* to) noexcept;

/// What counters hold of an event that the program did not do: readings, records that were made, regions that ended,
/// the beginnings of those that are open.
std::int64_t not_own(const Thread& thread, std::size_t event) noexcept;

/// From its making to its end nothing counts: not for the regions that are open, and not between two readings.
class Excluded {
 public:
  /// `around`: what lies outside the two looks at the counters.
  Excluded(Thread& thread, Numbers Overhead::*around) noexcept;
  ~Excluded();
  Excluded(const Excluded&) = delete;
  Excluded& operator=(const Excluded&) = delete;

  /// False where the counters could not be read.
  bool known() const { return known_; }
  /// What the program itself had done of an event when this began.
  std::int64_t before(std::size_t event) const { return before_[event] - not_own_[event]; }

 private:
  Thread& thread_;
  Numbers Overhead::*around_;
  Numbers before_{}, not_own_{};
  bool known_ = false;
};

// --- thread.cpp

/// The calling thread where it was last in another Counters, or never here. Nothing where no memory or no way is left:
/// in a handler that interrupts the making of it, and at a thread's very end.
Thread* find_thread(Shared& shared) noexcept;
inline Thread* this_thread(Shared& shared) noexcept {
  if (here.id == shared.id) [[likely]]
    return here.thread;
  return find_thread(shared);
}

/// The record of a name. What it takes to make one is not counted in the regions around it.
Record& find_record(Thread& thread, Literal name) noexcept;
Record& find_record(Thread& thread, std::string_view name) noexcept;

/// Where the record of a literal is looked for first: literals lie side by side.
inline std::uint64_t place_of(std::uint64_t key, std::uint64_t mask) { return (key ^ key >> 7) & mask; }

/// Another way of reading: names lead to other records.
void take_path(Thread& thread, Path path) noexcept;

/// Opens the counters of the calling thread. What failed: the number of an event and an errno; nothing where all
/// opened.
struct NotOpened {
  std::size_t event;
  int os_errno;
};
std::optional<NotOpened> open_counters(Thread& thread);
void close_counters(Thread& thread);

/// A Shared is known to fork(2).
void enlist(const std::shared_ptr<Shared>& shared);

/// Every Shared that there is now.
std::vector<std::shared_ptr<Shared>> all_shared();

// --- results.cpp

/// A count of that event that was read: who counted it, and how far it is to be trusted.
Count count_of(const Shared& shared, std::size_t event, std::int64_t value);

/// What was counted in all regions that have ended so far.
std::vector<RegionResult> results_of(Shared& shared);

// --- overhead.cpp

/// From now on readings begin at nothing.
void begin_at_nothing(Thread& thread);

/// Measures what entries cost the calling thread, by each way that it may come to read: an entry into a region that
/// holds nothing, and one into another with such a one in it; and what readings cost. Their names are nobody else's,
/// and what was counted until then is forgotten.
#define TALLY_NOTHING "tally: nothing"
#define TALLY_AROUND_NOTHING "tally: around nothing"
using Enter = void (*)(Counters&);
void calibrate(Counters& counters, Enter empty, Enter around);
/// The same for Region.
void calibrate(Counters& counters);

}  // namespace tally::detail

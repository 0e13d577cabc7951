// The state of a thread with its regions. Only the thread itself writes it; others read the numbers of its records.
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

#include "tally/counting/backend/choose/own.hpp"
#include "tally/counting/records/record_counts.hpp"
#include "tally/counting/records/records_memory.hpp"
#include "tally/library/tally.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/user_counter.hpp"
#include "tally/linux/process/self.hpp"

/// For functions of which the code after a read must be the same in all calls: gcc copies functions for constant
/// arguments.
#ifdef __clang__
#define TALLY_ONE_COPY [[gnu::noinline]]
#else
#define TALLY_ONE_COPY [[gnu::noinline, gnu::noclone]]
#endif

namespace tally::detail {

/// Reads the counters. Returns Thread::moves at that time, or not_read on failure: then Thread::turns has changed, and
/// the path may have. Unrolled for the number of events.
using Read = std::uint64_t (*)(Thread&, std::int64_t*) noexcept;
inline constexpr std::uint64_t not_read = 0;
Read read_of(Path path, std::uint32_t events, Serialize serialize);

/// What a read at the end of an entry returns.
struct Reached {
  std::uint64_t ended;  ///< Thread::ended before the read
  std::uint64_t moves;  ///< as Read returns it
  std::int64_t now[most_events];
};

/// Unrolled, too.
Take take_of(std::uint32_t events, const Options& options);

/// Maps a literal to its record.
struct Slot {
  std::uint64_t key = 0;
  Record* record = nullptr;
};

/// An entry that the C interface began. The marks of a thread form a list, from the outermost one inwards, and are
/// reused.
struct Mark {
  Open open{};
  const char* name = nullptr;  ///< as the caller passed it
  Mark* below = nullptr;
  Mark* above = nullptr;
};

/// Marks are made together, at a thread's first region: making one later would count in the regions around it.
struct MarkBlock {
  std::array<Mark, 64> marks;
  std::unique_ptr<MarkBlock> next;
};

/// The state of one thread for one Counters.
struct Thread {
  Read read = nullptr;
  std::uint64_t moves = not_read + 1;  ///< how often start values of open entries changed, such as by a new offset
  Open* innermost = nullptr;
  std::uint64_t ended = 0;  ///< entries ended so far
  std::uint64_t turns = 0;  ///< changes after which open entries cannot be counted: counters lost the PMU for a while,
                            ///< or are read by another path
  std::uint64_t mask = 0;   ///< of `slots`
  std::vector<Slot> slots;  ///< by the address of the name; at most half full
  linux::UserCounter user[most_events];  ///< a plain array: compilers address its elements directly
  std::uint64_t id = 0;                  ///< of its Counters
  Shared* shared = nullptr;              ///< exists as long as any region may be open
  std::int32_t number = 0;
  std::optional<std::int32_t> openmp_number = {};  ///< at its first region
  Path path = Path::none;
  std::uint32_t events = 0;
  bool busy = false;          ///< something is being created: a signal handler that needs the same is not counted
  bool has_readings = false;  ///< Counters::read() was called
  std::uint64_t absent = 0;   ///< ns that the group was not on the PMU, from the kernel
  Numbers base{};             ///< the offsets that the start values of open entries refer to
  Numbers again{};            ///< what the last copy of all pages cost
  std::uint64_t unknown = 0;  ///< bits of events: the thread has executed instructions whose amounts are not known
  Numbers aside{};            ///< this library's own work: in the counters but not in readings. See not_own()
  std::vector<linux::PerfCounter> counters;  ///< one group; the first is its leader
  std::atomic_flag closed;                   ///< the counters are closed, or about to be
  std::vector<Record*> records;
  std::deque<Record> own_records;  ///< those that are not in shared memory
  std::array<std::map<std::string, Record*, std::less<>>, path_count> by_name;
  std::deque<Histograms> histograms;  ///< empty if none were requested; else the first one is that of all other regions
  Record unnamed;                     ///< for entries without a record
  Record recursive;                   ///< takes recursive entries, and is in no result
  Mark bottom;                        ///< before the outermost mark
  Mark* top = &bottom;
  std::unique_ptr<MarkBlock> marks;

  Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;
};

/// State that all threads share.
struct Shared : CountedEvents {
  std::uint64_t id = 0;
  Options options;
  std::vector<backend::OwnEvent> own;
  bool by_engine = false;                             ///< the program runs under the engine, which counts
  bool asks_models = false;                           ///< models compute some of the events
  std::uint64_t with_operations = 0, with_bytes = 0;  ///< bits of events: see OwnEvent
  bool calibrates = false;                            ///< entries are the library's own
  std::mutex lock;                                    ///< protects all members below
  std::vector<std::string> names;
  std::map<std::string, std::uint32_t, std::less<>> numbers;  ///< index of each name
  std::vector<std::shared_ptr<Thread>> threads;
  const RecordsMemory* described_in = nullptr;  ///< where other processes find what its records mean
  Numbers around_again{};  ///< what an end that copies all pages again costs in addition to Thread::again

  Shared() = default;
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared();
};

/// Gives the library access to private members of Counters and Literal.
struct Access {
  static Counters counters(std::shared_ptr<Shared> shared) { return Counters(std::move(shared)); }
  static Shared& shared(const Counters& counters) { return *counters.shared_; }
  /// Combines a literal's address and hash in one number.
  static std::uint64_t key(Literal name) {
    const auto place = reinterpret_cast<std::uintptr_t>(name.text_);  // NOLINT(*-reinterpret-cast)
    return place ^ static_cast<std::uint64_t>(name.hash_) << 32;
  }
  /// A name that a C program declares as a literal: only its address identifies it.
  static Literal in_place(const char* text) { return Literal(text, 0); }
};

// --- region.cpp

/// The Counters and the state that the calling thread used last.
struct Here {
  std::uint64_t id = 0;
  Thread* thread = nullptr;
};
extern thread_local constinit Here here __attribute__((tls_model("initial-exec")));

/// The parts of begin() and end(): enter() begins an entry, read_end() reads the counters at its end, leave() ends it.
void enter(Open& open, Thread& thread, Record& record) noexcept;
void read_end(Thread& thread, Reached& reached) noexcept;
void leave(Open& open, const Reached& reached) noexcept;

/// Ends an entry without counting it, and reports it as dropped.
void drop(Open& open) noexcept;

/// Reads the counters of the calling thread by its path. Returns false on failure; the path has then changed.
bool read_now(Thread& thread, std::int64_t* to) noexcept;

/// Returns what the counters contain that is not the program's, by event: readings, creation of records, ended regions,
/// begins of open ones.
Numbers not_own(const Thread& thread) noexcept;

/// Whether open regions or readings count what the thread executes now.
inline bool is_observed(const Thread& thread) { return thread.innermost != nullptr || thread.has_readings; }

/// Excludes what is counted during its lifetime, from open regions and from the difference of two readings.
class Excluded {
 public:
  /// `around`: the cost outside its own two reads of the counters. Does nothing unless `needed`.
  Excluded(Thread& thread, Numbers Overhead::*around, bool needed = true) noexcept;
  ~Excluded();
  Excluded(const Excluded&) = delete;
  Excluded& operator=(const Excluded&) = delete;

  /// False if the counters could not be read.
  bool known() const { return known_; }
  /// Returns the program's own count of an event at construction.
  std::int64_t before(std::size_t event) const { return before_[event] - not_own_[event]; }

 private:
  Thread& thread_;
  Numbers Overhead::*around_;
  Numbers before_{}, not_own_{};
  bool known_ = false;
};

// --- thread.cpp

/// Returns the state of the calling thread; creates it at first use. Null in a signal handler that interrupts the
/// creation, and at the very end of a thread.
Thread* find_thread(Shared& shared) noexcept;
inline Thread* this_thread(Shared& shared) noexcept {
  if (here.id == shared.id) [[likely]]
    return here.thread;
  return find_thread(shared);
}

/// Returns the record of a name. The cost of creating one, and of comparing characters, is not counted in the regions
/// around it.
Record& find_record(Thread& thread, Literal name) noexcept;
Record& find_record(Thread& thread, std::string_view name) noexcept;
/// The same for a text that ends with a zero.
Record& find_record(Thread& thread, const char* name) noexcept;

/// Sets the counts and entries of a region of the calling thread to none. Returns false while an entry is open.
bool reset_records(Thread& thread, std::string_view name);

/// Returns the slot to search first for a literal. Literals have neighbouring addresses.
inline std::uint64_t place_of(std::uint64_t key, std::uint64_t mask) { return (key ^ key >> 7) & mask; }

/// Changes the path. Names then lead to other records.
void take_path(Thread& thread, Path path) noexcept;

/// Opens the counters of the calling thread. Returns which event failed (index) and the errno, or nothing if all
/// opened.
struct NotOpened {
  std::size_t event;
  int os_errno;
};
std::optional<NotOpened> open_counters(Thread& thread);
void close_counters(Thread& thread);

/// Registers a Shared for fork(2).
void enlist(const std::shared_ptr<Shared>& shared);

/// Returns all Shared objects that exist.
std::vector<std::shared_ptr<Shared>> all_shared();

// --- counters.cpp

/// Makes a Count of a value of an event in a thread, with its source and trust; absent if the event cannot be counted.
Count count_of(const Thread& thread, std::size_t event, std::int64_t value);

/// Returns the counts of all regions, of entries that have ended so far.
std::vector<RegionResult> results_of(Shared& shared);

/// Returns the OpenMP numbers of the threads that have one, by the kernel's thread ID.
std::map<std::int32_t, std::int32_t> openmp_numbers(Shared& shared);

// --- overhead.cpp

/// Makes readings begin at zero from now on.
void begin_at_nothing(Thread& thread);

/// Adds what the difference of two readings contains to the cost of a reading. `between` returns that difference.
void calibrate_reading(Counters& counters, const std::function<Numbers()>& between);

/// Entries into regions as a program makes them, to measure their cost.
struct Entries {
  using Enter = void (*)(Counters&);
  Enter empty;               ///< into an empty region
  Enter around;              ///< into a region that contains an empty one
  Enter around_named_begin;  ///< the same, where the empty one is found by the characters of its name at its begin
  Enter around_named;        ///< the same, where it is found so at both ends
  /// The same, where the empty one is a literal that is entered for the first time.
  void (*around_new)(Counters&, const char* place);
};

/// Measures what entries and readings cost the calling thread, on each path that it may take. It uses names that no
/// program uses, and discards all counts so far.
#define TALLY_NOTHING "tally: nothing"
#define TALLY_AROUND_NOTHING "tally: around nothing"
void calibrate(Counters& counters, const Entries& as_program);
/// The same for Region.
void calibrate(Counters& counters);

}  // namespace tally::detail

// A request to a backend.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/control_channel.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/linux/symbol/names.hpp"
#include "tally/output/result/code_values.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/output/result/windows_result.hpp"

namespace tally::backend {

/// Existing processes, threads, CPUs or a cgroup to count instead of a command. IDs are kernel IDs.
struct Attachment {
  std::vector<std::int32_t> processes;  ///< with all their threads, and the processes that they start later
  std::vector<std::int32_t> threads;    ///< each without other threads
  /// Programs with these file names that others start later. Counting ends when all that were found have ended.
  std::vector<std::string> awaited = {};
  std::vector<int> processors;               ///< everything that runs on these CPUs
  std::string cgroup = {};                   ///< only the tasks of this control group on them; empty: all tasks
  std::optional<result::PartOf> parts = {};  ///< also count each core or socket separately
  bool any() const { return !processes.empty() || !threads.empty() || !processors.empty() || !awaited.empty(); }
  bool operator==(const Attachment&) const = default;
};

/// What to count: a command, or an attachment. With both, the command only sets how long the attachment is counted.
struct Target {
  std::vector<std::string> command;  ///< the program and its arguments. Empty only with an attachment: counting then
                                     ///< ends with the attached processes, or when the user interrupts
  Attachment attachment = {};
};

/// Options of the engine, for tests. 0: automatic.
struct EngineTuning {
  int block_size = 0;   ///< instructions in a block
  int hot_from = 0;     ///< executions after which a block is translated again
  int cache_limit = 0;  ///< blocks to keep before the code cache is emptied
  bool operator==(const EngineTuning&) const = default;
};

/// How to start the command, and how to wait for it.
struct Conditions : linux::Conditions {
  /// tally's own signals, watched by the caller; never null. A backend waits on its fd() and calls take(). After
  /// Taken::give_up it stops waiting for the program.
  linux::Signals* signals = nullptr;
  bool wait_all = false;  ///< wait until every descendant has ended, not only the started process
  EngineTuning engine = {};
  bool strict = false;       ///< end a program, with exit code 125, where it would continue natively
  bool as_valgrind = false;  ///< answer the client requests of valgrind.h as valgrind does (docs/guides/marks.md)
  bool pmu = false;          ///< programs can open hardware counters (docs/guides/programs-with-counters.md)
  std::string marks;         ///< a dialect of channel::IllegalMarks whose marks are honoured, or ""
  std::string cpu_model;     ///< the processor that programs see: the name of a cpus::CpuModel; or "host", the real one
  std::string clock = "real";  ///< that programs read; or "counted": it counts their instructions
  /// With `repeatable`: under the engine, programs see the real machine, kernel and random numbers, as natively.
  bool shows_real_machine = false;
  /// Under the engine and the single-stepper, programs find no vdso: they read clocks by system calls. The code of the
  /// vdso starts again when the kernel updates the clock meanwhile, so that its count depends on its speed.
  bool hides_vdso = false;
  std::optional<std::chrono::seconds> stepping_limit = {};  ///< after which the single-stepper ends the program
  bool counts_clock() const { return clock == "counted"; }
  /// Whether programs under the engine see a fixed machine and kernel, and random numbers from a fixed seed.
  bool presents_machine() const { return repeatable && !shows_real_machine; }
  bool presents_cpu() const { return !cpu_model.empty() && cpu_model != "host"; }
};

/// Finds the functions that have a name in a file, by names that the file's own symbols lack: those of its debug file,
/// and of its linkage table ("puts@plt"). `path`: as this process sees the file.
using FunctionFinder =
    std::function<std::vector<symbol::SymbolMatch>(const std::string& path, const std::string& name)>;

/// Restricts counting to part of the run, and divides it into intervals.
struct Timing {
  std::optional<Nanoseconds> delay = {};     ///< from the start of the run to the first count
  std::optional<Nanoseconds> interval = {};  ///< also count each interval of this length
  std::optional<Nanoseconds> timeout = {};   ///< stop counting after it, and ask the command to end (SIGTERM)
  std::function<void(const result::Interval&)> on_interval = {};  ///< called at the end of each interval; may be empty
  bool starts_off = false;                                        ///< counting begins with a command of `control`
  linux::ControlChannel* control = nullptr;  ///< switches counting on and off; not owned; null: there is none
  bool any() const { return delay || interval || timeout || starts_off || control != nullptr; }
  /// Whether counters start by a call, not with the program's execve.
  bool starts_late() const { return delay.has_value() || starts_off; }
  /// Whether only a part of the run is counted.
  bool is_partial() const { return delay || timeout || starts_off || control != nullptr; }
};

/// The path of a thread in a part of a run, for which PathSettings asks.
struct RecordedPath {
  /// A location in a file: an index in PathRecording::files, and the offset.
  struct Step {
    std::uint32_t file = 0;
    std::uint64_t offset = 0;
    bool operator==(const Step&) const = default;
  };
  static constexpr std::uint32_t no_file = ~std::uint32_t{0};
  /// A read of a source of differences (result::ReadSource).
  struct Read {
    std::string source;
    std::int64_t instructions = 0;  ///< of the thread so far
    std::uint64_t value = 0;        ///< a hash of what was read; 0: unknown
    Step where;
    Step caller;  ///< the innermost function on the stack that belongs to another file; no_file: unknown
  };
  std::vector<std::uint64_t> hashes;  ///< at the end of each window, from the end of the first one on
  std::vector<Step> steps;            ///< with windows of one instruction: each instruction after the first window
  std::vector<Read> reads;            ///< from the start of the thread on
};
struct PathRecording {
  std::map<std::uint32_t, RecordedPath> threads;  ///< by the series of their windows
  std::vector<result::CodeFile> files;
};

/// Keeps a hash of the path of each thread; only the engine can.
struct PathSettings {
  std::uint64_t every = std::uint64_t{1} << 20;  ///< instructions from one hash to the next
  // To record a part of each path:
  std::uint64_t first = 0;             ///< length of the first window; 0: `every`
  std::uint64_t most = 0;              ///< windows after that one; 0: no limit
  PathRecording* recording = nullptr;  ///< gets the part, if set; it must outlive the run
};

/// A region of a program, counted each time that a thread executes it. The program is not changed.
struct CodeRegion {
  struct Point {
    symbol::CodeAddress place;
    std::string text;  ///< as the user wrote it
    bool operator==(const Point&) const = default;
  };
  enum class Trap {
    none,
    int2e,
    int3
  };                 ///< which instructions of the program begin a region and, the next time, end it
  std::string name;  ///< its name in results
  Point from;
  std::optional<Point> to = {};  ///< nothing: `from` is a function, and its return ends the region
  Trap trap = Trap::none;        ///< used instead of `from` and `to`; in the last region only
  bool operator==(const CodeRegion&) const = default;
};
/// "int2e", "int3".
inline const char* trap_name(CodeRegion::Trap trap) { return trap == CodeRegion::Trap::int2e ? "int2e" : "int3"; }
inline constexpr std::size_t region_limit = 16;  ///< in one execution

/// Ends a window after a number of events in its thread.
struct WindowTrigger {
  event::Event event;
  std::uint64_t every = 0;      ///< number of events, at least 1; or
  std::uint64_t frequency = 0;  ///< windows per second
  bool operator==(const WindowTrigger&) const = default;
};
inline constexpr std::size_t window_trigger_limit = 4;

/// Where the windows of a thread begin and end. Empty: at the beginning and end of the thread.
struct WindowBounds {
  std::optional<CodeRegion::Point> start = {};  ///< start when the thread first reaches this address
  std::optional<CodeRegion::Point> stop = {};   ///< then stop when it reaches this one
  bool any() const { return start || stop; }
};

/// A read of a source of differences by a thread.
struct WindowRead {
  struct Location {
    result::CodeFile file;
    std::uint64_t offset = 0;
  };
  std::uint32_t series = 0;             ///< as in result::Window
  std::string source;                   ///< as in result::ReadSource
  std::int64_t instructions = 0;        ///< of the thread so far
  std::uint64_t value = 0;              ///< a hash of what was read; 0: unknown
  std::optional<Location> where = {};   ///< the reading code; of a clock function of the vdso: its caller
  std::optional<Location> caller = {};  ///< the innermost function on the stack that belongs to another file
};

/// Receives the windows. One thread at a time calls the functions, not always the caller's. The windows of each thread
/// arrive in order.
struct WindowSink {
  std::function<void(const result::WindowsHead&)> on_begin = {};  ///< once, before all windows
  std::function<void(const std::string&)> on_news = {};           ///< a progress line for a waiting user; may be empty
  std::function<void(const result::Window&)> on_window = {};
  /// Called for each read of a source of differences, if a path is recorded.
  std::function<void(const WindowRead&)> on_read = {};
};

/// How a native profile takes samples. Both numbers 0: automatic.
struct Sampling {
  std::uint64_t every = 0;      ///< events from one sample to the next
  std::uint64_t frequency = 0;  ///< otherwise: samples per second on each CPU
  bool user_only = false;       ///< without the kernel's code
  bool any() const { return every != 0 || frequency != 0; }
  bool operator==(const Sampling&) const = default;
};

/// How marks in the program divide a profile into parts, as they divide callgrind's.
struct ProfileParts {
  /// What is on when a program starts. `automatic`: the first mark decides; what it switches on was off before.
  enum class AtStart { automatic, on, off };
  AtStart instrumentation = AtStart::automatic, collection = AtStart::automatic;
  /// Functions by name, * and ? as in a shell: each call of one, except in a call of the same function, switches the
  /// collection of its thread, and its end switches it back. The first 255 functions of each process.
  std::vector<std::string> toggles = {};
  bool operator==(const ProfileParts&) const = default;
};

/// What the instruments of an order count.
namespace order {

/// Counts of a whole command or attachment.
struct Count {
  Timing timing = {};
  bool multiplex = false;         ///< time-share the counters, and read them often enough to bound the error
  bool processes = false;         ///< also count each process and thread separately
  bool mix = false;               ///< also which instructions were executed: Outcome::code
  bool count_interrupts = false;  ///< also count hardware interrupts, to correct counts for them; occupies a counter
  std::optional<PathSettings> path = {};
};

/// Counts of a whole command and of regions of its programs.
struct Regions : Count {
  std::vector<CodeRegion> regions = {};  ///< at most region_limit
  bool rdpmc = false;                    ///< `rdpmc` in the program reads the counts of the events
};

/// Windows: the counts of each thread, one row each time that a trigger is reached.
struct Windows {
  /// The first one reached ends the window; 1 to window_trigger_limit. A length of 0: only the bounds end windows.
  std::vector<WindowTrigger> triggers = {};
  WindowBounds bounds = {};
  bool places = false;       ///< add the file of each window's address
  bool vectors = false;      ///< add the basic-block vector of each window
  bool repeats = false;      ///< windows start again after each stop, which ends a window
  bool awaits_next = false;  ///< with awaited programs: wait again when all that were found have ended
  CodeRegion::Trap trap = CodeRegion::Trap::none;  ///< instead of bounds: windows start at one trap, stop at the next
  std::optional<PathSettings> path = {};           ///< rows have a path hash and, of the events, only the trigger's
  WindowSink sink = {};
  bool is_bounded() const { return bounds.any() || trap != CodeRegion::Trap::none; }
};

/// A profile: counts, or samples, of each instruction.
struct Profile {
  Sampling sampling = {};                   ///< for a backend that samples
  std::optional<Nanoseconds> timeout = {};  ///< without a command: stop after it
  bool calls = false;                       ///< also record calls with inclusive counts (at most 4 events)
  bool jumps =
      false;         ///< the engine only, without `calls`: also the targets of indirect jumps and calls, in their file
  bool mix = false;  ///< the engine only: also which instructions were executed
  bool python =
      false;  ///< also count functions of Python programs (CPython 3.11 to 3.13; at most 4 events, none of a model)
  std::optional<ProfileParts> parts = {};  ///< the engine only, and events that it counts itself
  /// With `calls`: functions by name, * and ? as in a shell, that are called also if a jump enters them. Other calls
  /// are call instructions. The engine only, and the first 255 functions of each process.
  std::vector<std::string> entered = {};
  std::vector<std::string> entered_files = {};  ///< the same for the functions of these files, exported ones first
};

}  // namespace order

/// A request to a backend.
struct Order {
  using Count = order::Count;
  using Regions = order::Regions;
  using Windows = order::Windows;
  using Profile = order::Profile;

  Target target = {};
  Conditions conditions = {};
  std::vector<event::Event> events = {};   ///< the result has a count, or a reason for its absence, for each of them
  bool usual_events = false;               ///< the user named no events: omit notes on single events
  std::vector<MetricChoice> metrics = {};  ///< of each region
  FunctionFinder find_functions = {};      ///< for code regions; may be empty
  std::variant<Count, Regions, Windows, Profile> instrument = {};

  /// The settings of the instrument; null if it is another one. A count of regions is a count, too.
  const Count* count() const {
    const auto* const with_regions = regions();
    return with_regions != nullptr ? with_regions : std::get_if<Count>(&instrument);
  }
  Count* count() {
    auto* const with_regions = std::get_if<Regions>(&instrument);
    return with_regions != nullptr ? with_regions : std::get_if<Count>(&instrument);
  }
  const Regions* regions() const { return std::get_if<Regions>(&instrument); }
  const Windows* windows() const { return std::get_if<Windows>(&instrument); }
  Windows* windows() { return std::get_if<Windows>(&instrument); }
  const Profile* profile() const { return std::get_if<Profile>(&instrument); }
  Profile* profile() { return std::get_if<Profile>(&instrument); }

  // Settings that several instruments have, or that are empty with others.
  const std::vector<CodeRegion>& code_regions() const {
    static const std::vector<CodeRegion> none;
    return regions() != nullptr ? regions()->regions : none;
  }
  const Timing& timing() const {
    static const Timing none;
    return count() != nullptr ? count()->timing : none;
  }
  /// Whether sections between marks of the programs are counted as regions.
  bool counts_sections() const { return count() != nullptr || hashes_paths(); }
  bool hashes_paths() const { return count() != nullptr ? count()->path.has_value() : windows() && windows()->path; }
  CodeRegion::Trap trap() const {
    if (windows() != nullptr) return windows()->trap;
    return code_regions().empty() ? CodeRegion::Trap::none : code_regions().back().trap;
  }
  bool has_rdpmc() const { return regions() != nullptr && regions()->rdpmc; }
  bool has_window_bounds() const { return windows() != nullptr && windows()->is_bounded(); }
  bool has_mix() const { return count() != nullptr ? count()->mix : profile() != nullptr && profile()->mix; }
  bool has_calls() const { return profile() != nullptr && profile()->calls; }
  bool has_python() const { return profile() != nullptr && profile()->python; }
  const ProfileParts* parts() const { return profile() != nullptr && profile()->parts ? &*profile()->parts : nullptr; }
};

}  // namespace tally::backend

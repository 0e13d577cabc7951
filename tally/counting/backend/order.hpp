// What a backend can be asked to do: four orders, one for each instrument.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/linux/symbol/names.hpp"
#include "tally/output/result/code.hpp"
#include "tally/output/result/stat.hpp"
#include "tally/output/result/windows.hpp"

namespace tally::backend {

/// Existing processes, threads, processors or a control group to count instead of a command. IDs are the kernel's.
struct Attachment {
  std::vector<std::int32_t> processes;  ///< with all their threads, and with what they start later
  std::vector<std::int32_t> threads;    ///< each alone
  /// Programs with these file names that others start later: each until it ends, and until all have ended.
  std::vector<std::string> awaited = {};
  std::vector<int> processors;               ///< everything that runs on them
  std::string cgroup = {};                   ///< on them, only tasks of this control group; empty: all tasks
  std::optional<result::PartOf> parts = {};  ///< also count each core or socket separately
  bool any() const { return !processes.empty() || !threads.empty() || !processors.empty() || !awaited.empty(); }
  bool operator==(const Attachment&) const = default;
};

/// What is counted: a command, or an attachment. With both, the command only says how long the attachment is counted.
struct Target {
  std::vector<std::string> command;  ///< the program and its arguments. Empty only with an attachment: counting then
                                     ///< ends with the attached processes, or when the user interrupts
  Attachment attachment = {};
};

/// Options of the engine, for tests. 0: automatic.
struct EngineTuning {
  int block_size = 0;   ///< instructions in a block
  int hot_from = 0;     ///< executions after which a block is translated again
  int cache_limit = 0;  ///< blocks that are kept before the code cache is emptied
  bool operator==(const EngineTuning&) const = default;
};

/// How the command is started, and how tally waits for it.
struct Conditions : linux::Conditions {
  /// tally's own signals, watched by the caller; never null. A backend waits on its fd() and calls take(); after
  /// Taken::give_up it stops waiting for the program.
  linux::Signals* signals = nullptr;
  bool wait_all = false;  ///< wait until every descendant has ended, not only the started process
  EngineTuning engine = {};
};

/// What all orders have in common.
struct Order {
  Target target;
  Conditions conditions;
  std::vector<event::Event> events;  ///< a backend answers for every one of them
};

/// Restricts counting to part of the run, and divides it into intervals.
struct Timing {
  std::optional<Nanoseconds> delay = {};                          ///< from the start of the run to the first count
  std::optional<Nanoseconds> interval = {};                       ///< also count each interval of this length
  std::optional<Nanoseconds> timeout = {};                        ///< stop counting after it, and ask the command to
                                                                  ///< end (SIGTERM)
  std::function<void(const result::Interval&)> on_interval = {};  ///< called at the end of each; may be empty
  bool any() const { return delay || interval || timeout; }
};

/// Counts of a whole command or attachment.
struct CountOrder : Order {
  Timing timing = {};
  bool multiplex = false;         ///< time-share the counters, and read them often enough to bound the error
  bool processes = false;         ///< also count each process and thread separately
  bool count_interrupts = false;  ///< also count hardware interrupts, to correct counts for them: takes a counter
  bool usual_events = false;      ///< the user named no events: notes on single events are left out
};

/// A region of a program, counted each time that a thread executes it. The program is not changed.
struct CodeRegion {
  struct Point {
    symbol::Place place;
    std::string text;  ///< as the user wrote it
    bool operator==(const Point&) const = default;
  };
  enum class Trap { none, int2e, int3 };  ///< instructions of the program: the first one begins, the next one ends
  std::string name;                       ///< as results call it
  Point from;
  std::optional<Point> to = {};  ///< nothing: `from` is a function, and its return ends the region
  Trap trap = Trap::none;        ///< instead of `from` and `to`; in the last region only
  bool operator==(const CodeRegion&) const = default;
};
inline constexpr std::size_t region_limit = 16;  ///< in one execution

/// Counts of a whole command and of regions of its programs.
struct RegionOrder {
  CountOrder count;
  std::vector<CodeRegion> regions = {};    ///< at most region_limit
  std::vector<MetricChoice> metrics = {};  ///< of each region
  bool rdpmc = false;                      ///< the program's `rdpmc` reads the counts of the events
  bool any() const { return !regions.empty() || rdpmc; }
};

/// What ends a window: its thread has counted so many of an event.
struct WindowTrigger {
  event::Event event;
  std::uint64_t every = 0;      ///< at least 1, or
  std::uint64_t frequency = 0;  ///< windows a second
  bool operator==(const WindowTrigger&) const = default;
};
inline constexpr std::size_t window_trigger_limit = 4;

/// Where the windows of a thread begin and end; nothing: with the thread.
struct WindowBounds {
  std::optional<CodeRegion::Point> start = {};  ///< windows begin when the thread first reaches it
  std::optional<CodeRegion::Point> stop = {};   ///< and end when it then reaches this one
  bool any() const { return start || stop; }
};

/// Receives the windows. The functions are called by one thread at a time, which need not be the caller's. Windows of a
/// thread come in their order.
struct WindowSink {
  std::function<void(const result::WindowsHead&)> on_begin = {};  ///< once, before all windows
  std::function<void(const std::string&)> on_news = {};           ///< a line for a waiting user; may be empty
  std::function<void(const result::Window&)> on_window = {};
};

/// Windows: a row of counts for each thread, each time that a trigger is reached.
struct WindowOrder : Order {
  std::vector<WindowTrigger> triggers = {};  ///< the first that is reached ends the window; 1 to window_trigger_limit
  WindowBounds bounds = {};
  bool places = false;   ///< each window names the file of its address
  bool vectors = false;  ///< and the blocks of code that it executed
  WindowSink sink = {};
};

/// How a native profile takes samples. Both numbers 0: automatic.
struct Sampling {
  std::uint64_t every = 0;      ///< events from one sample to the next
  std::uint64_t frequency = 0;  ///< else samples a second on each processor
  bool user_only = false;       ///< without the kernel's part
  bool any() const { return every != 0 || frequency != 0; }
  bool operator==(const Sampling&) const = default;
};

/// A profile: what each instruction counted, or how often it was sampled.
struct ProfileOrder : Order {
  Sampling sampling = {};  ///< by a backend that samples
  bool calls = false;      ///< also record calls with inclusive counts (at most 4 events)
};

}  // namespace tally::backend

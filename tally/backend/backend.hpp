// A way to count: what every backend does, and what it hands back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/base/result.hpp"
#include "tally/base/units.hpp"
#include "tally/count/metric.hpp"
#include "tally/event/event.hpp"
#include "tally/event/plan.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/linux/process/usage.hpp"
#include "tally/result/code.hpp"
#include "tally/result/stat.hpp"
#include "tally/result/windows.hpp"
#include "tally/symbol/names.hpp"

namespace tally::backend {

using result::EventCount;

/// Whose events are counted, where they are not a command's own. Numbers as the kernel has them.
struct Attachment {
  std::vector<std::int32_t> processes;  ///< with all their threads, and what these start from now on
  std::vector<std::int32_t> threads;    ///< each alone
  /// Programs of these file names, that others start from now on: each until it ends, and until all have
  std::vector<std::string> awaited = {};
  std::vector<int> processors;               ///< everything that runs on them
  std::string cgroup = {};                   ///< of that only what the tasks of this control group do; empty: all
  std::optional<result::PartOf> parts = {};  ///< the counts of each core or socket are wanted as well
  bool any() const { return !processes.empty() || !threads.empty() || !processors.empty() || !awaited.empty(); }
  bool operator==(const Attachment&) const = default;
};

/// When is counted, where it is not from the beginning to the end.
struct Timing {
  std::optional<Nanoseconds> delay = {};     ///< from the start to the first count
  std::optional<Nanoseconds> interval = {};  ///< what came in each of them is told as well
  std::optional<Nanoseconds> timeout = {};   ///< so long is counted; then the command is asked to end (SIGTERM)
  bool any() const { return delay || interval || timeout; }
  bool operator==(const Timing&) const = default;
};

/// A part of programs that nobody changes, counted each time that a thread passes it.
struct Mark {
  struct Point {
    symbol::Place place;
    std::string text;  ///< as it was asked for
    bool operator==(const Point&) const = default;
  };
  enum class Trap { none, int2e, int3 };  ///< instructions of the program's: the first one begins, the next one ends
  std::string name;                       ///< as results call it
  Point from;
  std::optional<Point> to = {};  ///< nothing: `from` is a function, and its return ends it
  Trap trap = Trap::none;        ///< instead of `from` and `to`; the last mark, if any
  bool operator==(const Mark&) const = default;
};
inline constexpr std::size_t mark_limit = 16;  ///< in one execution

/// How samples are taken, where code is counted natively. Both 0: as it suits the event.
struct Sampling {
  std::uint64_t every = 0;      ///< events from one sample to the next
  std::uint64_t frequency = 0;  ///< else samples in a second on a processor
  bool user_only = false;       ///< nothing of what the kernel does
  bool any() const { return every != 0 || frequency != 0; }
  bool operator==(const Sampling&) const = default;
};

/// How the simulated PMU's engine works; 0: as it finds best.
struct EngineTuning {
  int block_size = 0;   ///< instructions in a block
  int hot_from = 0;     ///< executions from which on a block is made again
  int cache_limit = 0;  ///< blocks that are kept before all are thrown away
  bool operator==(const EngineTuning&) const = default;
};

/// Windows: a row of counts for each thread, each time that it has counted so much.
struct Windows {
  struct Trigger {
    event::Event event;
    std::uint64_t every = 0;      ///< at least 1, or
    std::uint64_t frequency = 0;  ///< so many windows a second: a backend may lack it
    bool operator==(const Trigger&) const = default;
  };
  std::vector<Trigger> triggers = {};     ///< the first one that is full ends a window; at most window_trigger_limit
  std::optional<Mark::Point> start = {};  ///< a thread's windows begin when it first comes there: a backend may lack it
  std::optional<Mark::Point> stop = {};   ///< and end when it then comes there
  /// Called once before all rows, and with each row; by one thread at a time, which need not be the caller's. Rows of a
  /// thread come in their order.
  bool places = false;   ///< rows tell of which file their address is: a backend may lack it
  bool vectors = false;  ///< and which blocks of code they executed: the same
  std::function<void(const result::WindowsHead&)> on_begin = {};
  std::function<void(const std::string&)> on_news = {};  ///< a line for who waits; may be empty
  std::function<void(const result::Window&)> on_window = {};
  bool any() const { return !triggers.empty(); }
  bool bounded() const { return start || stop; }
};
inline constexpr std::size_t window_trigger_limit = 4;

/// One execution of a command, to be counted.
struct Request {
  std::vector<std::string> command;  ///< the program and its arguments; empty only with an attachment: what is counted
                                     ///< then ends with those that it is attached to, or when the user says so
  std::vector<event::Event> events;  ///< what is asked; a backend answers for every one of them
  std::vector<MetricChoice> metrics = {};  ///< that were asked for: the regions have them, too
  bool usual_events = false;               ///< nobody asked: what only a whole command has needs no word in its regions
  linux::Signals* signals =
      nullptr;                   ///< tally's own signals, watched by the caller; never null. A backend waits on its
                                 ///< fd() and take()s from it; on Taken::give_up it stops waiting for the program
  Attachment attachment = {};    ///< a command then only says how long is counted
  Timing timing = {};            ///< a backend may lack it: see choose()
  std::vector<Mark> marks = {};  ///< a backend may lack them: see choose(); at most mark_limit
  bool rdpmc = false;            ///< the instruction reads the counts of `events`: a backend may lack that, too
  Windows windows = {};          ///< a backend may lack them
  /// Called at the end with what every instruction counted, or was sampled, unless empty; a backend may lack that.
  std::function<void(result::CodeCounts)> on_code = {};
  Sampling sampling = {};  ///< of `on_code`, natively
  bool calls = false;      ///< of that the calls, too, with what they counted up to their returns: of at most 4 events
  bool multiplex = false;  ///< more than can be counted at once: counters are lent in turns, and read so often that a
                           ///< bound of the error can be told
  std::function<void(const result::Interval&)> on_interval = {};  ///< called at the end of each; may be empty
  bool processes = false;             ///< the counts of each process and thread are wanted as well
  bool wait_all = false;              ///< wait until every descendant has ended, not the started process alone
  bool repeatable = false;            ///< start it as linux::Conditions::repeatable says
  std::optional<int> processor = {};  ///< the only one that it may run on, as linux::Conditions::processor says
  bool count_interrupts = false;      ///< hardware interrupts too, to correct counts for them: that takes a counter
  EngineTuning engine = {};           ///< of the simulated PMU's
};

/// The conditions under which a backend starts the program.
inline linux::Conditions conditions_of(const Request& request) { return {request.repeatable, request.processor}; }

/// What one execution gave.
struct Outcome {
  int wait_status = 0;                      ///< of the started process, as wait4(2) gives it
  bool ended = true;                        ///< false: the program was still alive when tally gave up waiting for it
  bool all_ended = true;                    ///< false: descendants were to be waited for, and tally gave up
  linux::Usage usage;                       ///< what it used, by wait4(2)
  Nanoseconds duration{0};                  ///< from its start to the end of the started process
  std::vector<EventCount> counts;           ///< one for each event asked, in that order: the whole command's
  std::vector<result::Interval> intervals;  ///< where they were asked for
  std::vector<result::Part> parts = {};     ///< of cores or sockets, where they were asked for
  std::vector<result::Process> processes;   ///< in the order of their start; empty where they cannot be told apart
  std::vector<result::ProgramRegions> regions = {};  ///< of the marks; what programs hand over of their own regions is
                                                     ///< measuring's
  std::vector<std::string> missing = {};             ///< why something that was asked for was not counted anywhere
  std::vector<std::string> notices;                  ///< what the user should know: what ran uncounted, and why
  bool operator==(const Outcome&) const = default;
};

/// What a count of an event will be worth at best; known before anything runs.
struct Outlook {
  Trust trust = Trust::absent;
  std::string reason;  ///< why it is absent or partial
  std::string source;  ///< who counts; empty where nobody does
  bool operator==(const Outlook&) const = default;
};

/// A way to count.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// "none", "sim", "perf": what `--backend` calls it.
  virtual std::string_view name() const = 0;

  /// Executes the command once and counts. Standard streams, working directory and environment are the program's own.
  /// Blocks until the started process has ended, or the user gives up. Errors: not_found, not_executable where the
  /// program could not be executed; cannot_measure for everything else. Threads: one call at a time.
  virtual Result<Outcome> run(const Request& request) = 0;

  /// What it will make of an event. Cost: some system calls at most.
  virtual Outlook outlook(const event::Event& event) const = 0;

  /// Which of these events it counts in one execution, and how many executions it takes to count them all. Everything
  /// at once unless a backend says otherwise. Cost: some system calls for each event at most.
  /// `count_interrupts`: as in Request.
  virtual event::Plan plan(const std::vector<event::Event>& events, bool /*count_interrupts*/) const {
    return event::one_pass(events.size());
  }

  /// What the user should know before the command runs; most have nothing to say.
  virtual std::vector<std::string> said_before(const Request& /*request*/) const { return {}; }

  /// What it counts where nothing is asked for.
  virtual std::vector<event::Event> default_set() const { return event::default_set(); }
};

/// The outlook that a count of nothing stands for: its trust, reason and source.
Outlook outlook_of(const Count& count);

/// Why an event of Kind::microarchitectural has no count where no PMU counts.
std::string why_it_needs_a_pmu(const event::Event& event);

/// The count of one asked event, with its names and unit filled in.
EventCount event_count(const event::Event& event, Count count);

}  // namespace tally::backend

// A way to count: the interface of every backend, and its results.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/hardware/event/plan.hpp"
#include "tally/linux/process/usage.hpp"
#include "tally/output/result/code.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::backend {

using result::EventCount;

/// What every order results in.
struct Outcome {
  int wait_status = 0;                     ///< of the started process, as wait4(2) returns it
  bool ended = true;                       ///< false: the program was still alive when tally gave up waiting for it
  bool all_ended = true;                   ///< false: descendants were to be waited for, and tally gave up
  linux::Usage usage;                      ///< resources it used, by wait4(2)
  Nanoseconds duration{0};                 ///< from its start to the end of the started process
  std::vector<EventCount> counts;          ///< of the whole command: one for each event of the order, in that order
  std::vector<result::Process> processes;  ///< in the order of their start; empty where they cannot be told apart
  std::vector<std::string> missing = {};   ///< why something in the order was not counted anywhere
  std::vector<std::string> notices;        ///< what the user should know: what ran uncounted, and why
  bool operator==(const Outcome&) const = default;
};

/// Of a CountOrder.
struct Counts : Outcome {
  std::vector<result::Interval> intervals;  ///< where the order has an interval
  std::vector<result::Part> parts = {};     ///< of cores or sockets, where the order asks for them
  bool operator==(const Counts&) const = default;
};

/// Of a RegionOrder.
struct Regions : Counts {
  std::vector<result::ProgramRegions> regions = {};
  bool operator==(const Regions&) const = default;
};

/// Of a WindowOrder, whose windows were handed to its sink.
struct WindowTotals : Outcome {};

/// Of a ProfileOrder.
struct CodeProfile : Outcome {
  result::CodeCounts code;
};

/// What a count of an event will be worth at best; known before anything runs.
struct Outlook {
  Trust trust = Trust::absent;
  std::string reason;  ///< why it is absent or partial
  CountSource source;  ///< what counts it: a PMU, the kernel or the engine
  bool operator==(const Outlook&) const = default;
};

/// What a caller may know about a backend.
struct Traits {
  std::string_view name;          ///< as `--backend` calls it
  bool is_engine = false;         ///< programs run under the engine: counts are exact, and every instruction is seen
  bool has_pmu_counters = false;  ///< a PMU's counters may be used
};

/// A way to count. An order that it cannot carry out it refuses, before anything runs.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual Traits traits() const = 0;
  std::string_view name() const { return traits().name; }

  /// Why it cannot carry out an order, for the user; nothing: it can. What single events are worth is outlook()'s.
  /// Cost: some system calls at most.
  virtual std::optional<Error> refuses(const CountOrder& order) const = 0;
  virtual std::optional<Error> refuses(const RegionOrder& order) const;
  virtual std::optional<Error> refuses(const WindowOrder& order) const;
  virtual std::optional<Error> refuses(const ProfileOrder& order) const;

  /// Executes the command once and counts. Standard streams, working directory and environment are the program's own.
  /// Blocks until the started process has ended, or the user gives up. Errors: not_found, not_executable where the
  /// program could not be executed; cannot_measure for everything else, what refuses() returns included. Threads: one
  /// call at a time.
  virtual Result<Counts> run(const CountOrder& order) = 0;
  /// An order without regions is carried out as its count, unless a backend says otherwise.
  virtual Result<Regions> run(const RegionOrder& order);
  virtual Result<WindowTotals> run(const WindowOrder& order);
  virtual Result<CodeProfile> run(const ProfileOrder& order);

  /// What it will make of an event. Cost: some system calls at most.
  virtual Outlook outlook(const event::Event& event) const = 0;

  /// Which of these events it counts in one execution, and how many executions it takes to count them all. Everything
  /// at once unless a backend says otherwise. Cost: some system calls for each event at most.
  /// `count_interrupts`: as in CountOrder.
  virtual event::Plan plan(const std::vector<event::Event>& events, bool /*count_interrupts*/) const {
    return event::one_pass(events.size());
  }

  /// What the user should know before the command runs; most have nothing to say.
  virtual std::vector<std::string> notices_before(const RegionOrder& /*order*/) const { return {}; }

  /// What it counts where the user names no events.
  virtual std::vector<event::Event> default_set() const { return event::default_set(); }

 protected:
  /// The refusal of an attachment.
  Error cannot_attach() const;
};

/// The outlook that a count of nothing stands for: its trust, reason and source.
Outlook outlook_of(const Count& count);

/// Why an event of Kind::microarchitectural has no count where no PMU counts.
std::string why_it_needs_a_pmu(const event::Event& event);

/// The count of one asked event, with its names and unit filled in.
EventCount event_count(const event::Event& event, Count count);

}  // namespace tally::backend

// The interface of a backend, which is a way to count, and the results of its runs.
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
#include "tally/output/result/code_values.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::backend {

using result::EventCount;

/// The result of an order.
struct Outcome {
  int wait_status = 0;                     ///< of the started process, as wait4(2) returns it
  bool ended = true;                       ///< false: the program was still running when tally stopped waiting for it
  bool all_ended = true;                   ///< false: tally stopped waiting for descendants that the order includes
  linux::Usage usage;                      ///< resources that the command used, from wait4(2)
  Nanoseconds duration{0};                 ///< from the start of the process to its end
  std::vector<EventCount> counts;          ///< of the whole command: one for each event of the order, in that order
  std::vector<result::Process> processes;  ///< in the order of their start; empty if the backend cannot separate them
  std::vector<std::string> missing = {};   ///< why a part of the order was not counted anywhere
  std::vector<std::string> notices;        ///< notes for the user: what ran uncounted, and why
  std::string failure = {};                ///< why tally itself ended the program; one of the notices
  std::vector<result::UnaskedCode> unasked = {};  ///< `address` is an offset in the file; functions are not named
  std::optional<std::vector<result::ReadSource>> nondeterminism = {};  ///< only the engine reports it
  // Only if the order asks for them; else empty. Windows go to the sink of their order.
  std::vector<result::ThreadPath> paths = {};
  std::vector<result::Interval> intervals = {};
  std::vector<result::Part> parts = {};              ///< counts of cores or sockets
  std::vector<result::ProgramRegions> regions = {};  ///< those that programs count themselves: also without an order
  result::CodeCounts code = {};                      ///< the profile; or only rows, with Order::Count::mix
  std::string own_counters = {};                     ///< what counters that programs opened lacked; one of the notices
  bool operator==(const Outcome&) const = default;
};

/// The best that a count of an event can be; known before anything runs.
struct Outlook {
  Trust trust = Trust::absent;
  std::string reason;  ///< why it is absent or partial
  CountSource source;  ///< what counts it: a PMU, the kernel or the engine
  bool operator==(const Outlook&) const = default;
};

/// What callers can ask of a backend without running anything.
struct Traits {
  std::string_view name;            ///< its name after `--backend`
  bool is_engine = false;           ///< programs run under the engine: counts are exact and include every instruction
  bool has_pmu_counters = false;    ///< it can use the counters of a PMU
  std::string_view simulates = {};  ///< the machine that `--model` selected; empty: none
};

/// A way to count. A backend refuses an order that it cannot execute before anything runs.
class Backend {
 public:
  virtual ~Backend() = default;
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  virtual Traits traits() const = 0;
  std::string_view name() const { return traits().name; }

  /// Returns why this backend cannot execute an order, for the user; nothing if it can. outlook() answers for single
  /// events. Cost: a few system calls at most.
  virtual std::optional<Error> refuses(const Order& order) const = 0;

  /// Runs the command once and counts. The program uses tally's standard streams, working directory and environment.
  /// Blocks until the started process has ended or the user gives up. Errors: not_found and not_executable if the
  /// program cannot be executed; cannot_measure for everything else, including what refuses() returns. Threads: one
  /// call at a time.
  virtual Result<Outcome> run(const Order& order) = 0;

  /// Returns the best that a count of the event can be. Cost: a few system calls at most.
  virtual Outlook outlook(const event::Event& event) const = 0;

  /// Assigns the events to executions: which are counted together, and how many executions all of them take. The
  /// default counts all in one. Cost: a few system calls for each event at most. `count_interrupts`: as in
  /// Order::Count.
  virtual event::Plan plan(const std::vector<event::Event>& events, bool /*count_interrupts*/) const {
    return event::one_pass(events.size());
  }

  /// Returns notes for the user before the command runs; empty for most backends.
  virtual std::vector<std::string> notices_before(const Order& /*order*/) const { return {}; }

  /// Returns the events to count when the user names none.
  virtual std::vector<event::Event> default_set() const { return event::default_set(); }

 protected:
  /// Returns the error that refuses an attachment.
  Error cannot_attach() const;

  /// Returns the error that refuses the instrument of the order; nothing if it is a count without regions.
  std::optional<Error> refuses_all_but_counts(const Order& order) const;
};

/// Returns the outlook with the trust, reason and source of a count.
Outlook outlook_of(const Count& count);

/// Returns why an event of Kind::microarchitectural cannot be counted without a PMU.
std::string why_it_needs_a_pmu(const event::Event& event);

/// Returns the count of a requested event with the event's names and unit.
EventCount event_count(const event::Event& event, Count count);

}  // namespace tally::backend

// Carries out the delay, the intervals and the time-out of an order, and commands that switch counting.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tally/core/count/slices.hpp"
#include "tally/counting/backend/command_run.hpp"

namespace tally::backend {

/// The reason of an absent count when the program ended within the delay.
inline constexpr const char* ended_within_delay = "the program ended before counting began";

/// The counters of a run, as far as their timing matters.
class Meter {
 public:
  virtual ~Meter() = default;

  /// Starts counters that do not start by themselves, and those that disable() stopped.
  virtual void enable() = 0;

  /// Stops all counters until the next enable(). They keep their values.
  virtual void disable() = 0;

  /// Returns what each event has counted since the start.
  virtual std::vector<Count> read() = 0;

  /// Returns the count of duration_time in an interval of this length, with the trust that the whole run's count has.
  virtual Count duration(Nanoseconds length) const { return tally::counted(length.count(), Source::clock); }
};

/// Starts the counters, reads them at the end of each interval, and stops counting and the program at the time-out.
class Conductor final : public Schedule {
 public:
  /// The order, of a count, and the meter must outlive it. Calls `end_program` with SIGTERM at the time-out, and with
  /// SIGKILL five seconds later. With Order::Count::multiplex it reads the counters every `rotation`, the period after
  /// which the kernel assigns them to other events.
  Conductor(const Order& order, Meter& meter, Nanoseconds rotation, std::function<void(linux::End)> end_program);

  /// Call it when the command begins, or when counting of an attachment begins. Starts counters that do not start by
  /// themselves, unless there is a delay.
  void begin(Nanoseconds now);

  std::optional<Nanoseconds> next() const override;
  void due(Nanoseconds now) override;
  int commands_fd() const override;
  void take_commands(Nanoseconds now) override;

  /// Returns the commands that were ignored, because tally does not know them; each once.
  const std::vector<std::string>& unknown_commands() const { return unknown_; }
  bool timed_out() const { return timed_out_; }
  bool killed() const { return killed_; }

  /// Ends the last interval, and returns the counts of the whole time, or up to the time-out if that came first.
  std::vector<Count> finish(Nanoseconds now);

  /// Whether counting has begun: a program may end within the delay.
  bool began() const { return started_.count() != 0; }

  /// Calls `why_lost` at the end of each interval with the longest time that a counter was on. It returns why the
  /// counters miss a part of the program; empty if they do not. After the first reason, intervals are partial.
  void watch_for_loss(std::function<std::string(Nanoseconds)> why_lost) { why_lost_ = std::move(why_lost); }

  /// Makes all intervals partial, because the counters missed a part of the program. Call it after finish().
  void mark_lost(const std::string& why);

  /// Returns the time from the first count to the last, or to `end`.
  Nanoseconds counted(Nanoseconds end) const;

  const std::vector<result::Interval>& intervals() const { return intervals_; }

 private:
  void start(Nanoseconds now);
  void end(Nanoseconds now);
  bool carry_out(const std::string& command, Nanoseconds now);
  void switch_on(Nanoseconds now);
  void switch_off(Nanoseconds now);
  void end_slice(const std::vector<Count>& counts);
  void end_interval(Nanoseconds now, std::vector<Count> counts);
  EventCount in_interval(std::size_t index, const std::vector<Count>& counts, Nanoseconds length) const;

  const Order& order_;
  const Order::Count& count_;
  Meter& meter_;
  Nanoseconds rotation_;
  std::function<void(linux::End)> end_program_;
  std::function<std::string(Nanoseconds)> why_lost_;  // may be empty
  std::string lost_;                                  // the reason that it returned
  Nanoseconds begun_{0};                              // when the command or the attachment began
  std::optional<Nanoseconds> delayed_;                // when the counters are to start
  Nanoseconds started_{0};                            // when they started
  std::optional<Nanoseconds> off_since_;              // when a command stopped them
  Nanoseconds off_{0};                                // how long commands stopped them, without the current stop
  std::vector<std::string> unknown_;
  bool timed_out_ = false, killed_ = false;
  std::optional<Nanoseconds> kill_at_;    // when SIGKILL follows SIGTERM
  std::optional<Nanoseconds> next_end_;   // when the current interval ends
  std::optional<Nanoseconds> last_call_;  // when the time-out comes
  std::optional<Nanoseconds> next_read_;  // when to read multiplexed counters next
  std::vector<Reading> seen_;             // their values at the last read
  std::vector<Slices> slices_;
  Nanoseconds last_end_{0};
  std::vector<Count> before_;  // at the end of the last interval
  std::optional<std::vector<Count>> final_;
  Nanoseconds ended_{0};
  std::vector<result::Interval> intervals_;
};

/// Adds notes for the user about the end by --timeout, and about ignored commands of --control.
void add_control_notices(const Conductor& conductor, std::vector<std::string>& notices);

/// Returns the count as partial if it comes from the kernel's accounting of the whole run and the order counts only
/// part of the run. `windowed`: the count covers the counted time only, and stays as it is.
Count timed(Count count, const Timing& timing, bool windowed);

}  // namespace tally::backend

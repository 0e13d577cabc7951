// When is counted: the delay, the intervals and the time-out of an order.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tally/core/count/slices.hpp"
#include "tally/counting/backend/command_run.hpp"

namespace tally::backend {

/// Why there is no count where the delay was longer than the program.
inline constexpr const char* ended_within_delay = "the program ended before counting was to begin";

/// What is counted with, as far as time matters.
class Meter {
 public:
  virtual ~Meter() = default;

  /// Begins to count, where that waits to be told.
  virtual void enable() = 0;

  /// What was counted of each event since then.
  virtual std::vector<Count> read() = 0;

  /// The count of duration_time of an interval of this length: as believable as that of the whole run.
  virtual Count duration(Nanoseconds length) const { return tally::counted(length.count(), Source::clock); }
};

/// Starts counters, reads them at the end of each interval, and ends counting after the time-out.
class Conductor final : public Schedule {
 public:
  /// Order and meter must live as long. `at_timeout` is called once, where it comes. With CountOrder::multiplex the
  /// counters are read as often as the kernel lends them to others, every `rotation`.
  Conductor(const CountOrder& order, Meter& meter, Nanoseconds rotation, std::function<void()> at_timeout);

  /// The command begins, or what is attached to is counted from here on. Starts the counters where there is no delay
  /// and they wait to be told.
  void begin(Nanoseconds now);

  std::optional<Nanoseconds> next() const override;
  void due(Nanoseconds now) override;

  /// The counts of the whole time, those of a time-out where that came first; ends the last interval.
  std::vector<Count> finish(Nanoseconds now);

  /// Whether counting has begun: a program may end within the delay.
  bool began() const { return started_.count() != 0; }

  /// Asks, at the end of each interval, why the counters do not have all of the program; empty: they have. What it is
  /// given is the longest time that one of them was on. From the first reason on, intervals are partial.
  void watch_for_loss(std::function<std::string(Nanoseconds)> why_lost) { why_lost_ = std::move(why_lost); }

  /// The counters turned out not to have all of the program: no interval can be believed to. After finish().
  void mark_lost(const std::string& why);

  /// From the first count on to the last.
  Nanoseconds counted(Nanoseconds end) const;

  const std::vector<result::Interval>& intervals() const { return intervals_; }

 private:
  void start(Nanoseconds now);
  void end_slice(const std::vector<Count>& counts);
  void end_interval(Nanoseconds now, std::vector<Count> counts);
  EventCount in_interval(std::size_t index, const std::vector<Count>& counts, Nanoseconds length) const;

  const CountOrder& order_;
  Meter& meter_;
  Nanoseconds rotation_;
  std::function<void()> at_timeout_;
  std::function<std::string(Nanoseconds)> why_lost_;  // may be empty
  std::string lost_;                                  // what it said
  Nanoseconds begun_{0};                              // the command, or the attachment
  std::optional<Nanoseconds> delayed_;                // when the counters are to start
  Nanoseconds started_{0};                            // when they did
  std::optional<Nanoseconds> next_end_;               // of an interval
  std::optional<Nanoseconds> last_call_;              // the time-out
  std::optional<Nanoseconds> next_read_;              // at counters that are lent in turns
  std::vector<Reading> seen_;                         // what they held at the last one
  std::vector<Slices> slices_;
  Nanoseconds last_end_{0};
  std::vector<Count> before_;  // at the end of the last interval
  std::optional<std::vector<Count>> final_;
  Nanoseconds ended_{0};
  std::vector<result::Interval> intervals_;
};

/// The same count where something else was counted than the whole run: what came from the kernel's bookkeeping of that
/// is partial. `windowed`: the count is of the time that was counted.
Count timed(Count count, const Timing& timing, bool windowed);

}  // namespace tally::backend

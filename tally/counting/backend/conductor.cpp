#include "tally/counting/backend/conductor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/result/interval_reason.hpp"

namespace tally::backend {
namespace {

/// How long a program may take to end after SIGTERM.
constexpr Nanoseconds patience = std::chrono::seconds(5);

/// Returns a count of the kernel's counters as partial, with the reason `why` for their loss. Other counts, and all
/// counts if `why` is empty, stay as they are.
Count partial_of_lost(Count count, const std::string& why) {
  const bool by_counter = count.source == Source::kernel || count.reading;
  if (why.empty() || !by_counter || !count.value) return count;
  return downgraded(std::move(count), Trust::partial, why);
}

}  // namespace

Conductor::Conductor(const Order& order, Meter& meter, Nanoseconds rotation,
                     std::function<void(linux::End)> end_program)
    : order_(order), count_(*order.count()), meter_(meter), rotation_(rotation), end_program_(std::move(end_program)) {}

void Conductor::begin(Nanoseconds now) {
  begun_ = now;
  if (count_.timing.starts_off) return;
  if (count_.timing.delay) {
    delayed_ = now + *count_.timing.delay;
  } else {
    start(now);
  }
}

void Conductor::start(Nanoseconds now) {
  delayed_.reset();
  started_ = now;
  last_end_ = now;
  // Without a delay, the execve of a command starts its counters.
  if (count_.timing.starts_late() || order_.target.attachment.any()) meter_.enable();
  if (count_.timing.interval) {
    before_ = meter_.read();
    next_end_ = now + *count_.timing.interval;
  }
  if (count_.multiplex) {
    seen_.assign(order_.events.size(), Reading{});
    slices_.assign(order_.events.size(), Slices{});
    next_read_ = now + rotation_;
  }
  if (count_.timing.timeout) last_call_ = now + *count_.timing.timeout;
}

std::optional<Nanoseconds> Conductor::next() const {
  std::optional<Nanoseconds> soonest;
  for (const auto& time : {delayed_, next_end_, last_call_, next_read_, kill_at_}) {
    if (time && (!soonest || *time < *soonest)) soonest = time;
  }
  return soonest;
}

void Conductor::due(Nanoseconds now) {
  if (delayed_ && *delayed_ <= now) start(now);
  if (next_read_ && *next_read_ <= now) {
    end_slice(meter_.read());
    next_read_ = linux::now() + rotation_;
  }
  if (next_end_ && *next_end_ <= now) {
    end_interval(now, meter_.read());
    // If this call is late, the time that it missed belongs to the interval that just ended.
    while (*next_end_ <= now) *next_end_ += *count_.timing.interval;
  }
  if (last_call_ && *last_call_ <= now) {
    last_call_.reset();
    timed_out_ = true;
    end(now);
  }
  if (kill_at_ && *kill_at_ <= now) {
    kill_at_.reset();
    killed_ = true;
    end_program_(linux::End::kill);
  }
}

void Conductor::end(Nanoseconds now) {
  (void)finish(now);
  if (!kill_at_) kill_at_ = now + patience;
  end_program_(linux::End::ask);
}

int Conductor::commands_fd() const { return count_.timing.control != nullptr ? count_.timing.control->fd() : -1; }

void Conductor::take_commands(Nanoseconds now) {
  if (count_.timing.control == nullptr) return;
  for (const std::string& command : count_.timing.control->take())
    if (carry_out(command, now)) count_.timing.control->acknowledge();
}

// The commands of perf stat. One that is unknown gets no answer, as from perf.
bool Conductor::carry_out(const std::string& command, Nanoseconds now) {
  if (command == "enable") {
    switch_on(now);
  } else if (command == "disable") {
    switch_off(now);
  } else if (command == "stop") {
    end(now);
  } else if (command != "ping") {
    if (std::find(unknown_.begin(), unknown_.end(), command) == unknown_.end()) unknown_.push_back(command);
    return false;
  }
  return true;
}

void Conductor::switch_on(Nanoseconds now) {
  if (final_) return;
  if (!began()) {
    start(now);
  } else if (off_since_) {
    off_ += now - *std::exchange(off_since_, std::nullopt);
    meter_.enable();
  }
}

void Conductor::switch_off(Nanoseconds now) {
  delayed_.reset();
  if (final_ || !began() || off_since_) return;
  meter_.disable();
  off_since_ = now;
}

std::vector<Count> Conductor::finish(Nanoseconds now) {
  if (final_) return *final_;
  final_ = meter_.read();
  ended_ = now;
  if (next_end_ && now > last_end_) end_interval(now, *final_);
  if (next_read_) {
    end_slice(*final_);
    add_errors(*final_, slices_);
    next_read_.reset();
  }
  next_end_.reset();
  return *final_;
}

Nanoseconds Conductor::counted(Nanoseconds end) const {
  if (started_.count() == 0) return Nanoseconds{0};
  const Nanoseconds last = final_ ? ended_ : end;
  return last - started_ - off_ - (off_since_ ? last - *off_since_ : Nanoseconds{0});
}

void Conductor::end_slice(const std::vector<Count>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i].reading) continue;
    slices_[i].add(*counts[i].reading - seen_[i]);
    seen_[i] = *counts[i].reading;
  }
}

void Conductor::mark_lost(const std::string& why) {
  for (result::Interval& interval : intervals_)
    for (EventCount& event_count : interval.counts)
      event_count.count = partial_of_lost(std::move(event_count.count), why);
}

void Conductor::end_interval(Nanoseconds now, std::vector<Count> counts) {
  if (lost_.empty() && why_lost_) {
    Nanoseconds enabled{0};
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i].reading && !event::is_of_machine(order_.events[i]))
        enabled = std::max(enabled, counts[i].reading->time_enabled);
    lost_ = why_lost_(enabled);
  }
  result::Interval interval{1, now - begun_, {}};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    interval.counts.push_back(in_interval(i, counts, now - last_end_));
  }
  before_ = std::move(counts);
  last_end_ = now;
  if (count_.timing.on_interval) count_.timing.on_interval(interval);
  intervals_.push_back(std::move(interval));
}

EventCount Conductor::in_interval(std::size_t index, const std::vector<Count>& counts, Nanoseconds length) const {
  const event::Event& event = order_.events[index];
  if (event.id == event::Id::duration_time) return event_count(event, meter_.duration(length));
  const bool at_end_only = event::definition(event.id).kind == event::Kind::software && !kernel_event(event.id);
  if (at_end_only) return event_count(event, absent(result::only_at_end));
  return event_count(event, partial_of_lost(counts[index] - before_[index], lost_));
}

void add_control_notices(const Conductor& conductor, std::vector<std::string>& notices) {
  if (conductor.timed_out())
    notices.emplace_back("--timeout: counts end there; tally then sent SIGTERM to the program");
  if (conductor.killed())
    notices.emplace_back("the program did not end within 5 seconds of SIGTERM; tally sent SIGKILL to it");
  for (const std::string& command : conductor.unknown_commands())
    notices.push_back(
        fmt::format("the command '{}' of --control is unknown, and ignored: use enable, disable, ping or stop",
                    printable(command)));
}

Count timed(Count count, const Timing& timing, bool windowed) {
  if (!timing.is_partial() || windowed) return count;
  return downgraded(std::move(count), Trust::partial, "covers the whole run, not only the counted part");
}

}  // namespace tally::backend

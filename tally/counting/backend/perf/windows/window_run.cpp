#include "tally/counting/backend/perf/windows/window_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <mutex>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/native.hpp"
#include "tally/counting/backend/perf/taken_counters.hpp"
#include "tally/counting/backend/perf/window_reader.hpp"
#include "tally/counting/backend/perf/windows/traced_windows.hpp"
#include "tally/counting/backend/perf/windows/window_groups.hpp"
#include "tally/counting/backend/perf/windows/window_maker.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/perf/exec_watch.hpp"
#include "tally/linux/process/announcements.hpp"
#include "tally/linux/process/process_watch.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/linux/process/start_barrier.hpp"

namespace tally::backend::perf {
namespace {

// Bounds the delay of rows of a program that makes few.
constexpr int poll_each_ms = 200;

constexpr int window_tries = 20;
Error too_many_starts() {
  return {Code::cannot_measure, "threads start and end faster than counters can be opened on them",
          "let tally start the program", 0};
}

// Windows from groups that threads inherit.
class InheritedWindows final : public WindowSource {
 public:
  InheritedWindows(const Order& order, const WindowEvents& events) : order_(order), events_(events), groups_(events) {}

  Result<void> open(std::int32_t process, std::int32_t thread, linux::PerfStart start) {
    if (auto opened = groups_.open(thread, start); !opened) return opened;
    roots_.emplace_back(process, thread);
    return {};
  }

  Result<void> open_command(pid_t child) override { return open(child, child, linux::PerfStart::at_exec); }

  // Adds one more process after begin(), with all its threads. Returns false if it is counted already, as a descendant
  // of another one.
  Result<bool> add(std::int32_t process) {
    const std::lock_guard lock(mutex_);
    take(linux::now().count());
    if (maker_->is_counted(process)) return false;
    const std::size_t before = roots_.size();
    const auto undo = [&] {
      groups_.close_after(before);
      roots_.resize(before);
    };
    for (int tries = 1;; ++tries) {
      const auto threads = linux::threads_of(process);
      for (const pid_t thread : threads) {
        auto opened = open(process, thread, linux::PerfStart::when_enabled);
        if (opened || opened.error().os_errno == ESRCH) continue;
        undo();
        return fail(opened.error());
      }
      if (linux::threads_of(process) == threads) break;
      undo();
      if (tries == window_tries) return fail(too_many_starts());
    }
    if (roots_.size() == before)
      return fail(Error{Code::cannot_measure, fmt::format("process {} has ended", process), "", ESRCH});
    for (std::size_t i = before; i < roots_.size(); ++i) add_root(i);
    name_counters();
    groups_.enable(before);
    return true;
  }

  Result<void> begin(Nanoseconds started) override {
    maker_.emplace(WindowShape{events_.every, events_.is_clock, groups_.width(), groups_.processors()}, started.count(),
                   [this](const result::Window& window) { order_.windows()->sink.on_window(window); });
    for (std::size_t i = 0; i < roots_.size(); ++i) add_root(i);
    name_counters();
    result::WindowsHead head = events_.head;
    // The trigger's second counter comes right after the trigger.
    for (const auto& place : events_.places)
      head.places.push_back(place && *place > 0 ? std::optional<std::size_t>(*place + 1) : place);
    places_ = head.places;
    if (order_.windows()->sink.on_begin) order_.windows()->sink.on_begin(head);
    auto reader = WindowReader::start(
        groups_.descriptors(),
        [this] {
          const std::lock_guard lock(mutex_);
          take(linux::now().count());
        },
        poll_each_ms);
    if (!reader) return fail(reader.error());
    reader_ = std::move(*reader);
    return {};
  }

  void enable() const { groups_.enable(); }

  void finish() override {
    groups_.disable();
    reader_->finish();
    take(std::numeric_limits<std::int64_t>::max());
    totals_ = groups_.totals();
    std::vector<std::int64_t> sums;
    for (const linux::PerfValue& one : totals_) sums.push_back(static_cast<std::int64_t>(one.value));
    maker_->finish(linux::now().count(), sums);
  }

  std::vector<Count> counts() const override {
    std::vector<Count> counts;
    for (std::size_t i = 0; i < order_.events.size(); ++i) {
      const Count& like = events_.head.events[i].count;
      if (!places_[i]) {
        counts.push_back(like);
        continue;
      }
      std::int64_t sum = 0;
      const std::size_t place = std::max<std::size_t>(*places_[i], 1);
      for (std::size_t at = place; at < totals_.size(); at += groups_.width())
        sum += static_cast<std::int64_t>(totals_[at].value);
      counts.push_back(counted(sum, like.source));
    }
    return counts;
  }

  std::string why_lost() const override { return taken_.why(); }

  std::vector<std::string> notices() const override {
    std::vector<std::string> notes;
    notes.emplace_back(
        "each window counts one thread on one CPU; it resumes when the thread returns to that CPU. The program is not "
        "traced.");
    if (maker_->lost() > 0)
      notes.push_back(
          fmt::format("{} windows have no row of their own: records were lost, and the next row of each is "
                      "longer (column `lost`)",
                      maker_->lost()));
    if (maker_->any_unattributed())
      notes.push_back(
          fmt::format("the last windows of {} threads are one row, of thread 0: they were still running, or the "
                      "kernel did not report their counts",
                      maker_->unknown_ends() + 1));
    return notes;
  }

 private:
  void add_root(std::size_t i) {
    const auto [process, thread] = roots_[i];
    maker_->add_root(process, thread, linux::content(fmt::format("/proc/{}/comm", process)));
  }
  void name_counters() {
    groups_.name_counters([this](std::uint64_t id, std::size_t root, std::size_t processor, std::size_t place) {
      maker_->add_counter(id, root, processor, place);
    });
  }
  void take(std::int64_t until_ns) {
    groups_.take(until_ns, [this](const linux::SampleRecord& record) {
      maker_->see(record);
      taken_.see(record);
    });
  }

  const Order& order_;
  const WindowEvents& events_;
  WindowGroups groups_;
  std::vector<std::pair<std::int32_t, std::int32_t>> roots_;
  std::optional<WindowMaker> maker_;
  TakenCounters taken_;
  std::vector<std::optional<std::size_t>> places_;
  std::vector<linux::PerfValue> totals_;
  std::mutex mutex_;  // guards the maker and the groups once there is a reader
  std::unique_ptr<WindowReader> reader_;
};

void add_counts(Outcome& outcome, const Order& order, const std::vector<Count>& counts) {
  for (std::size_t i = 0; i < counts.size(); ++i) outcome.counts.push_back(event_count(order.events[i], counts[i]));
}

Result<Outcome> run_command(const Order& order, const WindowEvents& events, Follow follow) {
  CommandRun native(order);
  auto barrier = linux::StartBarrier::make();
  if (!barrier) return fail(barrier.error());
  if (const auto started = native.start(barrier->hooks()); !started) return fail(started.error());
  std::unique_ptr<WindowSource> windows;
  if (follow == Follow::as_the_kernel_can && can_inherit_samples(events))
    windows = std::make_unique<InheritedWindows>(order, events);
  else
    windows = std::make_unique<TracedWindows>(order, events);
  if (auto opened = windows->open_command(native.pid()); !opened) return fail(opened.error());
  native.begins_now();
  if (auto begun = windows->begin(native.started().time); !begun) return fail(begun.error());
  barrier->open();
  if (const auto executed = native.executed(); !executed) return fail(executed.error());
  const WaitResult left = native.wait(nullptr, windows->observer());
  windows->finish();
  const RunStatistics statistics = native.statistics();
  Outcome outcome = native.outcome(statistics);
  const std::string lost = windows->why_lost();
  if (!lost.empty()) outcome.missing.push_back("windows are missing: " + lost);
  const auto notes = windows->notices();
  outcome.notices.insert(outcome.notices.begin(), notes.begin(), notes.end());
  std::vector<Count> counts = windows->counts();
  for (Count& one : counts) {
    one = downgrade_if_running(std::move(one), left);
    if (!lost.empty() && one.value) one = downgraded(std::move(one), Trust::partial, lost);
  }
  add_counts(outcome, order, counts);
  return outcome;
}

// Opens counters on all threads. Threads that an opened thread starts are counted with it; threads of an unopened one
// are not, and cannot be distinguished. So the counters are opened again until no thread started in the meantime.
Result<std::unique_ptr<InheritedWindows>> open_attached(const Order& order, const WindowEvents& events) {
  const auto threads_now = [&] {
    std::vector<std::pair<std::int32_t, std::int32_t>> all;
    for (const std::int32_t process : order.target.attachment.processes)
      for (const pid_t thread : linux::threads_of(process)) all.emplace_back(process, thread);
    return all;
  };
  for (int tries = 1;; ++tries) {
    auto windows = std::make_unique<InheritedWindows>(order, events);
    const auto before = threads_now();
    for (const std::int32_t process : order.target.attachment.processes)
      if (!linux::is_process_alive(process)) return fail(linux::not_alive("process", process));
    for (const auto& [process, thread] : before)
      if (auto opened = windows->open(process, thread, linux::PerfStart::when_enabled);
          !opened && opened.error().os_errno != ESRCH)
        return fail(opened.error());
    if (threads_now() == before) return windows;
    if (tries == window_tries) return fail(too_many_starts());
  }
}

// Counts programs that others start, from the moment they are seen.
class AwaitedPrograms {
 public:
  AwaitedPrograms(const Order& order, const WindowEvents& events)
      : order_(order), watch_(order.target.attachment.awaited), windows_(order, events) {}

  Result<Outcome> run() {
    using Taken = linux::Signals::Taken;
    const Nanoseconds started = linux::now();
    // Opening counters on tally itself, which does not count, sets up the rings before a program is seen: that takes
    // milliseconds.
    if (auto opened = windows_.open(linux::own_pid(), linux::own_pid(), linux::PerfStart::when_enabled); !opened)
      return fail(opened.error());
    if (auto begun = windows_.begin(started); !begun) return fail(begun.error());
    report(fmt::format("waiting for {} to be executed{}", join(order_.target.attachment.awaited, " or "),
                       how_often_it_polls()));
    while (true) {
      for (const pid_t process : watch_.take())
        if (auto taken = take(process); !taken) return fail(taken.error());
      if (found_ > reported_ && !living_.any()) {
        if (!order_.windows()->awaits_next) break;
        report("the program has ended: waiting for the next one");
        reported_ = found_;
      }
      watch_.wait(living_, order_.conditions.signals->fd());
      const Taken taken = order_.conditions.signals->take(0);
      if (taken == Taken::interrupted || taken == Taken::give_up) break;
    }
    windows_.finish();
    Outcome outcome;
    outcome.duration = linux::now() - started;
    outcome.notices = windows_.notices();
    if (found_ == 0) outcome.notices = {"none of the awaited programs was executed"};
    if (found_ > 0 && !living_.any() && !order_.windows()->awaits_next)
      outcome.notices.push_back(
          fmt::format("{} ended: tally stops waiting", found_ == 1 ? "the program has" : "all programs have"));
    add_counts(outcome, order_, windows_.counts());
    return outcome;
  }

 private:
  void report(const std::string& line) const {
    if (order_.windows()->sink.on_news) order_.windows()->sink.on_news(line);
  }

  std::string how_often_it_polls() const {
    if (watch_.is_reported()) return "";
    return fmt::format(
        "; tally checks all processes every {} ms, because the kernel reports executed programs only to root and with "
        "CAP_PERFMON: then tally would see them at once, also those of other users",
        linux::ExecWatch::poll_each_ms);
  }

  Result<void> take(pid_t process) {
    auto taken = windows_.add(process);
    const int why = taken ? 0 : taken.error().os_errno;
    if (why == EMFILE || why == ENOMEM) {
      report(fmt::format("found process {}, but cannot count it: {}", process, taken.error().message));
      return {};
    }
    if (why == EACCES || why == EPERM) {
      report(fmt::format("found process {}, but cannot count it: {}; root or CAP_PERFMON may", process,
                         taken.error().message));
      return {};
    }
    if (!taken && !linux::is_process_alive(process)) {
      report(fmt::format("found process {}, but it ended before it could be counted", process));
      return {};
    }
    if (!taken) return fail(taken.error());
    if (!*taken) return {};
    ++found_;
    living_.add(process);
    // The first number is the time on a CPU in nanoseconds (Documentation/scheduler/sched-stats.rst).
    const auto ran =
        parse_integer(split(linux::content(fmt::format("/proc/{}/schedstat", process)), ' ').front()).value_or(0);
    report(fmt::format("found process {} ({}): counting starts now; before that it ran for at most {:.2f} ms", process,
                       printable(trimmed(linux::content(fmt::format("/proc/{}/comm", process)))),
                       static_cast<double>(ran) / 1e6));
    return {};
  }

  const Order& order_;
  linux::ExecWatch watch_;
  linux::ProcessWatch living_{{}, {}};
  InheritedWindows windows_;
  int found_ = 0;
  int reported_ = 0;  // of them, those whose end was reported
};

Result<Outcome> run_attached(const Order& order, const WindowEvents& events) {
  using Taken = linux::Signals::Taken;
  if (!can_inherit_samples(events))
    return fail(Code::cannot_measure,
                "on this kernel (before 6.12) threads cannot inherit counters that write the counts of their group",
                "let tally start the program");
  if (!order.target.attachment.awaited.empty()) return AwaitedPrograms(order, events).run();
  auto windows = open_attached(order, events);
  if (!windows) return fail(windows.error());
  linux::ProcessWatch living(order.target.attachment.processes, {});
  const Nanoseconds started = linux::now();
  // Starts the counters before the sink reports the beginning.
  (*windows)->enable();
  if (auto begun = (*windows)->begin(started); !begun) return fail(begun.error());
  while (living.any()) {
    living.wait(order.conditions.signals->fd(), -1);
    const Taken taken = order.conditions.signals->take(0);
    if (taken == Taken::interrupted || taken == Taken::give_up) break;
  }
  (*windows)->finish();
  Outcome outcome;
  outcome.duration = linux::now() - started;
  outcome.notices = (*windows)->notices();
  add_counts(outcome, order, (*windows)->counts());
  return outcome;
}

}  // namespace

Result<Outcome> run_windows(const Order& order, const std::vector<linux::PmuDevice>& cores, Follow follow) {
  const auto events = window_events(order, cores);
  if (!events) return fail(events.error());
  return order.target.attachment.any() ? run_attached(order, *events) : run_command(order, *events, follow);
}

}  // namespace tally::backend::perf

#include "tally/counting/backend/perf/profile/code_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/lost_counters.hpp"
#include "tally/counting/backend/native.hpp"
#include "tally/counting/backend/perf/profile/code_counters.hpp"
#include "tally/counting/backend/perf/profile/code_samples.hpp"
#include "tally/counting/backend/perf/profile/python_sampler.hpp"
#include "tally/counting/backend/perf/taken_counters.hpp"
#include "tally/counting/backend/perf/window_reader.hpp"
#include "tally/linux/files/code_files.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/process/process_watch.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/linux/process/start_barrier.hpp"

namespace tally::backend::perf {
namespace {

// Rings are emptied as they fill, and at least after this time.
constexpr int profile_poll_ms = 100;

// Records of different CPUs may arrive late by a little. Waiting this long ensures that a mapping is seen before its
// samples.
constexpr std::int64_t patience_ns = 20'000'000;

/// Whether the user asked for user mode only: by the event's name, its modifier or --user.
bool was_asked_so(const Order& order, const event::Event& event) {
  return order.profile()->sampling.user_only || event.id == event::Id::user_page_faults ||
         (event::has_modes(event::definition(event.id).kind) && event.mode == event::Mode::user);
}

/// Opens the files of code that no path of this process leads to, while a process still has them mapped.
void keep_unreachable_files(result::CodeCounts& code) {
  std::set<std::pair<std::uint32_t, std::int64_t>> tried;
  for (const result::CodeRow& row : code.rows) {
    result::CodeFile& file = code.files[row.file];
    const std::int64_t process = code.owners[row.owner].pid;
    if (!file.is_file() || file.kept != nullptr || !tried.emplace(row.file, process).second) continue;
    const auto now = linux::file_state(file.path);
    if (now && (file.inode == 0 || now->inode == file.inode)) continue;
    linux::Descriptor opened = linux::open_mapped(static_cast<pid_t>(process), file.path, file.inode);
    if (!opened) continue;
    const int number = opened.get();
    const auto kept = std::make_shared<const std::pair<linux::Descriptor, int>>(std::move(opened), number);
    file.kept = {kept, &kept->second};
  }
}

class CodeRun {
 public:
  CodeRun(const Order& order, const CodeEvents& events)
      : order_(order), events_(events), counters_(events), samples_(events.events.size(), events.calls) {
    const Nanoseconds since_1970 = std::chrono::system_clock::now().time_since_epoch();
    samples_.begin(since_1970.count(), (since_1970 - linux::now()).count());
  }

  CodeCounters& counters() { return counters_; }
  CodeSamples& samples() { return samples_; }

  Result<void> begin() {
    counters_.name_counters([this](std::uint64_t id, std::size_t event) { samples_.add_counter(id, event); });
    auto reader = WindowReader::start(
        counters_.descriptors(), [this] { take(linux::now().count() - patience_ns); }, profile_poll_ms);
    if (!reader) return fail(reader.error());
    reader_ = std::move(*reader);
    return {};
  }

  /// Adds the profile and its sums to the outcome. `command`: the statistics of the command, if a command was counted.
  void finish(Outcome& outcome, const WaitResult& left, const RunStatistics* command = nullptr) {
    counters_.disable();
    reader_->finish();
    take(std::numeric_limits<std::int64_t>::max());
    result::CodeCounts code = samples_.finish();
    keep_unreachable_files(code);
    // Counters of all that runs stay, whatever it executes.
    const std::string lost = order_.target.attachment.processors.empty() ? taken_.why() : "";
    for (std::size_t e = 0; e < events_.events.size(); ++e) {
      result::EventSampling how = events_.events[e].sampling;
      const result::EventSampling& came = code.sampling[e];
      how.samples = came.samples;
      how.lost = came.lost;
      if (how.user_only && !was_asked_so(order_, order_.events[e]))
        outcome.notices.push_back(
            fmt::format("{}: user mode only, because kernel.perf_event_paranoid does not allow the kernel's part",
                        printable(order_.events[e].asked)));
      how.throttled = came.throttled;
      how.effective = came.effective;
      const linux::PerfValue total = counters_.total(e);
      how.counted = static_cast<std::int64_t>(total.value);
      std::int64_t sum = 0;
      for (std::size_t row = 0; row < code.rows.size(); ++row) sum += code.counts[row * events_.events.size() + e];
      code.sampling[e] = how;
      Count count = downgrade_if_running(count_of(events_.events[e], how, total, sum), left);
      if (!lost.empty() && command == nullptr) count = downgraded(std::move(count), Trust::partial, lost);
      if (!lost.empty() && command != nullptr) {
        count = count_of_lost(order_.events[e], *command, std::move(count), lost);
        count.value = std::max(count.value.value_or(0), sum);
        code.unplaced[e] = *count.value - sum;
      }
      outcome.counts.push_back(event_count(order_.events[e], std::move(count)));
      code.events.push_back(outcome.counts.back());
    }
    if (samples_.lost_process_records() > 0)
      outcome.notices.push_back(
          fmt::format("{} records of mappings were lost because a ring was full: some code may have no name",
                      samples_.lost_process_records()));
    outcome.code = std::move(code);
  }

 private:
  void take(std::int64_t until_ns) {
    counters_.take(until_ns, [this](const linux::CodeRecord& record) {
      samples_.see(record);
      taken_.see(record);
    });
  }

  static Count count_of(const CodeEvents::SampledEvent& one, const result::EventSampling& how,
                        const linux::PerfValue& total, std::int64_t sum) {
    Count count = counted(sum, one.source);
    if (!how.of_all()) count = downgraded(std::move(count), Trust::sampled, "");
    if (how.lost > 0)
      count = downgraded(std::move(count), Trust::partial,
                         fmt::format("{} samples were lost because a ring was full", thousands(how.lost)));
    if (how.throttled > 0)
      count =
          downgraded(std::move(count), Trust::partial,
                     fmt::format("the kernel stopped sampling {} times to limit its cost", thousands(how.throttled)));
    // The times of several CPUs are not read at the same moment.
    constexpr double all_of_it = 0.99;
    if (static_cast<double>(total.running.count()) < all_of_it * static_cast<double>(total.enabled.count()))
      count = downgraded(
          std::move(count), Trust::partial,
          fmt::format("the counter was shared with other events: it ran {:.0f} % of the time",
                      100.0 * static_cast<double>(total.running.count()) / static_cast<double>(total.enabled.count())));
    if (!one.doubt.empty()) count = downgraded(std::move(count), Trust::partial, one.doubt);
    return count;
  }

  const Order& order_;
  const CodeEvents& events_;
  CodeCounters counters_;
  CodeSamples samples_;
  TakenCounters taken_;
  std::unique_ptr<WindowReader> reader_;
};

Result<Outcome> run_command(const Order& order, const CodeEvents& events) {
  CommandRun native(order);
  auto barrier = linux::StartBarrier::make();
  if (!barrier) return fail(barrier.error());
  if (const auto started = native.start(barrier->hooks()); !started) return fail(started.error());
  CodeRun run(order, events);
  if (auto opened = run.counters().open(native.pid(), linux::PerfStart::at_exec); !opened) return fail(opened.error());
  native.begins_now();
  if (auto begun = run.begin(); !begun) return fail(begun.error());
  barrier->open();
  if (const auto executed = native.executed(); !executed) return fail(executed.error());
  const WaitResult left = native.wait();
  const RunStatistics statistics = native.statistics();
  Outcome outcome = native.outcome(statistics);
  run.finish(outcome, left, &statistics);
  return outcome;
}

void add_living(CodeSamples& samples, std::int32_t process) {
  const std::string name = linux::content(fmt::format("/proc/{}/comm", process));
  const std::string program = linux::program_of(process);
  const std::string file = program.substr(program.rfind('/') + 1);
  samples.add_process(process, file.starts_with(name) ? file : name, linux::code_mappings(process));
  for (const pid_t thread : linux::threads_of(process))
    samples.add_thread(thread, linux::content(fmt::format("/proc/{}/task/{}/comm", process, thread)));
}

/// Opens the counters on all threads of the processes, and again until no thread started in the meantime. Threads that
/// an opened thread starts are sampled with it; threads of an unopened one are not, and cannot be distinguished.
Result<std::unique_ptr<CodeRun>> open_attached(const Order& order, const CodeEvents& events) {
  constexpr int tries_at_most = 20;
  const auto threads_now = [&] {
    std::vector<pid_t> all;
    for (const std::int32_t process : order.target.attachment.processes)
      for (const pid_t thread : linux::threads_of(process)) all.push_back(thread);
    return all;
  };
  for (int tries = 1;; ++tries) {
    auto run = std::make_unique<CodeRun>(order, events);
    const std::vector<pid_t> before = threads_now();
    for (const std::int32_t process : order.target.attachment.processes)
      if (!linux::is_process_alive(process)) return fail(linux::not_alive("process", process));
    for (const pid_t thread : before)
      if (auto opened = run->counters().open(thread, linux::PerfStart::when_enabled);
          !opened && opened.error().os_errno != ESRCH)
        return fail(opened.error());
    if (threads_now() == before) return run;
    if (tries == tries_at_most)
      return fail(Code::cannot_measure, "threads start and end faster than counters can be opened on them",
                  "let tally start the program");
  }
}

/// Runs the command, or waits until the processes have ended (none: they never do), the timeout has passed, or the user
/// interrupts.
Result<Outcome> wait_for_end(const Order& order, const std::vector<std::int32_t>& processes) {
  if (!order.target.command.empty()) {
    CommandRun native(order);
    if (const auto begun = native.start(); !begun) return fail(begun.error());
    if (const auto executed = native.executed(); !executed) return fail(executed.error());
    native.wait();
    return native.outcome(native.statistics());
  }
  using Taken = linux::Signals::Taken;
  const std::optional<Nanoseconds> timeout = order.profile()->timeout;
  const Nanoseconds started = linux::now();
  linux::ProcessWatch living(processes, {});
  while (processes.empty() || living.any()) {
    int milliseconds = -1;
    if (timeout) {
      const Nanoseconds left = *timeout - (linux::now() - started);
      if (left.count() <= 0) break;
      milliseconds = static_cast<int>(std::min<std::int64_t>(left.count() / 1'000'000 + 1, 60'000));
    }
    living.wait(order.conditions.signals->fd(), milliseconds);
    const Taken taken = order.conditions.signals->take(0);
    if (taken == Taken::interrupted || taken == Taken::give_up) break;
  }
  return Outcome{};
}

/// Samples everything that runs, while the command runs or until the user interrupts.
Result<Outcome> run_everywhere(const Order& order, const CodeEvents& events) {
  CodeRun run(order, events);
  if (auto opened = run.counters().open(-1, linux::PerfStart::when_enabled); !opened) {
    Error error = opened.error();
    if (error.os_errno == EACCES || error.os_errno == EPERM)
      error.hint = "-a requires root, or kernel.perf_event_paranoid at 0 or lower";
    return fail(error);
  }
  run.samples().add_process(0, "[idle]", {});
  run.samples().add_thread(0, "[idle]");
  for (const std::string& entry : linux::folder_entries("/proc"))
    if (const auto process = parse_integer(entry)) add_living(run.samples(), static_cast<std::int32_t>(*process));
  const Nanoseconds started = linux::now();
  if (auto begun = run.begin(); !begun) return fail(begun.error());
  run.counters().enable();
  auto outcome = wait_for_end(order, {});
  if (!outcome) return outcome;
  if (order.target.command.empty()) outcome->duration = linux::now() - started;
  run.finish(*outcome, {.ended = true});
  return outcome;
}

Result<Outcome> run_attached(const Order& order, const CodeEvents& events) {
  auto run = open_attached(order, events);
  if (!run) return fail(run.error());
  std::string left_out = linux::children_left_out(order.target.attachment.processes);
  // The mappings from before the counters were opened; the counters report later ones.
  for (const std::int32_t process : order.target.attachment.processes) add_living((*run)->samples(), process);
  const Nanoseconds started = linux::now();
  if (auto begun = (*run)->begin(); !begun) return fail(begun.error());
  (*run)->counters().enable();
  std::optional<PythonSampler> python;
  if (order.events.size() == 1 && event::is_clock(order.events.front()))
    python.emplace(order.target.attachment.processes);
  auto outcome = wait_for_end(order, order.target.attachment.processes);
  if (!outcome) return outcome;
  (*run)->finish(*outcome, {.ended = true});
  if (!left_out.empty()) outcome->notices.push_back(std::move(left_out));
  if (python) python->finish(outcome->code, outcome->notices);
  if (order.target.command.empty()) outcome->duration = linux::now() - started;
  return outcome;
}

}  // namespace

Result<Outcome> run_code(const Order& order, const std::vector<linux::PmuDevice>& cores) {
  const auto events = code_events(order, cores);
  if (!events) return fail(events.error());
  if (!order.target.attachment.processors.empty()) return run_everywhere(order, *events);
  return order.target.attachment.any() ? run_attached(order, *events) : run_command(order, *events);
}

}  // namespace tally::backend::perf

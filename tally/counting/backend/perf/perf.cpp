#include "tally/counting/backend/perf/perf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tally/counting/backend/candidate.hpp"
#include "tally/counting/backend/conductor.hpp"
#include "tally/counting/backend/engine_only.hpp"
#include "tally/counting/backend/lost_counters.hpp"
#include "tally/counting/backend/native.hpp"
#include "tally/counting/backend/perf/count/attached.hpp"
#include "tally/counting/backend/perf/count/census.hpp"
#include "tally/counting/backend/perf/count/corrections.hpp"
#include "tally/counting/backend/perf/count/planning.hpp"
#include "tally/counting/backend/perf/profile/code_run.hpp"
#include "tally/counting/backend/perf/windows/window_run.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/perf/group_probe.hpp"
#include "tally/linux/perf/known_work.hpp"
#include "tally/linux/process/start_barrier.hpp"
#include "tally/linux/process/usage.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::backend::perf {
namespace {

std::vector<linux::PmuDevice> devices_of(const linux::HostMachine& machine) {
  std::vector<linux::PmuDevice> devices;
  for (const std::string& name : machine.pmus) {
    if (auto device = linux::pmu_device("/", name)) devices.push_back(std::move(*device));
  }
  return devices;
}

bool is_software(const event::Event& event) { return event::definition(event.id).kind == event::Kind::software; }

// Keeps the counts of the kernel's own events for software_count(), which takes wait4(2) for those that did not open.
void keep_kernel_counts(const std::vector<event::Event>& events, const std::vector<Count>& counts,
                        RunStatistics& statistics) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!kernel_event(events[i].id) || !counts[i].reading) continue;
    const Reading& reading = *counts[i].reading;
    statistics.kernel.push_back(
        {events[i].id, 0,
         linux::PerfValue{static_cast<std::uint64_t>(reading.raw), reading.time_enabled, reading.time_running}});
  }
}

// Of events that start with the program.
Nanoseconds longest_enabled(const std::vector<event::Event>& events, const std::vector<Count>& counts) {
  Nanoseconds longest{0};
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i].reading && !event::is_of_machine(events[i]))
      longest = std::max(longest, counts[i].reading->time_enabled);
  return longest;
}

// Counts the command, or an attachment while the command runs.
class CommandCount {
 public:
  CommandCount(const Order& order, const std::vector<linux::PmuDevice>& cores)
      : order_(order), cores_(cores), counters_(order.events, cores), rotation_(rotation_of(cores)), native_(order) {}

  Result<Outcome> run() {
    auto barrier = linux::StartBarrier::make();
    if (!barrier) return fail(barrier.error());
    if (const auto started = native_.start(barrier->hooks()); !started) return fail(started.error());
    auto others = open();
    if (!others) return fail(others.error());
    Meter& meter = census_ ? static_cast<Meter&>(*census_) : counters_;
    Conductor conductor(order_, meter, rotation_, [this](linux::End how) { native_.end(how); });
    if (are_counters_on_from_exec())
      conductor.watch_for_loss([this](Nanoseconds enabled) { return why_lost(enabled); });
    native_.begins_now();
    conductor.begin(native_.started().time);
    barrier->open();
    if (const auto executed = native_.executed(); !executed) return fail(executed.error());
    const WaitResult left = native_.wait(&conductor, census_ ? &*census_ : nullptr);
    const std::vector<Count> counts = conductor.finish(linux::now());

    RunStatistics statistics = native_.statistics();
    if (!attached()) keep_kernel_counts(order_.events, counts, statistics);
    if (are_counters_on_from_exec() && left.ended)
      statistics.lost = why_counters_were_lost(longest_enabled(order_.events, counts), statistics.usage,
                                               order_.target.command.front());
    if (!statistics.lost.empty()) conductor.mark_lost(statistics.lost);
    Outcome outcome = native_.outcome(statistics);
    outcome.notices.insert(outcome.notices.begin(), others->notices.begin(), others->notices.end());
    outcome.intervals = conductor.intervals();
    add_control_notices(conductor, outcome.notices);
    const Nanoseconds duration = conductor.counted(linux::now());
    if (conductor.began()) {
      outcome.parts = parts_of(order_, cores_, counters_, duration);
      outcome.processes = census_ ? census_->finish() : processes_of(order_, *others, counters_, duration);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const event::Event& event = order_.events[i];
      outcome.counts.push_back(event_count(event, !conductor.began() ? absent(ended_within_delay)
                                                  : attached()
                                                      ? attached_count(event, counts[i], duration)
                                                      : windowed(of_command(event, counts[i], statistics, left))));
    }
    return outcome;
  }

 private:
  bool attached() const { return order_.target.attachment.any(); }

  // With a delay, a time-out or counters of each process, there is no expected time to compare with.
  bool are_counters_on_from_exec() const { return !attached() && !census_ && !order_.timing().is_partial(); }

  // While the program runs, only the processor time of the started process is available.
  std::string why_lost(Nanoseconds enabled) const {
    const auto usage = linux::usage_of_living(native_.pid());
    return usage ? why_counters_were_lost(enabled, *usage, order_.target.command.front()) : "";
  }

  Result<Attached> open() {
    if (attached()) return open_attached(order_.target.attachment, counters_);
    Attached none;
    if (order_.count()->processes) {
      auto census = Census::follow(native_.pid(), order_, counters_);
      if (census) {
        census_ = *std::move(census);
        return none;
      }
      none.notices.push_back(census.error().message);
    }
    const auto start = order_.timing().starts_late() ? linux::PerfStart::when_enabled : linux::PerfStart::at_exec;
    counters_.open({native_.pid(), -1, true, start});
    return none;
  }

  Count windowed(Count count) const {
    const bool is_of_the_time = count.source == Source::kernel || count.reading.has_value();
    return timed(std::move(count), order_.timing(), is_of_the_time);
  }

  static Count of_command(const event::Event& event, const Count& counted, const RunStatistics& statistics,
                          const WaitResult& left) {
    if (is_software(event)) return native_count(event, statistics, left);
    Count count = downgrade_if_running(counted, left);
    return statistics.lost.empty() ? count : downgraded(std::move(count), Trust::partial, statistics.lost);
  }

  const Order& order_;
  const std::vector<linux::PmuDevice>& cores_;
  Counters counters_;
  Nanoseconds rotation_;
  CommandRun native_;
  std::optional<Census> census_;
};

class Perf final : public Backend {
 public:
  Perf(const linux::HostMachine& machine, Use use) : machine_(machine), use_(use), cores_(devices_of(machine)) {}

  Traits traits() const override { return {.name = "perf", .has_pmu_counters = true}; }

  std::optional<Error> refuses(const Order& order) const override {
    if (auto refused = refuses_regions(order)) return refused;
    const bool needs_no_core =
        order.windows() != nullptr
            ? all_software(order.windows()->triggers)
            : std::all_of(order.events.begin(), order.events.end(),
                          [](const event::Event& event) { return is_software(event) || event::is_of_machine(event); });
    if (!needs_no_core) return refuses_hardware(order);
    return order.count() != nullptr && use_ == Use::by_name ? refused_by_kernel(order.events) : std::nullopt;
  }

  Result<Outcome> run(const Order& order) override {
    if (order.regions() != nullptr) return fail(*refuses(order));
    if (order.windows() != nullptr) return run_windows(order, cores_);
    if (order.profile() != nullptr) return run_code(order, cores_);
    const Corrections corrections(order, cores_);
    const Order& with_more = corrections.order();
    auto counts =
        order.target.command.empty() ? count_attached(with_more, cores_) : CommandCount(with_more, cores_).run();
    if (counts) corrections.apply(*counts);
    return counts;
  }

  Outlook outlook(const event::Event& event) const override {
    if (is_software(event)) return outlook_of(native_count(event, expected_statistics(event), {.ended = true}));
    Counters counters({event}, cores_);
    counters.open({});
    return outlook_of(counters.read().front());
  }

  event::Plan plan(const std::vector<event::Event>& events, bool count_interrupts) const override {
    const bool here = cores_.size() == 1;
    const auto interrupts = count_interrupts && here ? interrupt_event(cores_.front()) : std::nullopt;
    return perf::plan(events, interrupts, cores_, [here](const std::vector<linux::PerfEvent>& together) {
      return linux::counts_together(together, here);
    });
  }

  // Omits events that this PMU lacks, and events that it cannot count together with the others.
  std::vector<event::Event> default_set() const override {
    std::vector<event::Event> events = *event::parse_lists(
        {"instructions,cycles,branches,branch-misses,page-faults,context-switches,peak-memory,user_time,system_time",
         "duration_time"});
    std::erase_if(events, [this](const event::Event& event) { return outlook(event).trust == Trust::absent; });
    std::vector<event::Event> at_once;
    const event::Plan planned = plan(events, false);
    for (const std::size_t place : planned.passes.front()) at_once.push_back(std::move(events[place]));
    return at_once;
  }

 private:
  std::optional<Error> refuses_hardware(const Order& order) const {
    if (use_ == Use::kernel_events && (order.timing().any() || order.target.attachment.any())) return std::nullopt;
    const std::string why = why_not(machine_);
    if (why.empty()) return std::nullopt;
    return Error{Code::cannot_measure, "cannot count with a PMU: " + why,
                 has_engine() ? "`tally doctor` explains; `--backend engine` counts without a PMU"
                              : "`tally doctor` explains; `--backend none` runs the program natively",
                 0};
  }

  static std::optional<Error> refused_by_kernel(const std::vector<event::Event>& events) {
    for (const KernelCount& one : KernelCounters(events).read()) {
      if (one.os_errno == 0) continue;
      return Error{Code::cannot_measure,
                   fmt::format("the kernel refuses to count {} (perf_event_open): {}", event::definition(one.id).name,
                               linux::errno_text(one.os_errno)),
                   "`tally doctor` explains why; `--backend none` reports the values that the kernel keeps anyway",
                   one.os_errno};
    }
    return std::nullopt;
  }

  const linux::HostMachine machine_;
  const Use use_;
  const std::vector<linux::PmuDevice> cores_;
};

}  // namespace

std::unique_ptr<Backend> make(const linux::HostMachine& machine, Use use) {
  return std::make_unique<Perf>(machine, use);
}

extern const Candidate with_pmu, by_name, kernel_events;

const Candidate with_pmu{
    "perf", Candidate::ChoiceRule::automatic,
    [](const linux::HostMachine& machine, const std::optional<Simulation>&) { return make(machine, Use::pmu); },
    nullptr};

const Candidate by_name{
    "perf", Candidate::ChoiceRule::by_name,
    [](const linux::HostMachine& machine, const std::optional<Simulation>&) { return make(machine, Use::by_name); },
    nullptr};

const Candidate kernel_events{
    "perf", Candidate::ChoiceRule::last,
    [](const linux::HostMachine& machine, const std::optional<Simulation>&) {
      return make(machine, Use::kernel_events);
    },
    [](const linux::HostMachine&, const std::string& why) {
      return std::vector<std::string>{why + "; counting only kernel events (see `tally doctor`)"};
    }};

std::string why_not(const linux::HostMachine& machine) {
  const auto devices = devices_of(machine);
  for (const linux::PmuDevice& device : devices) {
    const auto type = devices.size() > 1 ? device.type : std::nullopt;
    const linux::KnownWork work = linux::count_known_work(type);
    std::string why = linux::why_not_trusted(work);
    if (why.empty()) continue;
    if (work.os_errno == EACCES && machine.perf_event_paranoid) {
      why += fmt::format("; kernel.perf_event_paranoid is {}", *machine.perf_event_paranoid);
    }
    return fmt::format("{}: {}", device.name, why);
  }
  return devices.empty() ? "the kernel reports no PMU for this processor" : "";
}

}  // namespace tally::backend::perf

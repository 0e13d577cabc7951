#include "programs/watch/watcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "programs/watch/live/resctrl.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/process/self.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;

bool is_asked(const Shown& shown, Kind kind) {
  return std::find(shown.kinds.begin(), shown.kinds.end(), kind) != shown.kinds.end();
}

std::vector<int> watched(const WatchedMachine& machine, const Shown& shown) {
  return shown.processors.empty() ? machine.processors : shown.processors;
}

}  // namespace

Watcher::Watcher(WatchRequest asked, WatchedMachine machine, Counters counters, TaskCounters task_counters)
    : asked_(std::move(asked)),
      machine_(std::move(machine)),
      counters_(std::move(counters)),
      task_counters_(std::move(task_counters)),
      root_(asked_.root),
      proc_(asked_.root + "/proc") {}

Result<Watcher> Watcher::open(WatchRequest asked) {
  WatchedMachine machine = read_watched_machine(asked.root);
  if (machine.processors.empty()) {
    return fail(Code::cannot_measure,
                fmt::format("cannot read the CPUs of this machine: {}/sys/devices/system/cpu/online",
                            asked.root == "/" ? "" : asked.root),
                "mount /sys, as root: mount -t sysfs sysfs /sys");
  }
  for (const int processor : asked.shown.processors) {
    const auto& there = machine.processors;
    if (std::find(there.begin(), there.end(), processor) == there.end()) {
      return fail(Code::bad_usage, fmt::format("processor {} does not exist or is offline", processor),
                  fmt::format("online processors: {}", machine.survey.online));
    }
  }
  Counters counters = Counters::open(machine, watched(machine, asked.shown));
  TaskCounters task_counters = TaskCounters::open(machine);
  complete_reasons(machine);
  Watcher watcher(std::move(asked), std::move(machine), std::move(counters), std::move(task_counters));
  watcher.now_ = watcher.read(nullptr);
  if (watcher.now_.kernel.times.processors.empty()) {
    return fail(Code::cannot_measure, "cannot read CPU times: /proc/stat has no line for a CPU",
                "mount /proc, as root: mount -t proc proc /proc");
  }
  return watcher;
}

Reading Watcher::read(const Reading* before) {
  Reading reading;
  reading.wall = std::chrono::system_clock::now().time_since_epoch();
  const linux::Moment moment = linux::this_moment();
  reading.time = moment.time;
  reading.ticks = moment.ticks;
  // First, and together, because they are divided by each other.
  reading.counts = counters_.read();
  reading.kernel = read_kernel_statistics(proc_);
  reading.hertz = frequencies(machine_.frequency, root_, watched(machine_, asked_.shown));
  for (const TemperatureSensor& sensor : machine_.sensors) {
    reading.temperatures.push_back(root_.number(sensor.path.c_str()));
  }
  for (const EnergyCounter& counter : machine_.energies) {
    const auto number = number_in(counter.path);
    reading.energies.push_back(number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt);
  }
  if (machine_.has_resctrl) {
    reading.caches = cache_monitors(machine_.root);
    reading.occupancy = occupancy_by_processor(machine_.root);
  }
  reading.uncore_hertz = uncore_frequencies(machine_.root);
  if (is_asked(asked_.shown, Kind::process)) {
    reading.processes = read_processes(machine_.root);
    reading.hides_processes = hides_processes(machine_.root);
    // With another sort column, other processes than the busiest may be shown without details.
    const Reading nothing;
    const std::vector<ProcessStatistics> shown = busiest(before ? *before : nothing, reading, asked_.shown);
    for (const ProcessStatistics& statistics : shown) {
      reading.details[statistics.process] = read_details(proc_, statistics.process);
    }
    reading.process_counts = task_counters_.read(machine_, shown);
  }
  if (is_asked(asked_.shown, Kind::group)) {
    reading.groups = read_groups(machine_.groups, asked_.most_groups);
    const Reading nothing;
    reading.group_counts =
        task_counters_.read(machine_, busiest_groups(before ? *before : nothing, reading, asked_.shown));
  }
  reading.own_time = linux::own_time();
  return reading;
}

result::WatchTable Watcher::next() {
  Reading later = read(&now_);
  result::WatchTable table = table_of(machine_, asked_.shown, now_, later);
  now_ = std::move(later);
  return table;
}

}  // namespace tally::watch

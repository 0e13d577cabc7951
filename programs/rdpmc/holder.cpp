#include "programs/rdpmc/holder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "programs/linux/rdpmc_switch.hpp"
#include "programs/linux/run_folder.hpp"
#include "tally/counting/backend/choose/own.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/self.hpp"

namespace tally::rdpmc {
namespace {

// Interval for checking whether the kernel moved a counter.
constexpr int poll_every_ms = 1000;

struct HeldCounter {
  std::size_t event;
  int processor;
  linux::PinnedCounter counter;
};

// Formats ascending numbers as "0-3,8".
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return text;
}

// The online processors of a PMU.
std::vector<int> processors_of(const std::string& root, const std::vector<linux::PmuDevice>& cores,
                               const std::string& pmu) {
  const std::string path = root + "/sys/devices/system/cpu/online";
  auto online = linux::listed_processors(linux::content(path)).value_or(std::vector<int>{});
  const auto core = std::find_if(cores.begin(), cores.end(), [&](const auto& one) { return one.name == pmu; });
  const auto its = core == cores.end() ? std::nullopt : linux::listed_processors(core->cpus);
  if (!its) return online;
  std::vector<int> both;
  std::set_intersection(online.begin(), online.end(), its->begin(), its->end(), std::back_inserter(both));
  return both;
}

Error no_counter(const Task& task, std::size_t event, int processor, const Error& why) {
  const std::string reason = why.os_errno == EMFILE ? linux::why_no_more_files() : why.message;
  std::string hint = "fewer events fit: -e";
  if (linux::content(task.root + "/proc/sys/kernel/nmi_watchdog") == "1") {
    hint += "; the kernel's NMI watchdog takes a counter of every processor (`sysctl kernel.nmi_watchdog=0` frees it)";
  }
  if (why.os_errno != 0) hint = "run `tally doctor` to see what can be counted here";
  return {Code::cannot_measure,
          fmt::format("no counter is available for {} on processor {}: {}", task.events[event].name, processor, reason),
          hint, why.os_errno};
}

Result<std::vector<HeldCounter>> pin_all(const Task& task) {
  std::vector<HeldCounter> all;
  for (std::size_t i = 0; i < task.events.size(); ++i) {
    for (const int processor : processors_of(task.root, task.cores, task.events[i].pmu)) {
      auto counter = task.pin(task.events[i].event, processor);
      if (!counter) return fail(no_counter(task, i, processor, counter.error()));
      if (!counter->place()) {
        return fail(
            no_counter(task, i, processor, {Code::cannot_measure, "the kernel reports no readable counter", "", 0}));
      }
      all.push_back({i, processor, *std::move(counter)});
    }
  }
  if (all.empty()) return fail(Code::cannot_measure, "the kernel lists no online CPU");
  return all;
}

// Processors with the event on the same counter share a row.
std::vector<Row> rows_of(const Task& task, const std::vector<HeldCounter>& held) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < task.events.size(); ++i) {
    std::vector<std::pair<std::optional<linux::CounterPlace>, std::vector<int>>> places;
    for (const HeldCounter& held_counter : held) {
      if (held_counter.event != i) continue;
      const auto place = held_counter.counter.place();
      auto same = std::find_if(places.begin(), places.end(), [&](const auto& other) { return other.first == place; });
      if (same == places.end()) same = places.insert(places.end(), {place, {}});
      same->second.push_back(held_counter.processor);
    }
    for (const auto& [place, numbers] : places) rows.push_back({place, ranges(numbers), task.events[i].name});
  }
  return rows;
}

Result<void> set_all(const Task& task) {
  for (const SwitchChange& change : task.switches) {
    if (change.before == change.set) continue;
    if (auto done = linux::write_rdpmc_switch(task.root, change.pmu, change.set); !done) return done;
  }
  return {};
}

// Changes the switches, then holds the counters until asked to end.
Result<void> hold_on(const Task& task, State& state, linux::Staying& staying) {
  if (auto done = set_all(task); !done) return done;
  // The kernel decides when it opens a counter whether it may be read: set the switch first.
  const auto held = pin_all(task);
  if (!held) return fail(held.error());
  state.rows = rows_of(task, *held);
  if (auto done = linux::write_run_note(folder_of(task.root), text_of(state)); !done) return done;
  if (!staying.ready()) return {};
  while (!staying.asked_to_end(poll_every_ms)) {
    auto rows = rows_of(task, *held);
    if (rows == state.rows) continue;
    state.rows = std::move(rows);
    // If it cannot be written the previous state stays; the next iteration tries again.
    (void)linux::write_run_note(folder_of(task.root), text_of(state));
  }
  return {};
}

}  // namespace

std::string folder_of(const std::string& root) { return (root == "/" ? "" : root) + "/run/tally-rdpmc"; }

bool put_back(const std::string& root, const std::vector<SwitchChange>& switches, std::vector<std::string>& notices) {
  bool all = true;
  for (const SwitchChange& change : switches) {
    if (change.before == change.set) continue;
    const auto now = linux::read_rdpmc_switch(root, change.pmu);
    if (now && *now == change.before) continue;
    if (now && *now != change.set) {
      notices.push_back(fmt::format("{}: the setting was {} before, but another program wrote {}: not restored",
                                    change.pmu, change.before, *now));
      continue;
    }
    const Result<void> done = now ? linux::write_rdpmc_switch(root, change.pmu, change.before) : fail(now.error());
    if (done) continue;
    all = false;
    notices.push_back(fmt::format("{}; it was {} before", done.error().message, change.before));
  }
  return all;
}

Result<void> hold(const Task& task, linux::Staying& staying) {
  State state{linux::identity_of(linux::process_number()), task.switches, {}};
  // Saved before anything is changed: if this process is killed, another one can restore the settings.
  if (auto done = linux::write_run_note(folder_of(task.root), text_of(state)); !done) return done;
  auto held = hold_on(task, state, staying);
  std::vector<std::string> unreported;
  if (put_back(task.root, task.switches, unreported)) linux::remove_run_note(folder_of(task.root));
  return held;
}

}  // namespace tally::rdpmc

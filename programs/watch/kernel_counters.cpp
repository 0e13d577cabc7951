#include "programs/watch/kernel_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <span>

#include "programs/watch/cache_events.hpp"
#include "programs/watch/uncore_events.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;
using linux::PerfEvent;

constexpr Id of_instructions[] = {Id::instructions, Id::cycles, Id::ipc};
constexpr Id of_caches[] = {Id::l3_misses, Id::l2_misses,          Id::l3_hits,
                            Id::l2_hits,   Id::l3_per_instruction, Id::l2_per_instruction};

void note_absent(WatchedMachine& machine, Id id, std::size_t reason) {
  for (const Kind kind : {Kind::core, Kind::socket, Kind::system}) {
    if (applies(definitions()[static_cast<std::size_t>(id)], kind)) {
      machine.column(id).reason[static_cast<std::size_t>(kind)] = reason;
    }
  }
}

std::size_t no_pmu(WatchedMachine& machine) {
  return machine.reasons.add("no-pmu", "the kernel provides no core PMU here",
                             "`tally doctor` explains why, and how to get one");
}

std::size_t of_files(WatchedMachine& machine) {
  return machine.reasons.add("not-opened", "counters can only be opened on this machine, not on one read from files");
}

// Returns the error of perf_event_open(2) as a reason.
std::size_t refused(WatchedMachine& machine, int os_errno, const std::string& what) {
  if (os_errno == EACCES || os_errno == EPERM) {
    const auto& paranoid = machine.survey.machine.perf_event_paranoid;
    return machine.reasons.add("no-permission",
                               fmt::format("counting whole CPUs is not permitted (perf_event_paranoid is {})",
                                           paranoid ? std::to_string(*paranoid) : "unknown"),
                               "run tally as root, with CAP_PERFMON, or after `sysctl kernel.perf_event_paranoid=0`");
  }
  if (os_errno == EMFILE) return machine.reasons.add("no-files", linux::why_no_more_files());
  return machine.reasons.add("not-countable",
                             fmt::format("the kernel does not count {} here: {}", what, linux::errno_text(os_errno)));
}

// Returns the PMU of a processor, if cores are of several kinds.
const linux::CorePmu* pmu_of(const WatchedMachine& machine, int processor) {
  for (const linux::CorePmu& pmu : machine.survey.core_pmus) {
    const auto cpus = linux::listed_processors(pmu.cpus);
    if (pmu.cpus.empty() || (cpus && std::find(cpus->begin(), cpus->end(), processor) != cpus->end())) return &pmu;
  }
  return nullptr;
}

// PERF_TYPE_HARDWARE, with the PMU's number in the upper half if there are several (linux/perf_event.h,
// PERF_PMU_TYPE_SHIFT).
PerfEvent generic(const WatchedMachine& machine, const linux::CorePmu& pmu, std::uint64_t number) {
  const bool is_hybrid = machine.survey.core_pmus.size() > 1 && pmu.type;
  return {linux::perf_type_hardware, (is_hybrid ? std::uint64_t{*pmu.type} << 32 : 0) | number};
}

}  // namespace

std::size_t why_no_core_counters(WatchedMachine& machine) {
  return machine.survey.core_pmus.empty() ? no_pmu(machine) : of_files(machine);
}

std::size_t why_refused(WatchedMachine& machine, int os_errno, const std::string& what) {
  return refused(machine, os_errno, what);
}

std::uint64_t core_type_bits(const WatchedMachine& machine, int processor) {
  const linux::CorePmu* pmu = pmu_of(machine, processor);
  return pmu ? generic(machine, *pmu, 0).config : 0;
}

int Counters::add(bool of_socket, int where, int processor, const std::vector<std::pair<PerfEvent, Member>>& events) {
  Group group{of_socket, where, {}, {}};
  for (const auto& [event, member] : events) {
    linux::PerfTarget target;
    target.thread = -1;
    target.processor = processor;
    target.whole_group = group.counters.empty();
    linux::PerfCounter counter =
        linux::open_counter(event, target, group.counters.empty() ? nullptr : &group.counters.front());
    if (!counter) return counter.os_errno;
    group.counters.push_back(std::move(counter));
    group.members.push_back(member);
  }
  groups_.push_back(std::move(group));
  return 0;
}

void Counters::open_cores(WatchedMachine& machine, const std::vector<int>& processors) {
  std::set<std::string> names;
  std::set<Counted> counted;
  int failed = 0, failed_caches = 0;
  // A hypervisor may scale the time-stamp counter, and not the cycles.
  bool reference_everywhere = !machine.is_virtual();
  std::map<std::string, std::vector<CacheEvent>> events_of;
  for (const int processor : processors) {
    const linux::CorePmu* pmu = pmu_of(machine, processor);
    if (!pmu) continue;
    // cycles and instructions: PERF_COUNT_HW_CPU_CYCLES and _INSTRUCTIONS.
    const int error = add(false, processor, processor,
                          {{generic(machine, *pmu, 0), {Counted::cycles, 1, false, {}, 0}},
                           {generic(machine, *pmu, 1), {Counted::instructions, 1, false, {}, 0}}});
    if (error != 0) {
      failed = error;
      break;
    }
    // PERF_COUNT_HW_REF_CPU_CYCLES, which not every PMU has.
    if (reference_everywhere) {
      reference_everywhere = add(false, processor, processor,
                                 {{generic(machine, *pmu, 9), {Counted::reference_cycles, 1, false, {}, 0}}}) == 0;
    }
    if (!events_of.contains(pmu->name)) {
      const auto device = linux::pmu_device(machine.root, pmu->name);
      // libpfm4 detects the processor that runs this; with two kinds of cores it knows only one.
      const bool is_one = machine.survey.core_pmus.size() == 1;
      events_of[pmu->name] = cache_events(is_one ? event::own_pmu({}) : nullptr, device.value_or(linux::PmuDevice{}));
    }
    std::vector<std::pair<PerfEvent, Member>> group;
    for (const CacheEvent& event : events_of[pmu->name]) {
      group.push_back(
          {{pmu->type.value_or(event::perf_type_raw), event.config}, {event.counts, 1, event.accesses, {}, 0}});
      names.insert(event.name);
      counted.insert(event.counts);
    }
    if (!group.empty() && failed_caches == 0) failed_caches = add(false, processor, processor, group);
  }
  if (failed != 0) {
    const auto reason = refused(machine, failed, "instructions and cycles");
    for (const Id id : of_instructions) note_absent(machine, id, reason);
    for (const Id id : of_caches) note_absent(machine, id, reason);
    return;
  }
  if (reference_everywhere) machine.column(Id::util).source = "PMU: ref-cycles; otherwise /proc/stat";
  for (const Id id : of_instructions) {
    machine.column(id).source = "PMU: instructions, cycles";
    note_absent(machine, id, machine.not_running);
  }
  const auto no_event =
      machine.reasons.add("no-event", "neither libpfm4 nor the kernel has such an event for this processor");
  const auto failure = failed_caches != 0 ? refused(machine, failed_caches, "hits and misses of caches") : no_event;
  const auto set_source = [&](Id id, std::initializer_list<Counted> needs) {
    const bool all = std::all_of(needs.begin(), needs.end(), [&](Counted one) { return counted.contains(one); });
    if (all && failed_caches == 0) machine.column(id).source = "PMU: " + join({names.begin(), names.end()}, ", ");
    note_absent(machine, id, !all ? no_event : failed_caches != 0 ? failure : machine.not_running);
  };
  set_source(Id::l3_misses, {Counted::l3_misses});
  set_source(Id::l2_misses, {Counted::l2_misses});
  set_source(Id::l3_hits, {Counted::l3_misses, Counted::l3_hits});
  set_source(Id::l2_hits, {Counted::l2_misses, Counted::l2_hits});
  set_source(Id::l3_per_instruction, {Counted::l3_misses});
  set_source(Id::l2_per_instruction, {Counted::l2_misses});
}

void Counters::open_software(WatchedMachine& machine, const std::vector<int>& processors) {
  const auto software = [](linux::KernelEvent event) {
    return PerfEvent{linux::perf_type_software, static_cast<std::uint64_t>(event)};
  };
  int failed = 0;
  for (const int processor : processors) {
    failed = add(false, processor, processor,
                 {{software(linux::KernelEvent::page_faults), {Counted::faults, 1, false, {}, 0}},
                  {software(linux::KernelEvent::context_switches), {Counted::switches, 1, false, {}, 0}}});
    if (failed != 0) break;
  }
  const auto reason = failed != 0 ? refused(machine, failed, "page faults and context switches") : machine.not_reported;
  for (const Id id : {Id::faults, Id::switches}) {
    for (const Kind kind : {Kind::core, Kind::socket}) {
      machine.column(id).reason[static_cast<std::size_t>(kind)] = reason;
    }
    if (failed == 0) machine.column(id).source += "; perf_event_open: the kernel's own event, of each processor";
  }
}

void Counters::open_around(WatchedMachine& machine) {
  int failed = 0;
  std::set<Counted> opened;
  for (const AroundEvent& event : around_events(machine)) {
    const int error = add(true, event.socket, event.processor,
                          {{{event.type, event.config, false, false, event.config1, event.config2},
                            {event.counts, event.scale, false, {}, 0}}});
    if (error != 0) {
      failed = error;
    } else {
      opened.insert(event.counts);
    }
  }
  report_neighbours(machine, opened, failed == 0 ? std::optional<std::size_t>{} : refused(machine, failed, "this"));
}

Counters Counters::open(WatchedMachine& machine, const std::vector<int>& processors) {
  Counters counters;
  const auto of_processors = machine.reasons.add(
      "counted-by-processor", "hits and misses are counted per CPU, not per process or group",
      machine.survey.core_pmus.empty() ? "" : "`tally stat -p PID` and `tally stat --cgroup PATH` count these");
  for (const Id id : of_caches) {
    for (const Kind kind : {Kind::process, Kind::group}) {
      machine.column(id).reason[static_cast<std::size_t>(kind)] = of_processors;
    }
  }
  const bool is_here = machine.root == "/";
  if (machine.survey.core_pmus.empty() || !is_here) {
    const auto reason = why_no_core_counters(machine);
    for (const Id id : of_instructions) note_absent(machine, id, reason);
    for (const Id id : of_caches) note_absent(machine, id, reason);
  } else {
    counters.open_cores(machine, processors);
  }
  if (is_here) {
    counters.open_software(machine, processors);
    counters.open_around(machine);
  } else {
    for (const Id id : {Id::faults, Id::switches}) {
      for (const Kind kind : {Kind::core, Kind::socket}) {
        machine.column(id).reason[static_cast<std::size_t>(kind)] = of_files(machine);
      }
    }
    report_neighbours(machine, {}, around_events(machine).empty() ? std::optional<std::size_t>{} : of_files(machine));
  }
  return counters;
}

void Counters::take(Group& group, Sums& sums) {
  std::array<linux::PerfValue, linux::largest_group_read> values{};
  const std::span<linux::PerfValue> read(values.data(), group.members.size());
  const bool is_read = group.counters.front().read_group(read) == 0;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    Member& member = group.members[i];
    std::optional<double>& sum = sums[static_cast<std::size_t>(member.counts)];
    const auto enabled = static_cast<double>((read[i].enabled - member.last.enabled).count());
    const auto running = static_cast<double>((read[i].running - member.last.running).count());
    if (!is_read || (running <= 0 && enabled > 0)) {
      sum.reset();
      continue;
    }
    const auto counted = static_cast<double>(read[i].value - member.last.value);
    // The counter was shared for a part of the time, so its count is extrapolated.
    if (running > 0) member.sum += counted * std::max(1.0, enabled / running) * member.scale;
    member.last = read[i];
    sum = sum.value_or(0) + member.sum;
  }
}

Counts Counters::read() {
  Counts counts;
  for (Group& group : groups_) {
    Sums& sums = group.of_socket ? counts.sockets[group.where] : counts.processors[group.where];
    take(group, sums);
    for (const Member& member : group.members) {
      if (!member.accesses) continue;
      // Hits are lookups minus misses.
      std::optional<double>& hits = sums[static_cast<std::size_t>(member.counts)];
      const bool third = member.counts == Counted::l3_hits;
      const auto& misses = sums[static_cast<std::size_t>(third ? Counted::l3_misses : Counted::l2_misses)];
      if (hits && misses) {
        *hits -= *misses;
      } else {
        hits.reset();
      }
    }
  }
  return counts;
}

}  // namespace tally::watch

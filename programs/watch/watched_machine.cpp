#include "programs/watch/watched_machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "programs/watch/live/kernel_statistics.hpp"
#include "programs/watch/live/resctrl.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/execute_cpuid.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;
constexpr Kind all_kinds[] = {Kind::core, Kind::socket, Kind::system, Kind::process, Kind::group};

// Returns the hint for data that a virtual machine does not have: the hypervisor hides most of it.
std::string of_virtual(const WatchedMachine& machine, const char* what) {
  return machine.is_virtual() ? fmt::format("this is a virtual machine, and its host shows it no {}", what) : "";
}

void set_reason(WatchedMachine& machine, Id id, std::size_t reason) {
  for (const Kind kind : all_kinds) machine.column(id).reason[static_cast<std::size_t>(kind)] = reason;
}

void set_reason(WatchedMachine& machine, Id id, Kind kind, std::size_t reason) {
  machine.column(id).reason[static_cast<std::size_t>(kind)] = reason;
}

// Sets the reason for row kinds that cannot have a column. Reasons for missing data overwrite it later.
void say_what_does_not_apply(WatchedMachine& machine) {
  const std::size_t no_such = machine.reasons.add("not-of-this", "no source reports this for such a row");
  for (const Definition& definition : definitions()) set_reason(machine, definition.id, no_such);
}

void note_missing(WatchedMachine& machine, Id id, std::size_t reason) {
  for (const Kind kind : all_kinds) {
    if (applies(definitions()[static_cast<std::size_t>(id)], kind)) set_reason(machine, id, kind, reason);
  }
}

void read_frequency(WatchedMachine& machine) {
  ColumnSource& column = machine.column(Id::cfreq);
  switch (machine.frequency) {
    case FrequencySource::cpufreq: column.source = "cpufreq/scaling_cur_freq"; return;
    case FrequencySource::cpuinfo: column.source = "/proc/cpuinfo (APERF and MPERF)"; return;
    case FrequencySource::nominal:
      note_missing(
          machine, Id::cfreq,
          machine.reasons.add("frequency-nominal",
                              "/proc/cpuinfo has only the nominal frequency: no cpufreq driver, and no APERF and "
                              "MPERF registers to measure by",
                              of_virtual(machine, "such registers")));
      return;
    case FrequencySource::none: break;
  }
  note_missing(machine, Id::cfreq,
               machine.reasons.add("no-cpufreq", "there is no cpufreq driver (/sys/devices/system/cpu/cpu0/cpufreq)",
                                   of_virtual(machine, "frequencies")));
}

void read_temperatures(WatchedMachine& machine) {
  std::set<std::string> drivers;
  bool has_critical = false, has_core = false;
  for (const TemperatureSensor& sensor : machine.sensors) {
    drivers.insert(sensor.driver);
    has_critical |= sensor.critical.has_value();
    has_core |= sensor.of == TemperatureSensor::Of::core;
  }
  if (drivers.empty()) {
    const auto reason = machine.reasons.add(
        "no-temperature",
        "no driver of processor temperatures: no coretemp, k10temp in /sys/class/hwmon, no such zone "
        "in /sys/class/thermal",
        of_virtual(machine, "sensors"));
    note_missing(machine, Id::temperature, reason);
    note_missing(machine, Id::margin, reason);
    return;
  }
  const std::string source = join({drivers.begin(), drivers.end()}, ", ");
  machine.column(Id::temperature).source = source;
  if (!has_core) {
    const auto reason = machine.reasons.add("temperature-of-whole",
                                            fmt::format("{} does not report temperatures of single cores", source));
    set_reason(machine, Id::temperature, Kind::core, reason);
    set_reason(machine, Id::margin, Kind::core, reason);
  }
  if (has_critical) {
    machine.column(Id::margin).source = source;
  } else {
    note_missing(machine, Id::margin,
                 machine.reasons.add("no-critical-temperature",
                                     fmt::format("{} does not report the throttling temperature", source)));
  }
}

void read_resctrl(WatchedMachine& machine) {
  const bool monitors = machine.has_resctrl && !cache_monitors(machine.root).empty();
  if (monitors) {
    machine.column(Id::l3_occupancy).source = "resctrl: llc_occupancy";
    machine.column(Id::local).source = "resctrl: mbm_local_bytes / mbm_total_bytes";
    set_reason(
        machine, Id::l3_occupancy, Kind::core,
        machine.reasons.add("resctrl-no-group",
                            "resctrl reports it for a whole L3 cache; no monitoring group contains only this CPU",
                            "as root: mkdir /sys/fs/resctrl/mon_groups/c0; echo 0 > "
                            "/sys/fs/resctrl/mon_groups/c0/cpus_list"));
    return;
  }
  const auto flags = split(linux::value_of(linux::content(machine.root + "/proc/cpuinfo"), "flags"), ' ');
  const bool can = std::find(flags.begin(), flags.end(), "cqm_occup_llc") != flags.end();
  const auto reason =
      can ? machine.reasons.add("resctrl-not-mounted",
                                "the processor monitors its L3 cache, but resctrl is not mounted",
                                "as root: mount -t resctrl resctrl /sys/fs/resctrl")
          : machine.reasons.add("no-resctrl",
                                "this processor or kernel does not monitor L3 occupancy and bandwidth (RDT)",
                                of_virtual(machine, "monitoring"));
  note_missing(machine, Id::l3_occupancy, reason);
  note_missing(machine, Id::local, reason);
}

void read_kernel(WatchedMachine& machine) {
  const std::string proc = machine.root + "/proc";
  FolderFiles files(proc);
  const KernelStatistics statistics = read_kernel_statistics(files);
  for (const Id id : {Id::util, Id::steal, Id::iowait}) machine.column(id).source = "/proc/stat";
  for (const Id id : {Id::user, Id::kernel}) machine.column(id).source = "/proc/stat; /proc/PID/stat; cpu.stat";
  machine.column(Id::runnable).source = "/proc/stat: procs_running";
  machine.column(Id::threads).source = "/proc/PID/stat";
  machine.column(Id::memory).source = "/proc/meminfo; /proc/PID/stat; memory.current";
  machine.column(Id::major_faults).source = "/proc/vmstat; /proc/PID/stat; memory.stat";
  machine.column(Id::faults).source = "/proc/vmstat; /proc/PID/stat; memory.stat";
  machine.column(Id::switches).source = "/proc/stat; /proc/PID/status";
  machine.column(Id::throttled).source = "cpu.stat";
  if (statistics.waited_ns.empty()) {
    note_missing(machine, Id::waiting,
                 machine.reasons.add(
                     "no-schedstat",
                     "the kernel does not record waiting times: /proc/schedstat is missing (CONFIG_SCHEDSTATS)"));
  } else {
    machine.column(Id::waiting).source = "/proc/schedstat";
  }
  const auto no_pressure = machine.reasons.add(
      "no-pressure", "the kernel does not report it: /proc/pressure is missing (CONFIG_PSI, or psi=1 at boot)");
  const std::pair<Id, bool> pressures[] = {{Id::cpu_pressure, statistics.cpu_pressure_us.has_value()},
                                           {Id::memory_pressure, statistics.memory_pressure_us.has_value()},
                                           {Id::io_pressure, statistics.io_pressure_us.has_value()}};
  for (const auto& [id, is_there] : pressures) {
    if (is_there) machine.column(id).source = "/proc/pressure";
    set_reason(machine, id, Kind::system, no_pressure);
  }
}

void read_groups_of(WatchedMachine& machine) {
  const GroupHierarchy& groups = machine.groups;
  const bool is_old = groups.unified.empty() && !(groups.cpuacct.empty() && groups.memory.empty());
  std::error_code error;
  const std::string hint = std::filesystem::exists(machine.root + "/run/systemd/system", error)
                               ? "boot with systemd.unified_cgroup_hierarchy=1 to use cgroup v2"
                               : "";
  const auto reason_of = [&](Id id) {
    if (!is_old)
      return machine.reasons.add("cgroup-controller",
                                 "its controller is not enabled for this group (cgroup.subtree_control), or this is "
                                 "the root group, which does not report it");
    if (id == Id::cpu_pressure || id == Id::memory_pressure)
      return machine.reasons.add("cgroup-v1-pressure",
                                 "cgroup v1 does not report pressure, and this group is not in the unified hierarchy, "
                                 "or the kernel does not record pressure (CONFIG_PSI)",
                                 hint);
    const char* name = id == Id::memory || id == Id::faults || id == Id::major_faults ? "memory"
                       : id == Id::throttled                                          ? "cpu"
                                                                                      : "cpuacct";
    return machine.reasons.add(fmt::format("cgroup-v1-{}", name),
                               fmt::format("this group is not in the hierarchy {} of cgroup v1", name), hint);
  };
  for (const Definition& definition : definitions()) {
    if (applies(definition, Kind::group)) set_reason(machine, definition.id, Kind::group, reason_of(definition.id));
  }
}

}  // namespace

std::size_t Reasons::add(std::string code, std::string text, std::string hint) {
  result::WatchReason reason{std::move(code), std::move(text), std::move(hint)};
  const auto same = std::find(all_.begin(), all_.end(), reason);
  if (same != all_.end()) return static_cast<std::size_t>(same - all_.begin());
  // A code identifies one text, because programs read it.
  const std::string stem = reason.code;
  const auto is_taken = [&](const result::WatchReason& watch_reason) { return watch_reason.code == reason.code; };
  for (int number = 2; std::any_of(all_.begin(), all_.end(), is_taken); ++number) {
    reason.code = fmt::format("{}-{}", stem, number);
    const auto other = std::find(all_.begin(), all_.end(), reason);
    if (other != all_.end()) return static_cast<std::size_t>(other - all_.begin());
  }
  all_.push_back(std::move(reason));
  return all_.size() - 1;
}

bool WatchedMachine::is_virtual() const {
  return survey.machine.hypervisor.value_or(processor && processor->under_hypervisor);
}

std::vector<int> WatchedMachine::sockets() const {
  std::set<int> all;
  for (const auto& [number, place] : places) all.insert(place.socket);
  return {all.begin(), all.end()};
}

WatchedMachine read_watched_machine(const std::string& root) {
  WatchedMachine machine;
  machine.root = root;
  machine.survey = linux::read_counting(root);
  machine.processors = linux::listed_processors(machine.survey.online).value_or(std::vector<int>{});
  for (const int processor : machine.processors) {
    machine.places[processor] = linux::cpu_position(processor, root).value_or(linux::CpuPosition{});
    if (const auto domain = l3_domain(processor, root)) machine.l3[processor] = *domain;
  }
  if (root == "/" && linux::cpuid(0)) {
    machine.processor = pmu::describe_processor([](std::uint32_t leaf, std::uint32_t subleaf) {
      const auto registers = linux::cpuid(leaf, subleaf).value_or(linux::CpuidRegisters{});
      return pmu::CpuidLeaf{registers.eax, registers.ebx, registers.ecx, registers.edx};
    });
  }
  if (root == "/") {
    if (const auto* table = event::own_pmu({})) machine.event_names = table->what;
  }
  machine.frequency = frequency_source(root, machine.processors);
  machine.sensors = temperature_sensors(root);
  machine.energies = energy_counters(root);
  machine.power = power_limits(root);
  machine.base_hertz = base_frequency(root);
  machine.groups = group_hierarchy(root);
  machine.has_resctrl = has_resctrl(root);

  say_what_does_not_apply(machine);
  read_groups_of(machine);
  read_frequency(machine);
  read_temperatures(machine);
  read_resctrl(machine);
  read_kernel(machine);
  machine.not_yet = machine.reasons.add("not-yet", "first reading: available from the next one on");
  machine.not_reported = machine.reasons.add("gone", "its source does not report this row, or could not be read");
  machine.no_ticks =
      machine.reasons.add("no-ticks", "this architecture has no time-stamp counter that programs can read");
  machine.too_short =
      machine.reasons.add("too-short", "the interval is shorter than a tick of the kernel's CPU accounting, 10 ms");
  machine.idle = machine.reasons.add("idle", "it did not run in this interval");
  machine.not_running =
      machine.reasons.add("not-running", "its counters were not scheduled in this interval: other events use them");
  return machine;
}

void complete_reasons(WatchedMachine& machine) {
  for (const Definition& definition : definitions()) {
    ColumnSource& column = machine.column(definition.id);
    for (const Kind kind : all_kinds) {
      std::size_t& reason = column.reason[static_cast<std::size_t>(kind)];
      const bool is_general = machine.reasons.all().at(reason).code == "not-of-this";
      if (!column.source.empty() && applies(definition, kind) && is_general) reason = machine.not_reported;
    }
  }
}

}  // namespace tally::watch

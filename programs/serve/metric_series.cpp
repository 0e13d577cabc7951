#include "programs/serve/metric_series.hpp"

#include <fmt/format.h>

#include <set>

#include "programs/serve/families.hpp"
#include "tally/core/base/text.hpp"

namespace tally::serve {
namespace {

using watch::Counted;
using watch::Reading;
using watch::WatchedMachine;

// The kernel accounts processor time in ticks of 10 ms (USER_HZ, proc(5)).
constexpr double ticks_per_second = 100;

std::optional<double> number(const std::optional<std::uint64_t>& value, double divisor = 1) {
  return value ? std::optional(static_cast<double>(*value) / divisor) : std::nullopt;
}

bool is_octal(std::string_view text) {
  return text.size() == 3 && text.find_first_not_of("01234567") == std::string_view::npos;
}

// Labels are UTF-8, but names of directories may contain any byte. A byte that is not UTF-8 is written as \ooo, and so
// is a backslash before three octal digits, so that labels stay unique.
std::string label_text(std::string_view path) {
  std::string text;
  for (std::size_t i = 0; i < path.size();) {
    std::size_t length = 1;
    while (length < 4 && i + length < path.size() && (path[i + length] & 0xC0) == 0x80) ++length;
    const std::string_view one = path.substr(i, length);
    const bool is_valid = valid_utf8(one) == one;
    const bool looks_escaped = path[i] == '\\' && is_octal(path.substr(i + 1, 3));
    if (is_valid && !looks_escaped) {
      text += one;
      i += length;
    } else {
      text += fmt::format("\\{:03o}", static_cast<unsigned char>(path[i]));
      ++i;
    }
  }
  return text;
}

std::string socket_of(const WatchedMachine& machine, int processor) {
  const auto place = machine.places.find(processor);
  return place == machine.places.end() ? "" : std::to_string(place->second.socket);
}

void add_times(const WatchedMachine& machine, const Reading& reading, Families& families) {
  families.counter("tally_cpu_seconds_total", "Time of each processor: busy, idle, and stolen by the hypervisor.");
  for (const auto& [processor, times] : reading.kernel.times.processors) {
    const std::string cpu = std::to_string(processor), socket = socket_of(machine, processor);
    const auto seconds = [](std::uint64_t ticks) { return static_cast<double>(ticks) / ticks_per_second; };
    families.add(seconds(times.user + times.kernel), {{"cpu", cpu}, {"socket", socket}, {"mode", "busy"}});
    families.add(seconds(times.idle + times.iowait), {{"cpu", cpu}, {"socket", socket}, {"mode", "idle"}});
    families.add(seconds(times.steal), {{"cpu", cpu}, {"socket", socket}, {"mode", "steal"}});
  }
  families.counter("tally_cpu_waiting_seconds_total", "Time that ready tasks waited for each processor.");
  for (const auto& [processor, waited] : reading.kernel.waited_ns) {
    families.add(static_cast<double>(waited) / 1e9, {{"cpu", std::to_string(processor)}});
  }
  families.gauge("tally_cpu_frequency_hertz", "Frequency of each processor.");
  for (const auto& [processor, hertz] : reading.hertz) families.add(hertz, {{"cpu", std::to_string(processor)}});
}

void add_counts(const Reading& reading, Families& families) {
  struct Line {
    const char* name;
    const char* help;
    Counted counted;
    const char* level;
  };
  constexpr Line lines[] = {
      {"tally_cpu_instructions_total", "Instructions retired, in user mode and in the kernel.", Counted::instructions,
       ""},
      {"tally_cpu_cycles_total", "Active cycles.", Counted::cycles, ""},
      {"tally_cpu_cache_misses_total", "Reads that missed a cache.", Counted::l3_misses, "3"},
      {"tally_cpu_cache_misses_total", "", Counted::l2_misses, "2"},
      {"tally_cpu_cache_hits_total", "Reads that hit a cache.", Counted::l3_hits, "3"},
      {"tally_cpu_cache_hits_total", "", Counted::l2_hits, "2"},
      {"tally_cpu_page_faults_total", "Page faults on each processor.", Counted::faults, ""},
      {"tally_cpu_context_switches_total", "Context switches on each processor.", Counted::switches, ""},
  };
  for (const Line& line : lines) {
    if (*line.help) families.counter(line.name, line.help);
    for (const auto& [processor, sums] : reading.counts.processors) {
      const auto& value = sums[static_cast<std::size_t>(line.counted)];
      if (*line.level) {
        families.add(value, {{"cpu", std::to_string(processor)}, {"level", line.level}});
      } else {
        families.add(value, {{"cpu", std::to_string(processor)}});
      }
    }
  }
}

void add_sensors(const WatchedMachine& machine, const Reading& reading, Families& families) {
  families.gauge("tally_temperature_celsius", "Temperature of cores, sockets and the machine.");
  std::set<std::string> seen;
  for (std::size_t i = 0; i < machine.sensors.size() && i < reading.temperatures.size(); ++i) {
    const watch::TemperatureSensor& sensor = machine.sensors[i];
    const bool of_core = sensor.of == watch::TemperatureSensor::Of::core;
    const bool of_socket = sensor.of == watch::TemperatureSensor::Of::socket;
    const std::string socket = of_core || of_socket ? std::to_string(sensor.socket) : "";
    const std::string core = of_core ? std::to_string(sensor.core) : "";
    // Two zones with one name would be two series with the same labels.
    if (!reading.temperatures[i] || !seen.insert(fmt::format("{} {} {}", socket, core, sensor.driver)).second) continue;
    families.add(static_cast<double>(*reading.temperatures[i]) / 1000,
                 {{"socket", socket}, {"core", core}, {"sensor", sensor.driver}});
  }
}

void add_sockets(const WatchedMachine& machine, const Reading& reading,
                 const std::vector<std::optional<double>>& joules, Families& families) {
  const auto sum = [&](int socket, Counted counted) -> std::optional<double> {
    const auto found = reading.counts.sockets.find(socket);
    if (found == reading.counts.sockets.end()) return std::nullopt;
    return found->second[static_cast<std::size_t>(counted)];
  };
  families.counter("tally_memory_read_bytes_total", "Read from memory by its controllers.");
  for (const int socket : machine.sockets()) {
    families.add(sum(socket, Counted::read_bytes), {{"socket", std::to_string(socket)}});
  }
  families.counter("tally_memory_written_bytes_total", "Written to memory by its controllers.");
  for (const int socket : machine.sockets()) {
    families.add(sum(socket, Counted::written_bytes), {{"socket", std::to_string(socket)}});
  }
  families.counter("tally_energy_joules_total", "Energy of processors and of memory.");
  using Of = watch::EnergyCounter::Of;
  for (const auto& [part, counted, of] : {std::tuple{"cpu", Counted::processor_joules, Of::processor},
                                          std::tuple{"dimm", Counted::memory_joules, Of::memory}}) {
    for (const int socket : machine.sockets()) {
      std::optional<double> value = sum(socket, counted);
      for (std::size_t i = 0; !value && i < machine.energies.size() && i < joules.size(); ++i) {
        if (machine.energies[i].of == of && machine.energies[i].socket == socket) value = joules[i];
      }
      families.add(value, {{"socket", std::to_string(socket)}, {"part", part}});
    }
  }
  families.gauge("tally_uncore_frequency_hertz", "Frequency of the uncore.");
  for (const auto& [socket, hertz] : reading.uncore_hertz) families.add(hertz, {{"socket", std::to_string(socket)}});
  families.gauge("tally_l3_occupancy_bytes", "Lines of each L3 cache that are in use, by resctrl.");
  for (const auto& [domain, cache] : reading.caches) {
    families.add(number(cache.occupancy_bytes), {{"l3", std::to_string(domain)}});
  }
  families.counter("tally_l3_traffic_bytes_total", "Memory traffic of each L3 cache, by resctrl.");
  for (const auto& [domain, cache] : reading.caches) {
    families.add(number(cache.total_bytes), {{"l3", std::to_string(domain)}, {"reach", "all"}});
    families.add(number(cache.local_bytes), {{"l3", std::to_string(domain)}, {"reach", "local"}});
  }
}

void add_system(const Reading& reading, Families& families) {
  const watch::KernelStatistics& kernel = reading.kernel;
  families.counter("tally_context_switches_total", "Context switches of the machine.");
  families.add(number(kernel.times.switches));
  families.gauge("tally_runnable_tasks", "Tasks that ran or were ready when it was read.");
  families.add(number(kernel.times.running));
  families.counter("tally_page_faults_total", "Page faults of the machine; those that read from a disk are major.");
  families.add(number(kernel.faults), {{"kind", "all"}});
  families.add(number(kernel.major_faults), {{"kind", "major"}});
  families.gauge("tally_memory_used_bytes", "Memory in use: all but what is available.");
  families.add(number(kernel.memory_bytes));
  families.counter("tally_pressure_waiting_seconds_total", "Time in which at least one task waited for a resource.");
  families.add(number(kernel.cpu_pressure_us, 1e6), {{"resource", "cpu"}});
  families.add(number(kernel.memory_pressure_us, 1e6), {{"resource", "memory"}});
  families.add(number(kernel.io_pressure_us, 1e6), {{"resource", "io"}});
}

void add_groups(const Reading& reading, Families& families) {
  const auto each = [&](auto member, double divisor) {
    for (const auto& group : reading.groups)
      families.add(number(group.*member, divisor), {{"cgroup", label_text(group.path)}});
  };
  using Group = watch::CgroupStatistics;
  families.counter("tally_cgroup_cpu_seconds_total", "Processor time of each control group.");
  each(&Group::used_us, 1e6);
  families.counter("tally_cgroup_throttled_seconds_total", "Time in which a group's own limit held it back.");
  each(&Group::throttled_us, 1e6);
  families.gauge("tally_cgroup_memory_bytes", "Memory of each control group.");
  each(&Group::memory_bytes, 1);
  families.counter("tally_cgroup_page_faults_total", "Page faults of each control group.");
  each(&Group::faults, 1);
  families.counter("tally_cgroup_major_page_faults_total", "Those that read from a disk.");
  each(&Group::major_faults, 1);
  families.counter("tally_cgroup_memory_waiting_seconds_total", "Time in which a task of the group waited for memory.");
  each(&Group::memory_pressure_us, 1e6);
  families.counter("tally_cgroup_cpu_waiting_seconds_total",
                   "Time in which a task of the group waited for a processor.");
  each(&Group::cpu_pressure_us, 1e6);
}

void add_processes(const ProcessSums& processes, Families& families) {
  const auto each = [&](auto member, double divisor) {
    for (const auto& [name, sum] : processes.sums())
      families.add(static_cast<double>(sum.*member) / divisor, {{"name", label_text(name)}});
  };
  families.gauge("tally_processes", "Processes with this name.");
  each(&ProcessSum::processes, 1);
  families.gauge("tally_process_threads", "Their threads.");
  each(&ProcessSum::threads, 1);
  families.gauge("tally_process_resident_bytes", "Their present memory; shared memory counts in each process.");
  each(&ProcessSum::resident_bytes, 1);
  families.counter("tally_process_cpu_seconds_total",
                   "Processor time of the processes with this name, up to the last reading before each ended.");
  each(&ProcessSum::ticks, ticks_per_second);
  families.counter("tally_process_page_faults_total", "Their page faults, up to the same reading.");
  each(&ProcessSum::faults, 1);
  families.counter("tally_process_major_page_faults_total", "Those that read from a disk.");
  each(&ProcessSum::major_faults, 1);
}

void add_own(const WatchedMachine& machine, const Reading& reading, const ExporterStats& own, Families& families) {
  families.gauge("tally_build_info", "The version of tally; always 1.");
  families.add(1, {{"version", own.version}});
  families.gauge("tally_absent_info", "A column that this machine has no source for, and why; always 1.");
  for (const watch::Definition& column : watch::definitions()) {
    const watch::ColumnSource& source = machine.column(column.id);
    if (!source.source.empty()) continue;
    for (const auto kind : {result::WatchKind::core, result::WatchKind::system, result::WatchKind::group}) {
      if (!watch::applies(column, kind)) continue;
      const std::size_t reason = source.reason[static_cast<std::size_t>(kind)];
      families.add(1, {{"column", std::string(column.name)},
                       {"rows", result::name(kind)},
                       {"reason", machine.reasons.all().at(reason).code}});
    }
  }
  if (own.hides_processes)
    families.add(1,
                 {{"column", "PROCESSES"}, {"rows", result::name(result::WatchKind::process)}, {"reason", "hidepid"}});
  families.gauge("tally_reading_timestamp_seconds", "When the machine was read last, since 1970.");
  families.add(static_cast<double>(reading.wall.count()) / 1e9);
  families.counter("tally_readings_total", "How often the machine was read.");
  families.add(static_cast<double>(own.readings));
  families.counter("tally_reading_seconds_total", "Time that reading took.");
  families.add(own.reading_seconds);
  families.counter("tally_own_cpu_seconds_total", "Processor time of this exporter.");
  families.add(own.processor_seconds);
}

}  // namespace

const std::vector<std::optional<double>>& Energy::add(const watch::WatchedMachine& machine,
                                                      const watch::Reading& reading) {
  sums_.resize(machine.energies.size());
  last_.resize(machine.energies.size());
  for (std::size_t i = 0; i < machine.energies.size() && i < reading.energies.size(); ++i) {
    const auto now = reading.energies[i];
    if (!now) continue;
    if (!sums_[i]) sums_[i] = 0;
    if (last_[i]) {
      const std::uint64_t used =
          *now >= *last_[i] ? *now - *last_[i] : *now + (machine.energies[i].range_uj - *last_[i]);
      *sums_[i] += static_cast<double>(used) / 1e6;
    }
    last_[i] = now;
  }
  return sums_;
}

std::vector<prometheus::MetricFamily> series_of(const WatchedMachine& machine, const Reading& reading,
                                                const std::vector<std::optional<double>>& joules,
                                                const ExporterStats& own, const ProcessSums& processes) {
  Families families;
  add_times(machine, reading, families);
  add_counts(reading, families);
  add_sensors(machine, reading, families);
  add_sockets(machine, reading, joules, families);
  add_system(reading, families);
  add_groups(reading, families);
  if (!own.hides_processes) add_processes(processes, families);
  add_own(machine, reading, own, families);
  return families.take();
}

}  // namespace tally::serve

#include <algorithm>
#include <cmath>
#include <set>

#include "programs/watch/table_rows.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;
using Sensor = TemperatureSensor;

std::size_t at(Counted one) { return static_cast<std::size_t>(one); }

Sums sums_of(const std::map<int, Sums>& all, int where) {
  const auto found = all.find(where);
  return found == all.end() ? Sums{} : found->second;
}

Grown grown_of(const std::map<int, Sums>& before, const std::map<int, Sums>& after, int where) {
  const Sums from = sums_of(before, where), to = sums_of(after, where);
  Grown grown;
  for (std::size_t i = 0; i < counted_count; ++i) grown[i] = Between::grown(from[i], to[i]);
  return grown;
}

// Adds to a sum, which is complete only if each part is available.
void add(Grown& sum, const Grown& part, bool is_first) {
  for (std::size_t i = 0; i < counted_count; ++i) {
    if (is_first) {
      sum[i] = part[i];
    } else if (sum[i] && part[i]) {
      *sum[i] += *part[i];
    } else {
      sum[i].reset();
    }
  }
}

std::optional<double> ratio(std::optional<double> of, std::optional<double> by) {
  if (!of || !by || *by <= 0) return std::nullopt;
  return *of / *by;
}

// The values of several processors together.
struct ProcessorSums {
  std::set<int> processors;
  double user = 0, kernel = 0, idle = 0, iowait = 0, steal = 0;  // ticks
  bool has_times = true, has_waited = true;
  double waited_ns = 0;
  double hertz = 0;
  int hertz_of = 0;
  Grown grown;
};

void add_processor(const Between& between, int processor, ProcessorSums& sum) {
  const auto from = between.before.kernel.times.processors.find(processor);
  const auto to = between.after.kernel.times.processors.find(processor);
  const bool both =
      from != between.before.kernel.times.processors.end() && to != between.after.kernel.times.processors.end();
  sum.has_times &= both;
  if (both) {
    // The kernel's idle time may decrease by a tick when a processor wakes: a negative difference is 0.
    const auto part = [](std::uint64_t a, std::uint64_t b) { return b > a ? static_cast<double>(b - a) : 0.0; };
    sum.user += part(from->second.user, to->second.user);
    sum.kernel += part(from->second.kernel, to->second.kernel);
    sum.idle += part(from->second.idle, to->second.idle);
    sum.iowait += part(from->second.iowait, to->second.iowait);
    sum.steal += part(from->second.steal, to->second.steal);
  }
  const auto waited = [](const Reading& reading, int which) -> std::optional<std::uint64_t> {
    const auto found = reading.kernel.waited_ns.find(which);
    return found == reading.kernel.waited_ns.end() ? std::nullopt : std::optional(found->second);
  };
  const auto more = Between::grown(waited(between.before, processor), waited(between.after, processor));
  sum.has_waited &= more.has_value();
  sum.waited_ns += more.value_or(0);
  if (const auto hertz = between.after.hertz.find(processor); hertz != between.after.hertz.end()) {
    sum.hertz += hertz->second;
    ++sum.hertz_of;
  }
  add(sum.grown, grown_of(between.before.counts.processors, between.after.counts.processors, processor),
      sum.processors.empty());
  sum.processors.insert(processor);
}

// The share of time that processors were not halted, as PCM computes it: reference cycles are counted at the rate of
// the time-stamp counter.
std::optional<double> share_not_halted(const Between& between, const ProcessorSums& sum) {
  if (!between.before.ticks || !between.after.ticks) return std::nullopt;
  const auto ticks = Between::grown(between.before.ticks, between.after.ticks);
  if (!ticks) return std::nullopt;
  const auto share =
      ratio(sum.grown[at(Counted::reference_cycles)], *ticks * static_cast<double>(sum.processors.size()));
  return share ? std::optional(std::min(1.0, *share)) : std::nullopt;
}

void set_together(const Between& between, const ProcessorSums& sum, bool with_software, result::WatchRow& row) {
  const double all = sum.user + sum.kernel + sum.idle + sum.iowait + sum.steal;
  for (const auto& [id, ticks] :
       {std::pair{Id::util, sum.user + sum.kernel}, std::pair{Id::user, sum.user}, std::pair{Id::kernel, sum.kernel},
        std::pair{Id::iowait, sum.iowait}, std::pair{Id::steal, sum.steal}}) {
    if (sum.has_times && all > 0)
      Between::set(row, id, ticks / all);
    else
      Between::say(row, id, sum.has_times ? between.machine.too_short : between.machine.not_yet);
  }
  if (const auto share = share_not_halted(between, sum)) Between::set(row, Id::util, *share);
  if (sum.has_waited && between.seconds > 0) Between::set(row, Id::waiting, sum.waited_ns / 1e9 / between.seconds);
  if (!sum.has_waited && !between.machine.column(Id::waiting).source.empty()) {
    Between::say(row, Id::waiting, between.machine.not_reported);
  }
  if (sum.hertz_of > 0) Between::set(row, Id::cfreq, sum.hertz / sum.hertz_of / 1e9);
  set_core_counts(row, sum.grown, between.seconds, with_software);
}

// Sets the highest temperature of the sensors for which `is_wanted` returns true, and the smallest margin.
template <class Predicate>
void set_temperature(const Between& between, result::WatchRow& row, Predicate is_wanted) {
  std::optional<double> hottest, least;
  for (std::size_t i = 0; i < between.machine.sensors.size() && i < between.after.temperatures.size(); ++i) {
    const Sensor& sensor = between.machine.sensors[i];
    const auto value = between.after.temperatures[i];
    if (!value || !is_wanted(sensor)) continue;
    const auto degrees = static_cast<double>(*value) / 1000;
    hottest = std::max(hottest.value_or(degrees), degrees);
    if (sensor.critical) {
      const double margin = static_cast<double>(*sensor.critical - *value) / 1000;
      least = std::min(least.value_or(margin), margin);
    }
  }
  Between::set(row, Id::temperature, hottest);
  Between::set(row, Id::margin, least);
}

// The uncore values of one socket, or their sums for the system.
struct Around {
  Grown grown;
  std::optional<double> processor_joules, memory_joules, uncore_hertz, occupancy, total_bytes, local_bytes;
};

std::optional<double> joules(const Between& between, EnergyCounter::Of of, int socket) {
  std::optional<double> sum;
  for (std::size_t i = 0; i < between.machine.energies.size(); ++i) {
    const EnergyCounter& counter = between.machine.energies[i];
    if (counter.of != of || counter.socket != socket) continue;
    if (i >= between.before.energies.size() || i >= between.after.energies.size()) continue;
    const auto from = between.before.energies[i], to = between.after.energies[i];
    if (!from || !to) return std::nullopt;
    // It wraps around at the end of its range (powercap.rst), but not twice in one interval.
    const std::uint64_t used = *to >= *from ? *to - *from : *to + (counter.range_uj - *from);
    sum = sum.value_or(0) + static_cast<double>(used) / 1e6;
  }
  return sum;
}

std::set<int> domains_of(const WatchedMachine& machine, int socket) {
  std::set<int> domains;
  for (const auto& [processor, place] : machine.places) {
    const auto domain = machine.l3.find(processor);
    if (place.socket == socket && domain != machine.l3.end()) domains.insert(domain->second);
  }
  return domains;
}

void add_cache(const Between& between, int domain, Around& around) {
  const auto from = between.before.caches.find(domain);
  const auto to = between.after.caches.find(domain);
  if (from == between.before.caches.end() || to == between.after.caches.end()) return;
  const auto plus = [](std::optional<double>& sum, std::optional<double> more) {
    if (more) sum = sum.value_or(0) + *more;
  };
  if (to->second.occupancy_bytes) {
    plus(around.occupancy, static_cast<double>(*to->second.occupancy_bytes) / 1024);
  }
  plus(around.total_bytes, Between::grown(from->second.total_bytes, to->second.total_bytes));
  plus(around.local_bytes, Between::grown(from->second.local_bytes, to->second.local_bytes));
}

Around around(const Between& between, int socket) {
  Around found;
  found.grown = grown_of(between.before.counts.sockets, between.after.counts.sockets, socket);
  found.processor_joules = found.grown[at(Counted::processor_joules)];
  found.memory_joules = found.grown[at(Counted::memory_joules)];
  if (!found.processor_joules) found.processor_joules = joules(between, EnergyCounter::Of::processor, socket);
  if (!found.memory_joules) found.memory_joules = joules(between, EnergyCounter::Of::memory, socket);
  for (const int domain : domains_of(between.machine, socket)) add_cache(between, domain, found);
  if (const auto hertz = between.after.uncore_hertz.find(socket); hertz != between.after.uncore_hertz.end()) {
    found.uncore_hertz = hertz->second;
  } else if (const auto clocks = found.grown[at(Counted::uncore_clocks)]; clocks && between.seconds > 0) {
    found.uncore_hertz = *clocks / between.seconds;
  }
  return found;
}

void set_around(const Between& between, const Around& from, result::WatchRow& row) {
  const auto a_second = [&](std::optional<double> bytes) -> std::optional<double> {
    if (!bytes || between.seconds <= 0) return std::nullopt;
    return *bytes / between.seconds / 1e9;
  };
  Between::set(row, Id::read, a_second(from.grown[at(Counted::read_bytes)]));
  Between::set(row, Id::write, a_second(from.grown[at(Counted::written_bytes)]));
  Between::set(row, Id::processor_energy, from.processor_joules);
  Between::set(row, Id::memory_energy, from.memory_joules);
  Between::set(row, Id::l3_occupancy, from.occupancy);
  if (const auto local = ratio(from.local_bytes, from.total_bytes)) Between::set(row, Id::local, 100 * *local);
  if (!from.uncore_hertz) return;
  Between::set(row, Id::uncore_frequency, *from.uncore_hertz / 1e9);
  // The mean number of clocks that a request is pending.
  const auto clocks = ratio(from.grown[at(Counted::reads_pending)], from.grown[at(Counted::reads_missed)]);
  if (clocks && *from.uncore_hertz > 0) Between::set(row, Id::miss_latency, *clocks / *from.uncore_hertz * 1e9);
}

// Adds a socket to the sum; nothing if one socket has no value.
void add(Around& sum, const Around& part, bool is_first) {
  const auto plus = [&](std::optional<double> Around::*member) {
    if (is_first) {
      sum.*member = part.*member;
    } else if (sum.*member && part.*member) {
      *(sum.*member) += *(part.*member);
    } else {
      (sum.*member).reset();
    }
  };
  add(sum.grown, part.grown, is_first);
  for (const auto member : {&Around::processor_joules, &Around::memory_joules, &Around::uncore_hertz,
                            &Around::occupancy, &Around::total_bytes, &Around::local_bytes}) {
    plus(member);
  }
}

void set_system(const Between& between, result::WatchRow& row) {
  const KernelStatistics& from = between.before.kernel;
  const KernelStatistics& to = between.after.kernel;
  Between::set(row, Id::faults, between.rate(from.faults, to.faults));
  Between::set(row, Id::major_faults, between.rate(from.major_faults, to.major_faults));
  Between::set(row, Id::switches, between.rate(from.times.switches, to.times.switches));
  if (to.times.running) Between::set(row, Id::runnable, static_cast<double>(*to.times.running));
  if (to.memory_bytes) Between::set(row, Id::memory, static_cast<double>(*to.memory_bytes));
  // Microseconds per second, as a fraction of 1.
  const auto share = [&](Id id, auto member) {
    if (const auto by = between.rate(from.*member, to.*member)) Between::set(row, id, std::min(1.0, *by / 1e6));
  };
  share(Id::cpu_pressure, &KernelStatistics::cpu_pressure_us);
  share(Id::memory_pressure, &KernelStatistics::memory_pressure_us);
  share(Id::io_pressure, &KernelStatistics::io_pressure_us);
}

bool is_watched(const Shown& shown, int processor) {
  return shown.processors.empty() ||
         std::find(shown.processors.begin(), shown.processors.end(), processor) != shown.processors.end();
}

result::WatchRow core_row(const Between& between, int processor, const ProcessorSums& one) {
  const linux::CpuPosition place = between.machine.places.at(processor);
  result::WatchRow row = between.row(Kind::core);
  row.name = std::to_string(processor);
  row.processor = processor;
  row.socket = place.socket;
  set_together(between, one, true, row);
  set_temperature(between, row, [&](const Sensor& sensor) {
    return sensor.of == Sensor::Of::core && sensor.socket == place.socket && sensor.core == place.core;
  });
  if (const auto own = between.after.occupancy.find(processor); own != between.after.occupancy.end()) {
    Between::set(row, Id::l3_occupancy, static_cast<double>(own->second) / 1024);
  }
  return row;
}

}  // namespace

void set_core_counts(result::WatchRow& row, const Grown& grown, double seconds, bool with_software) {
  const auto instructions = grown[at(Counted::instructions)], cycles = grown[at(Counted::cycles)];
  const auto l3 = grown[at(Counted::l3_misses)], l2 = grown[at(Counted::l2_misses)];
  const auto share = [](std::optional<double> hits, std::optional<double> misses) -> std::optional<double> {
    if (!hits || !misses) return std::nullopt;
    return ratio(hits, *hits + *misses);
  };
  Between::set(row, Id::instructions, instructions);
  Between::set(row, Id::cycles, cycles);
  Between::set(row, Id::ipc, ratio(instructions, cycles));
  Between::set(row, Id::l3_misses, l3);
  Between::set(row, Id::l2_misses, l2);
  Between::set(row, Id::l3_hits, share(grown[at(Counted::l3_hits)], l3));
  Between::set(row, Id::l2_hits, share(grown[at(Counted::l2_hits)], l2));
  Between::set(row, Id::l3_per_instruction, ratio(l3, instructions));
  Between::set(row, Id::l2_per_instruction, ratio(l2, instructions));
  if (!with_software || seconds <= 0) return;
  if (const auto faults = grown[at(Counted::faults)]) Between::set(row, Id::faults, *faults / seconds);
  if (const auto switches = grown[at(Counted::switches)]) Between::set(row, Id::switches, *switches / seconds);
}

std::vector<result::WatchRow> machine_rows(const Between& between, const Shown& shown, result::WatchTotals& totals) {
  std::vector<result::WatchRow> cores, sockets;
  ProcessorSums system;
  Around everything;
  for (const int socket : between.machine.sockets()) {
    ProcessorSums together;
    for (const int processor : between.machine.processors) {
      if (between.machine.places.at(processor).socket != socket || !is_watched(shown, processor)) continue;
      ProcessorSums one;
      add_processor(between, processor, one);
      cores.push_back(core_row(between, processor, one));
      add_processor(between, processor, together);
      add_processor(between, processor, system);
    }
    const Around there = around(between, socket);
    add(everything, there, sockets.empty());
    result::WatchRow row = between.row(Kind::socket);
    row.name = std::to_string(socket);
    row.socket = socket;
    set_together(between, together, true, row);
    set_around(between, there, row);
    set_temperature(between, row,
                    [&](const Sensor& sensor) { return sensor.of != Sensor::Of::machine && sensor.socket == socket; });
    sockets.push_back(std::move(row));
  }
  std::sort(cores.begin(), cores.end(), [](const auto& a, const auto& b) { return a.processor < b.processor; });

  result::WatchRow row = between.row(Kind::system);
  set_together(between, system, false, row);
  // A frequency is not summed.
  if (everything.uncore_hertz) *everything.uncore_hertz /= static_cast<double>(sockets.size());
  set_around(between, everything, row);
  set_temperature(between, row, [](const Sensor&) { return true; });
  set_system(between, row);
  totals.instructions = row.cells[static_cast<std::size_t>(Id::instructions)];
  totals.cycles = row.cells[static_cast<std::size_t>(Id::cycles)];
  totals.ticks.reason = between.machine.no_ticks;
  if (between.before.ticks && between.after.ticks) {
    totals.ticks.value = Between::grown(between.before.ticks, between.after.ticks);
  }
  std::vector<result::WatchRow> rows = std::move(cores);
  for (auto& one : sockets) rows.push_back(std::move(one));
  rows.push_back(std::move(row));
  return rows;
}

}  // namespace tally::watch

#include "programs/watch/uncore_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "programs/watch/live/frequencies.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::watch {
namespace {

using Kind = result::WatchKind;

struct UncoreEventRow {
  const char* pmu;  // prefix of its name
  const char* event;
  Counted counts;
  double scale = 0;             // to bytes, joules or clocks; 0: the kernel's scale
  const char* field = nullptr;  // for a code instead of a name: the field that the kernel's format must have
};

// Sources: arch/x86/events/intel/uncore_snbep.c (servers: cas_count_…), uncore_snb.c (clients: data_…, clockticks),
// rapl.c (power). AMD's memory controllers (since Linux 6.9) have no event names: CAS commands of 64 bytes (PPR for
// family 19H models 10H and up, "UMC Performance Monitor Events"; tools/perf/pmu-events of amdzen4, umc_cas_cmd).
// NVIDIA's Grace: beats of 32 bytes, and bytes (drivers/perf/arm_cspmu/nvidia_cspmu.c; Grace Performance Tuning Guide).
// NXP's i.MX 8M Plus: bytes of all masters (its metrics imx8mp_ddr_read.all and _write.all).
// Intel's servers from Ice Lake on: data reads of the cores that missed the last level, UNC_CHA_TOR_OCCUPANCY and
// UNC_CHA_TOR_INSERTS.IA_MISS_DRD (Intel's event files of icelakex and sapphirerapids). Earlier servers have a unit
// mask of 8 bits, into which this one does not fit.
constexpr UncoreEventRow event_rows[] = {
    {"uncore_imc", "cas_count_read", Counted::read_bytes},
    {"uncore_imc", "cas_count_write", Counted::written_bytes},
    {"uncore_imc", "data_reads", Counted::read_bytes},
    {"uncore_imc", "data_writes", Counted::written_bytes},
    {"uncore_imc_free_running", "data_read", Counted::read_bytes},
    {"uncore_imc_free_running", "data_write", Counted::written_bytes},
    {"power", "energy-pkg", Counted::processor_joules},
    {"power", "energy-ram", Counted::memory_joules},
    {"uncore_clock", "clockticks", Counted::uncore_clocks},
    {"uncore_cha", "event=0x36,umask=0xc817fe01", Counted::reads_pending, 1, "umask"},
    {"uncore_cha", "event=0x35,umask=0xc817fe01", Counted::reads_missed, 1, "umask"},
    {"amd_umc", "event=0x0a,rdwrmask=0x1", Counted::read_bytes, 64, "rdwrmask"},
    {"amd_umc", "event=0x0a,rdwrmask=0x2", Counted::written_bytes, 64, "rdwrmask"},
    {"nvidia_scf_pmu", "cmem_rd_data", Counted::read_bytes, 32},
    {"nvidia_scf_pmu", "cmem_wr_total_bytes", Counted::written_bytes, 1},
    {"imx8_ddr", "axid-read,axi_mask=0xffff,axi_id=0x0000", Counted::read_bytes, 1, "axi_mask"},
    {"imx8_ddr", "axid-write,axi_mask=0xffff,axi_id=0x0000", Counted::written_bytes, 1, "axi_mask"},
};

// Returns bytes or joules per unit, from `x.scale` and `x.unit`.
double scale_of(const std::string& folder, const std::string& event) {
  const std::string scale = linux::content(folder + "/events/" + event + ".scale");
  const std::string unit = linux::content(folder + "/events/" + event + ".unit");
  const double factor = scale.empty() ? 1 : std::strtod(scale.c_str(), nullptr);
  return factor * (unit == "MiB" ? 1048576.0 : 1.0);
}

void add_events(const WatchedMachine& machine, const std::string& pmu, const UncoreEventRow& one,
                std::vector<AroundEvent>& all) {
  const auto device = linux::pmu_device(machine.root, pmu);
  if (!device || !device->type) return;
  const bool is_there =
      one.field
          ? !linux::content(machine.root + "/sys/bus/event_source/devices/" + pmu + "/format/" + one.field).empty()
          : device->events.contains(one.event);
  if (!is_there) return;
  const std::string text = fmt::format("{}/{}/", pmu, one.event);
  event::Sources sources;
  sources.root = machine.root;
  const auto event = event::parse(text, sources);
  if (!event || !event->encoding) return;
  const double scale =
      one.scale > 0 ? one.scale : scale_of(machine.root + "/sys/bus/event_source/devices/" + pmu, one.event);
  // `cpumask` contains one processor of each socket, or of each die.
  for (const int processor : linux::listed_processors(device->cpus).value_or(std::vector<int>{})) {
    const auto place = machine.places.find(processor);
    if (place == machine.places.end()) continue;
    all.push_back({one.counts, place->second.socket, processor, *device->type, event->encoding->config,
                   event->encoding->config1, event->encoding->config2, scale, text});
  }
}

void missing(WatchedMachine& machine, Id id, std::size_t reason) {
  for (const Kind kind : {Kind::socket, Kind::system}) {
    machine.column(id).reason[static_cast<std::size_t>(kind)] = reason;
  }
}

std::string hint_of_virtual(const WatchedMachine& machine, const char* what) {
  return machine.is_virtual() ? fmt::format("this is a virtual machine, and its host shows it no {}", what) : "";
}

// Returns the memory controllers that have no row above.
std::string other_controllers(const WatchedMachine& machine) {
  std::vector<std::string> found;
  for (const std::string& name : machine.survey.other_pmus) {
    for (const char* known : {"amd_df", "amd_umc", "arm_cmn", "arm_dmc", "hisi_sccl", "nvidia_scf", "uncore_imc",
                              "arm_cspmu", "imx8_ddr", "ali_drw"}) {
      if (name.starts_with(known)) found.push_back(name);
    }
  }
  if (found.size() > 4) found = {found[0], found[1], "…"};
  return join(found, ", ");
}

}  // namespace

std::vector<AroundEvent> around_events(const WatchedMachine& machine) {
  std::vector<AroundEvent> all;
  for (const std::string& pmu : machine.survey.other_pmus) {
    for (const UncoreEventRow& row : event_rows) {
      if (!pmu.starts_with(row.pmu)) continue;
      add_events(machine, pmu, row, all);
    }
  }
  return all;
}

void report_neighbours(WatchedMachine& machine, const std::set<Counted>& opened, std::optional<std::size_t> refused) {
  std::map<Counted, std::set<std::string>> names;
  for (const AroundEvent& event : around_events(machine)) names[event.counts].insert(event.name);
  const auto set_source = [&](Id id, Counted counts, std::size_t nothing) {
    const auto& all = names[counts];
    if (opened.contains(counts)) {
      machine.column(id).source =
          "PMU: " + (all.size() > 2 ? fmt::format("{} and {} like it", *all.begin(), all.size() - 1)
                                    : join({all.begin(), all.end()}, ", "));
      missing(machine, id, machine.not_reported);
    } else {
      missing(machine, id, !all.empty() && refused ? *refused : nothing);
    }
    return opened.contains(counts);
  };
  const std::string others = other_controllers(machine);
  const auto no_controller =
      others.empty()
          ? machine.reasons.add("no-memory-controller",
                                "the kernel provides no memory controller counters here (no uncore_imc in "
                                "/sys/bus/event_source/devices)",
                                hint_of_virtual(machine, "memory controller"))
          : machine.reasons.add(
                "unknown-memory-controller",
                fmt::format("the kernel has memory PMUs ({}), but none of their events is known to count bytes",
                            others));
  set_source(Id::read, Counted::read_bytes, no_controller);
  set_source(Id::write, Counted::written_bytes, no_controller);

  using Of = EnergyCounter::Of;
  for (const auto& [id, counts, of] : {std::tuple{Id::processor_energy, Counted::processor_joules, Of::processor},
                                       std::tuple{Id::memory_energy, Counted::memory_joules, Of::memory}}) {
    const auto no_energy = machine.reasons.add(
        of == Of::processor ? "no-energy" : "no-memory-energy",
        of == Of::processor ? "the kernel reports no processor energy: no power PMU, no intel-rapl in powercap"
                            : "the kernel reports no memory energy: no power/energy-ram, no dram zone",
        hint_of_virtual(machine, "energy counters"));
    if (set_source(id, counts, no_energy)) continue;
    const auto zone = std::find_if(machine.energies.begin(), machine.energies.end(),
                                   [&, which = of](const EnergyCounter& counter) { return counter.of == which; });
    if (zone == machine.energies.end()) continue;
    if (number_in(zone->path)) {
      machine.column(id).source = "powercap: " + zone->zone;
      missing(machine, id, machine.not_reported);
    } else {
      missing(machine, id,
              machine.reasons.add("powercap-root", "only root may read powercap's energy_uj",
                                  "run tally as root, or with CAP_PERFMON and the power PMU"));
    }
  }
  const auto no_clock = machine.reasons.add(
      "no-uncore-clock", "the kernel reports no uncore frequency: no intel_uncore_frequency, no uncore_clock");
  if (!uncore_frequencies(machine.root).empty()) {
    machine.column(Id::uncore_frequency).source = "intel_uncore_frequency/…/current_freq_khz";
    missing(machine, Id::uncore_frequency, machine.not_reported);
  } else {
    set_source(Id::uncore_frequency, Counted::uncore_clocks, no_clock);
  }
  const auto no_latency =
      machine.reasons.add("no-latency-events",
                          "it needs the requests that are pending in the last level (TOR occupancy and inserts of "
                          "uncore_cha, whose codes are known from Ice Lake servers on)",
                          hint_of_virtual(machine, "uncore"));
  // Pending requests are counted once for each clock of the uncore.
  if (machine.column(Id::uncore_frequency).source.empty()) {
    missing(machine, Id::miss_latency, names[Counted::reads_pending].empty() ? no_latency : no_clock);
  } else if (set_source(Id::miss_latency, Counted::reads_missed, no_latency)) {
    set_source(Id::miss_latency, Counted::reads_pending, no_latency);
  }
}

}  // namespace tally::watch

#include "programs/watch/watch_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::watch {
namespace {

using result::WatchFact;

WatchFact number_fact(std::string label, std::int64_t value) { return {std::move(label), std::to_string(value), {}}; }

WatchFact absent(std::string label, std::string reason) { return {std::move(label), {}, std::move(reason)}; }

// Adds the number of cores of the machine and of one socket.
void add_counts(const WatchedMachine& machine, std::vector<WatchFact>& facts) {
  std::map<int, std::set<int>> cores;
  for (const auto& [processor, place] : machine.places) cores[place.socket].insert(place.core);
  std::size_t physical = 0;
  for (const auto& [socket, all] : cores) physical += all.size();
  const auto count = [](std::size_t number) { return static_cast<std::int64_t>(number); };
  facts.push_back(number_fact("Number of physical cores", count(physical)));
  facts.push_back(number_fact("Number of logical cores", count(machine.processors.size())));
  // With two kinds of cores, one has fewer threads than the other.
  if (physical > 0 && machine.processors.size() % physical == 0) {
    facts.push_back(
        number_fact("Threads (logical cores) per physical core", count(machine.processors.size() / physical)));
  } else {
    facts.push_back(absent("Threads (logical cores) per physical core", "not the same for all cores"));
  }
  facts.push_back(number_fact("Num sockets", count(cores.size())));
  std::set<std::size_t> sizes;
  for (const auto& [socket, all] : cores) sizes.insert(all.size());
  facts.push_back(sizes.size() == 1 ? number_fact("Physical cores per socket", count(*sizes.begin()))
                                    : absent("Physical cores per socket", "not the same for all sockets"));
  std::set<int> domains;
  for (const auto& [processor, domain] : machine.l3) domains.insert(domain);
  facts.push_back(domains.empty() ? absent("Last level caches", "the kernel lists no L3 cache")
                                  : number_fact("Last level caches", count(domains.size())));
}

void add_identity(const WatchedMachine& machine, std::vector<WatchFact>& facts) {
  const bool is_hybrid = machine.survey.core_pmus.size() > 1 || (machine.processor && machine.processor->hybrid);
  facts.push_back({"Hybrid processor", is_hybrid ? "yes" : "no", {}});
  if (const auto& processor = machine.processor) {
    facts.push_back(number_fact("Max CPUID level", processor->highest_leaf));
    facts.push_back(number_fact("CPU family", processor->family));
    facts.push_back(number_fact("CPU model number", processor->model));
    return;
  }
  const std::string cpuinfo = linux::content(machine.root + "/proc/cpuinfo");
  for (const auto& [label, key] :
       {std::pair{"Max CPUID level", "cpuid level"}, std::pair{"CPU family", "cpu family"},
        std::pair{"CPU model number", "model"}, std::pair{"CPU implementer", "CPU implementer"},
        std::pair{"CPU part", "CPU part"}}) {
    const std::string value = linux::value_of(cpuinfo, key);
    if (!value.empty()) facts.push_back({label, value, {}});
  }
}

void add_counters(const WatchedMachine& machine, std::vector<WatchFact>& facts) {
  const char* labels[] = {"Core PMU (perfmon) version", "Number of core PMU generic (programmable) counters",
                          "Width of generic (programmable) counters", "Number of core PMU fixed counters",
                          "Width of fixed counters"};
  if (!machine.processor) {
    const std::string why = machine.root != "/" ? "CPUID describes this machine, not one read from files"
                                                : "no instruction reports it on this architecture";
    for (const char* label : labels) facts.push_back(absent(label, why));
    return;
  }
  const pmu::Processor& processor = *machine.processor;
  const pmu::ArchitecturalPerfmon& perfmon = processor.perfmon;
  if (perfmon.version > 0) {
    int fixed = 0;
    for (std::uint32_t bits = perfmon.fixed_counters; bits != 0; bits &= bits - 1) ++fixed;
    facts.push_back(number_fact(labels[0], perfmon.version));
    facts.push_back(number_fact(labels[1], perfmon.counters));
    facts.push_back({labels[2], fmt::format("{} bits", perfmon.counter_width), {}});
    facts.push_back(number_fact(labels[3], fixed));
    facts.push_back({labels[4], fmt::format("{} bits", perfmon.fixed_width), {}});
    return;
  }
  // Hypervisors without a virtual PMU do not hide AMD's first four counters: CPUID has no bit for them.
  if (processor.amd_counters > 0 && processor.under_hypervisor && machine.survey.core_pmus.empty()) {
    for (const char* label : labels) facts.push_back(absent(label, "this virtual machine has no virtual PMU"));
    return;
  }
  if (processor.amd_counters > 0) {
    const char* generations[] = {"AMD's four old counters", "AMD's core extension", "AMD's PerfMonV2"};
    facts.push_back({labels[0], generations[std::clamp(processor.amd_perfmon, 0, 2)], {}});
    facts.push_back(number_fact(labels[1], processor.amd_counters));
    // AMD APM vol. 2, "Performance Counters": PerfCtrN has 48 bits.
    facts.push_back({labels[2], "48 bits", {}});
    facts.push_back(absent(labels[3], "AMD's processors have none"));
    facts.push_back(absent(labels[4], "AMD's processors have none"));
    return;
  }
  const std::string why = processor.under_hypervisor ? "CPUID announces no counters: the hypervisor shows none"
                                                     : "CPUID announces no counters";
  for (const char* label : labels) facts.push_back(absent(label, why));
}

void add_power(const WatchedMachine& machine, std::vector<WatchFact>& facts) {
  const auto hertz = [&](const char* label, std::optional<double> value, const char* why) {
    facts.push_back(value ? WatchFact{label, fmt::format("{:.0f} Hz", *value), {}} : absent(label, why));
  };
  std::optional<double> base = machine.base_hertz;
  if (!base && machine.processor && machine.processor->base) {
    base = static_cast<double>(machine.processor->base->hertz);
  }
  hertz("Nominal core frequency", base, "neither cpufreq/base_frequency nor CPUID leaf 16H reports it");
  const auto watts = [&](const char* label, std::optional<double> value, const char* why) {
    facts.push_back(value ? WatchFact{label, fmt::format("{:.0f} Watt", *value), {}} : absent(label, why));
  };
  const char* no_zone = "powercap has no package (no intel-rapl:0)";
  const bool has_zone = !machine.energies.empty();
  watts("Package thermal spec power", machine.power.rated, has_zone ? "the zone does not report it" : no_zone);
  watts("Package minimum power", machine.power.least,
        has_zone ? "only in MSR_PKG_POWER_INFO: as root, `tally register 0x614 --cpu 0` reads it" : no_zone);
  watts("Package maximum power", machine.power.most, has_zone ? "the zone does not report it" : no_zone);
}

}  // namespace

result::WatchHeader header_of(const WatchedMachine& machine) {
  result::WatchHeader header;
  std::vector<WatchFact>& facts = header.facts;
  const std::string& cpu = machine.survey.machine.cpu;
  facts.push_back(cpu.empty() ? absent("Detected", "/proc/cpuinfo names no model") : WatchFact{"Detected", cpu, {}});
  facts.push_back(machine.event_names.empty()
                      ? absent("Microarchitecture", machine.root == "/" ? "libpfm4 has no table for it"
                                                                        : "libpfm4 only describes this machine")
                      : WatchFact{"Microarchitecture", machine.event_names, {}});
  add_identity(machine, facts);
  add_counts(machine, facts);
  add_counters(machine, facts);
  add_power(machine, facts);
  return header;
}

}  // namespace tally::watch

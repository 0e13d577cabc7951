#include "tally/counting/backend/perf/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/fixed_counters.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/hardware/event/perf_names.hpp"

namespace tally::backend::perf {
namespace {

using event::Encoding;
using event::Family;
using linux::PmuDevice;

Encoded none(std::string why) {
  Encoded encoded;
  encoded.why_none = std::move(why);
  return encoded;
}

linux::PerfEvent in_mode(const Encoding& encoding, event::Mode mode) {
  return {encoding.type.value_or(event::perf_type_raw),
          encoding.config,
          mode == event::Mode::user,
          mode == event::Mode::kernel,
          encoding.config1,
          encoding.config2};
}

Family family_of(const PmuDevice& core) {
  if (core.name.starts_with("armv")) return Family::arm;
  if (core.name.starts_with("apple_")) return Family::apple;
  if (core.name == "cpu_atom") return Family::intel_atom;
  const event::pfm::Pmu* own = event::own_pmu({});
  return own ? own->family : Family::none;
}

// Arm's common events by their names in the kernel's driver (drivers/perf/arm_pmuv3.c), which lists the events that the
// PMU reports in PMCEID0_EL0 and PMCEID1_EL0.
struct ListedName {
  event::Id id;
  const char* name;
};
constexpr ListedName arm_names[] = {
    {event::Id::returns, "br_return_retired"},
    {event::Id::loads, "ld_retired"},
    {event::Id::stores, "st_retired"},
};

std::optional<std::uint64_t> listed_code(const PmuDevice& core, const std::string& name) {
  const auto found = core.events.find(name);
  if (found == core.events.end() || !found->second.starts_with("event=")) return std::nullopt;
  return std::strtoull(found->second.c_str() + 6, nullptr, 0);
}

// Returns the PMU's own code for an event of the table for which the kernel has no number.
std::optional<Encoding> own_code(event::Id id, const PmuDevice& core) {
  const Family family = family_of(core);
  if (family == Family::arm) {
    for (const ListedName& one : arm_names) {
      if (one.id != id) continue;
      if (const auto code = listed_code(core, one.name)) return Encoding{family, core.name, core.type, *code, 0, 0};
    }
    return std::nullopt;
  }
  for (const event::KnownCode& line : event::known_codes()) {
    const bool its = line.families >> static_cast<unsigned>(family) & 1;
    if (line.id != id || !its || line.event == 0) continue;
    const std::uint64_t config = line.event | std::uint64_t{line.umask} << 8;
    return Encoding{family, core.name, core.type, config, 0, 0};
  }
  return std::nullopt;
}

// Returns the code of terms in sysfs such as "event=0xc4,umask=0x1"; nothing if there are other terms.
std::optional<std::uint64_t> plain_code(const std::string& terms) {
  std::uint64_t code = 0;
  for (const std::string& term : split(terms, ',')) {
    const std::size_t equals = term.find('=');
    if (equals == std::string::npos) return std::nullopt;
    const std::uint64_t value = std::strtoull(term.c_str() + equals + 1, nullptr, 0);
    const std::string_view key = std::string_view(term).substr(0, equals);
    if (key != "event" && key != "umask") return std::nullopt;
    code |= key == "umask" ? value << 8 : value;
  }
  return code;
}

// Whether this PMU has a code: the kernel lists it in sysfs, where Arm's driver omits codes that PMCEID0_EL0 and
// PMCEID1_EL0 lack, or the vendor's table of this processor has it.
bool is_listed(std::uint64_t code, const PmuDevice& core) {
  for (const auto& [name, terms] : core.events) {
    if (plain_code(terms) == code) return true;
  }
  const event::pfm::Pmu* own = event::own_pmu({});
  if (!own || own->family != family_of(core)) return false;
  const std::vector<event::pfm::Name> names = event::pfm::names(*own);
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& one) { return (one.event | std::uint64_t{one.umask} << 8) == code; });
}

// Returns why a code may be wrong. A PMU accepts every code; one that it lacks counts nothing, or something else.
std::string doubt_about(const Encoding& encoding, const PmuDevice& core) {
  const std::uint64_t code = encoding.config & 0xFFFF;
  if (is_listed(code, core)) return {};
  return fmt::format("not confirmed by this PMU: {} does not list the code 0x{:x}, and an unsupported code may read 0",
                     core.name, code);
}

// Returns the PMU of the processor that an encoding names; null if it names a PMU of another unit.
const PmuDevice* named_core(const Encoding& encoding, const std::vector<PmuDevice>& cores) {
  const auto same = [&](const PmuDevice& core) { return encoding.type && core.type == encoding.type; };
  const auto found = std::find_if(cores.begin(), cores.end(), same);
  if (found != cores.end()) return &*found;
  const event::pfm::Pmu* own = encoding.type ? nullptr : event::own_pmu({});
  return own && own->name == encoding.pmu ? &cores.front() : nullptr;
}

// Whether an encoding fits any PMU of the processor: the kernel's own numbers, and codes without a PMU. The type number
// of raw codes is not enough: the first of several PMUs may have it as well.
bool is_any_cores(const Encoding& encoding) {
  return encoding.type && *encoding.type <= event::perf_type_raw && encoding.pmu.empty();
}

// With several kinds of cores, the kernel assigns its own numbers to the first PMU unless the upper half of `config`
// names another one (Linux 5.13, commit 55bcf6ef314a), and raw codes only to the PMU that `type` names.
Encoding for_core(Encoding encoding, const PmuDevice& core, bool is_one_of_several) {
  if (!is_one_of_several || !core.type) return encoding;
  if (encoding.type == event::perf_type_hardware || encoding.type == event::perf_type_cache) {
    encoding.config |= std::uint64_t{*core.type} << 32;
  } else if (encoding.type.value_or(event::perf_type_raw) == event::perf_type_raw) {
    encoding.type = core.type;
  }
  return encoding;
}

Encoded coded_for(const event::Event& event, const PmuDevice& core, bool is_one_of_several) {
  Encoding encoding = for_core(*event.encoding, core, is_one_of_several);
  if (encoding.type == event::perf_type_hardware || encoding.type == event::perf_type_cache) {
    return {in_mode(encoding, event.mode), CountSource::pmu(core.name), "", ""};
  }
  if (family_of(core) == Family::arm && encoding.config > 0xFFFF) {
    return none(fmt::format("the codes of {} have 16 bits", core.name));
  }
  encoding.config = event::kernel_config(encoding);
  return {in_mode(encoding, event.mode), CountSource::pmu(core.name), doubt_about(encoding, core), ""};
}

Encoded named_for(const event::Event& event, const PmuDevice& core, bool is_one_of_several) {
  if (const auto number = event::kernel_number(event.id)) {
    return {in_mode(for_core(*number, core, is_one_of_several), event.mode), CountSource::pmu(core.name), "", ""};
  }
  if (const auto code = own_code(event.id, core))
    return {in_mode(*code, event.mode), CountSource::pmu(core.name), "", ""};
  return none(fmt::format("tally has no event of {} for it", core.name));
}

Encoded not_of_this_processor(const Encoding& encoding, event::Mode mode, const PmuDevice& core) {
  if (encoding.type) return {in_mode(encoding, mode), parse_source(encoding.pmu), "", ""};  // usually of an uncore PMU
  if (encoding.family == Family::none) return none("this machine's kernel has no PMU " + encoding.pmu);
  return none(fmt::format("it is an event of {}'s processors ({}), and this machine has {}",
                          event::maker(encoding.family), encoding.pmu, core.name));
}

// One for each counter: together they have the event. These PMUs refuse to exclude modes.
std::vector<Encoded> of_machine(const Encoding& encoding) {
  std::vector<Encoded> all;
  for (const event::MachineCounter& counter : encoding.machine)
    all.push_back({{counter.type, encoding.config, false, false, encoding.config1, encoding.config2},
                   CountSource::pmu(encoding.pmu),
                   "",
                   "",
                   counter.processor});
  return all;
}

}  // namespace

std::vector<Encoded> encode(const event::Event& event, const std::vector<PmuDevice>& cores) {
  if (const auto own = kernel_event(event.id)) {
    if (!linux::kernel_counts(*own)) return {none("the kernel counts none on this architecture")};
    const bool user_only = event.id == event::Id::user_page_faults;
    return {{{linux::perf_type_software, static_cast<std::uint64_t>(*own), user_only}, Source::kernel, "", ""}};
  }
  if (event::definition(event.id).kind == event::Kind::software) return {none("not one of the kernel's counters")};
  if (event::is_of_machine(event)) return of_machine(*event.encoding);
  if (!event.absent.empty()) return {none(event.absent)};
  if (cores.empty()) return {none("the kernel reports no PMU for this processor")};
  if (event.encoding && !is_any_cores(*event.encoding)) {
    const PmuDevice* core = named_core(*event.encoding, cores);
    if (core) return {coded_for(event, *core, cores.size() > 1)};
    return {not_of_this_processor(*event.encoding, event.mode, cores.front())};
  }
  std::vector<Encoded> all;
  for (const PmuDevice& core : cores) {
    all.push_back(event.encoding ? coded_for(event, core, cores.size() > 1) : named_for(event, core, cores.size() > 1));
  }
  return all;
}

}  // namespace tally::backend::perf

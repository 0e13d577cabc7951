#include "tally/backend/perf/encode.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "tally/backend/software.hpp"
#include "tally/base/text.hpp"
#include "tally/event/codes.hpp"
#include "tally/event/perf_names.hpp"
#include "tally/event/sources.hpp"

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
  const event::pfm::Pmu* own = event::own_pmu({});
  return own ? own->family : Family::none;
}

// Arm's common events by the names of the kernel's driver (drivers/perf/arm_pmuv3.c), which lists those that the PMU
// says it has (PMCEID0_EL0, PMCEID1_EL0).
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

// The PMU's own code for an event of the table that the kernel has no number for.
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

// An Arm PMU takes every code; those that it does not have count nothing.
std::string doubt_about(const Encoding& encoding, const PmuDevice& core) {
  if (family_of(core) != Family::arm) return {};
  for (const auto& [name, terms] : core.events) {
    if (const auto code = listed_code(core, name); code && *code == (encoding.config & 0xFFFF)) return {};
  }
  return fmt::format("{} does not list the code 0x{:x}: what it has not got reads 0", core.name, encoding.config);
}

// The PMU of the processor that an encoding is for; null where it is for something else.
const PmuDevice* core_of(const Encoding& encoding, const std::vector<PmuDevice>& cores) {
  if (encoding.type && *encoding.type <= event::perf_type_raw) return &cores.front();  // the kernel's own, or any PMU's
  const auto same = [&](const PmuDevice& core) { return encoding.type && core.type == encoding.type; };
  const auto found = std::find_if(cores.begin(), cores.end(), same);
  if (found != cores.end()) return &*found;
  const event::pfm::Pmu* own = encoding.type ? nullptr : event::own_pmu({});
  return own && own->name == encoding.pmu ? &cores.front() : nullptr;
}

Encoded coded(const event::Event& event, const std::vector<PmuDevice>& cores) {
  const Encoding& encoding = *event.encoding;
  const PmuDevice* core = core_of(encoding, cores);
  if (!core && encoding.type) return {in_mode(encoding, event.mode), encoding.pmu, "", ""};  // of an uncore, as a rule
  if (!core && encoding.family == Family::none) return none("this machine's kernel has no PMU " + encoding.pmu);
  if (!core) {
    return none(fmt::format("it is an event of {}'s processors ({}), and here is {}", event::maker(encoding.family),
                            encoding.pmu, cores.front().name));
  }
  if (encoding.type == event::perf_type_hardware || encoding.type == event::perf_type_cache) {
    return {in_mode(encoding, event.mode), core->name, "", ""};
  }
  if (family_of(*core) == Family::arm && encoding.config > 0xFFFF) {
    return none(fmt::format("the codes of {} have 16 bits", core->name));
  }
  return {in_mode(encoding, event.mode), core->name, doubt_about(encoding, *core), ""};
}

}  // namespace

Encoded encode(const event::Event& event, const std::vector<PmuDevice>& cores) {
  if (const auto own = kernel_event(event.id)) {
    if (!linux::kernel_counts(*own)) return none("the kernel counts none on this architecture");
    const bool user_only = event.id == event::Id::user_page_faults;
    return {{linux::perf_type_software, static_cast<std::uint64_t>(*own), user_only}, "perf_event", "", ""};
  }
  if (event::definition(event.id).kind == event::Kind::software) return none("not one of the kernel's counters");
  if (cores.empty()) return none("this machine's kernel has no PMU of the processor");
  if (event.encoding) return coded(event, cores);
  const PmuDevice& core = cores.front();
  if (const auto number = event::kernel_number(event.id)) return {in_mode(*number, event.mode), core.name, "", ""};
  if (const auto code = own_code(event.id, core)) return {in_mode(*code, event.mode), core.name, "", ""};
  return none(fmt::format("{} has no event for it that tally knows", core.name));
}

}  // namespace tally::backend::perf

#include "tally/counting/backend/engine/count/openable_events.hpp"

#include <algorithm>
#include <optional>

#include "tally/counting/backend/engine/regions/marked_events.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/hardware/event/perf_names.hpp"

namespace tally::backend::engine {
namespace {

using event::Family;
using event::Id;

/// Of a presented Intel processor only the architectural events, which all of them have with these codes.
Family family_seen(const std::string& cpu_model) {
  if (const auto model = cpus::named(cpu_model); model && cpu_model != "host")
    return (*model)->vendor == cpus::Vendor::amd ? Family::amd_zen : Family::intel_old;
  return event::own_family({});
}

void add(channel::PresentedPmu& pmu, Id id, std::uint32_t type, std::uint64_t config) {
  event::Event event;
  event.id = id;
  if (pmu.event_count == channel::pmu_event_limit || outlook_of(event).trust != Trust::exact) return;
  channel::PmuEvent& row = pmu.event[pmu.event_count++];
  row = {type, config, {}};
  std::int8_t weight[channel::mark_values]{};
  weigh(id, weight);
  std::copy(weight, weight + channel::field_count, row.weight);
}

}  // namespace

channel::PresentedPmu presented_pmu(const std::string& cpu_model) {
  channel::PresentedPmu pmu{};
  for (const Id id : {Id::instructions, Id::branches})
    if (const auto number = event::kernel_number(id)) add(pmu, id, *number->type, number->config);
  // L1-dcache-loads and L1-dcache-stores, as `tally stat` counts them.
  constexpr std::uint64_t l1d_reads = 0, l1d_writes = 1 << 8;
  add(pmu, Id::loads, event::perf_type_cache, l1d_reads);
  add(pmu, Id::stores, event::perf_type_cache, l1d_writes);
  const std::uint32_t family = 1U << static_cast<unsigned>(family_seen(cpu_model));
  for (const event::KnownCode& code : event::known_codes())
    if ((code.families & family) && code.id && code.event != 0)
      add(pmu, *code.id, event::perf_type_raw, code.event | std::uint64_t{code.umask} << 8);
  return pmu;
}

}  // namespace tally::backend::engine

#include "tally/counting/backend/engine/count/openable_events.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "tally/counting/backend/engine/count/engine_counts.hpp"
#include "tally/counting/backend/engine/engine_models.hpp"
#include "tally/counting/backend/engine/profile/value_selection.hpp"
#include "tally/counting/backend/engine/regions/marked_events.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/hardware/event/perf_names.hpp"

namespace tally::backend::engine {
namespace {

using event::Family;
using event::Id;

event::Event event_of(Id id) {
  event::Event event;
  event.id = id;
  return event;
}

bool is_modelled(Id id, const Modelling& modelling) {
  const NeededModels needed = needed_by(id);
  return needed.any() && modelling.simulation && provides(modelling.settings, needed) &&
         why_not_modelled(id, *modelling.simulation).empty();
}

/// Adds events to a PMU.
class Adder {
 public:
  Adder(channel::PresentedPmu& pmu, const Modelling& modelling) : pmu_(pmu), modelling_(modelling) {}

  void add(Id id, std::uint32_t type, std::uint64_t config) {
    const bool modelled = is_modelled(id, modelling_);
    if (needs_mix(id)) return;  // `tally run` does not count what instructions do
    if (pmu_.event_count == channel::pmu_event_limit || (!modelled && outlook_of(event_of(id)).trust != Trust::exact))
      return;
    channel::PmuEvent row{};
    row.type = type;
    row.config = config;
    row.is_modelled = modelled;
    row.is_cycles = id == Id::cycles || id == Id::ref_cycles;  // the model has one frequency
    row.cycles_weight = static_cast<std::int8_t>(row.is_cycles);
    weigh(id, row.weight);
    const bool is_sum =
        std::any_of(std::begin(row.weight), std::end(row.weight), [](int weight) { return weight != 0; });
    if (is_sum || row.is_cycles) pmu_.event[pmu_.event_count++] = row;
  }

  void add(const SlotEvent& event, std::int8_t width) {
    if (pmu_.event_count == channel::pmu_event_limit) return;
    channel::PmuEvent& row = pmu_.event[pmu_.event_count++];
    row.type = event::perf_type_raw;
    row.config = event.config;
    row.is_cycles = 1;
    row.cycles_weight = static_cast<std::int8_t>(event.all * width);
    row.is_metric = event.config >= first_metric;
    for (std::size_t k = 0; k < std::size(event.classes); ++k)
      row.class_weight[k] = static_cast<std::int8_t>(event.classes[k] * width);
  }

  void add(Id id) {
    if (const auto number = event::kernel_number(id)) add(id, *number->type, number->config);
  }

 private:
  channel::PresentedPmu& pmu_;
  const Modelling& modelling_;
};

}  // namespace

std::span<const SlotEvent> slot_events(const cpus::CpuModel* model) {
  // The classes are retiring, heavy operations, front end, mispredictions, and waits for the core.
  static constexpr SlotEvent events[] = {{"slots", slots_code, 1, {}},
                                         {"", 0x01a4, 1, {}},  // an architectural event
                                         {"topdown-retiring", first_metric, 0, {1}},
                                         {"topdown-bad-spec", 0x8100, 0, {0, 0, 0, 1}},
                                         {"topdown-fe-bound", 0x8200, 0, {0, 0, 1}},
                                         {"topdown-be-bound", 0x8300, 1, {-1, 0, -1, -1}},
                                         {"topdown-heavy-ops", 0x8400, 0, {0, 1}},
                                         {"topdown-br-mispredict", 0x8500, 0, {0, 0, 0, 1}},
                                         {"topdown-fetch-lat", 0x8600, 0, {0, 0, 1}},
                                         {"topdown-mem-bound", 0x8700, 1, {-1, 0, -1, -1, -1}}};
  // The fourth fixed counter counts slots. The classes of a class are newer.
  if (model == nullptr || model->vendor != cpus::Vendor::intel || model->counters.fixed < 4) return {};
  constexpr std::size_t level_1 = 6;
  return model->counters.events == "icelake" ? std::span(events).first(level_1) : std::span(events);
}

Family event_family(const cpus::CpuModel* model) {
  if (model == nullptr) return event::own_family({});
  return model->vendor == cpus::Vendor::amd ? Family::amd_zen : Family::intel_old;
}

bool has_code(const channel::PresentedPmu& pmu, std::uint64_t config) {
  return std::any_of(pmu.event, pmu.event + pmu.event_count, [&](const channel::PmuEvent& event) {
    return event.type == event::perf_type_raw && event.config == config;
  });
}

const std::vector<event::Event>& modelled_kernel_events() {
  static const std::vector<event::Event> all = [] {
    std::vector<event::Event> events;
    for (const Id id :
         {Id::cycles, Id::ref_cycles, Id::cache_references, Id::cache_misses, Id::branch_misses, Id::l1d_load_misses,
          Id::l1d_store_misses, Id::l1i_load_misses, Id::llc_loads, Id::llc_load_misses, Id::llc_stores,
          Id::llc_store_misses, Id::dtlb_load_misses, Id::dtlb_store_misses, Id::itlb_load_misses})
      events.push_back(event_of(id));
    return events;
  }();
  return all;
}

channel::PresentedPmu presented_pmu(const cpus::CpuModel* model, const Modelling& modelling) {
  channel::PresentedPmu pmu{};
  Adder adder(pmu, modelling);
  for (const Id id : {Id::instructions, Id::branches}) adder.add(id);
  // L1-dcache-loads and L1-dcache-stores, as `tally stat` counts them.
  constexpr std::uint64_t l1d_reads = 0, l1d_writes = 1 << 8;
  adder.add(Id::loads, event::perf_type_cache, l1d_reads);
  adder.add(Id::stores, event::perf_type_cache, l1d_writes);
  for (const event::Event& event : modelled_kernel_events()) adder.add(event.id);
  const std::uint32_t family = 1U << static_cast<unsigned>(event_family(model));
  for (const event::KnownCode& code : event::known_codes())
    // Codes of reference cycles count at rates that differ between processors.
    if ((code.families & family) && code.id && code.id != Id::ref_cycles && code.event != 0)
      adder.add(*code.id, event::perf_type_raw, code.event | std::uint64_t{code.umask} << 8);
  // The kernel's code for the fixed counter.
  if (event::is_x86(event_family(model)) && !event::is_amd(event_family(model)))
    adder.add(Id::ref_cycles, event::perf_type_raw, ref_cycles_code);
  const auto slots = slot_events(model);
  if (slots.empty() || !is_modelled(Id::pipeline_slots, modelling)) return pmu;
  constexpr channel::CoreValues one_cycle{.cycles = {1}, .instructions = 0, .unknown = 0, .aliases = 0};
  const auto width = static_cast<std::int8_t>(cycles_of(Id::pipeline_slots, one_cycle, {}, *modelling.simulation));
  for (const SlotEvent& event : slots) adder.add(event, width);
  pmu.has_classes = 1;
  constexpr std::pair<Id, std::uint8_t> classes[] = {{Id::cycles_front_end, channel::cycles_front_end},
                                                     {Id::cycles_mispredicts, channel::cycles_mispredicted}};
  for (std::size_t i = 0; i < std::size(pmu.miss_class); ++i) {
    pmu.miss_class[i] = channel::cycle_class_count;
    for (const auto& [id, k] : classes)
      if (weight_of(id, i, modelling) != 0) pmu.miss_class[i] = k;
  }
  return pmu;
}

std::uint32_t missing_architectural_events(const channel::PresentedPmu& pmu) {
  // In the order of leaf 0AH.
  constexpr std::uint64_t codes[] = {0x003c, 0x00c0, ref_cycles_code, 0x4f2e, 0x412e, 0x00c4, 0x00c5, 0x01a4};
  std::uint32_t missing = 0;
  for (std::uint32_t i = 0; i < std::size(codes); i++)
    if (!has_code(pmu, codes[i])) missing |= 1u << i;
  return missing;
}

}  // namespace tally::backend::engine

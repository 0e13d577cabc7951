#include "tally/counting/backend/engine/engine_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <tuple>
#include <vector>

#include "tally/core/base/text.hpp"

namespace tally::backend::engine {
namespace {

channel::ModelLevel level_of(const tally::models::CacheShape& shape) {
  return {shape.sets,
          shape.ways,
          shape.line_bits,
          static_cast<std::uint8_t>(shape.replacement),
          static_cast<std::uint8_t>(shape.write_allocate),
          static_cast<std::uint8_t>(shape.inclusive)};
}

tally::models::CacheShape shape_of(const channel::ModelLevel& level) {
  return {level.sets,
          level.ways,
          level.line_bits,
          static_cast<tally::models::Replacement>(level.replacement),
          level.write_allocate != 0,
          level.inclusive != 0};
}

tally::models::TlbShape all_tlbs(const channel::Models& models) {
  return {shape_of(models.itlb), shape_of(models.dtlb), shape_of(models.stlb)};
}

}  // namespace

std::uint32_t bits_of(const NeededModels& needed) {
  return (needed.branches ? channel::model_branches : 0u) | (needed.l1i ? channel::model_l1i : 0u) |
         (needed.l1d ? channel::model_l1d : 0u) | (needed.lower ? channel::model_lower : 0u) |
         (needed.tlbs ? channel::model_tlbs : 0u) | (needed.core ? channel::model_core : 0u);
}

namespace {

constexpr std::size_t value_count = sizeof(channel::ModelValues) / sizeof(std::uint64_t);
using Values = std::array<std::uint64_t, value_count>;

}  // namespace

namespace {

// Names as numbers: 1 + the index, 0 for none.
std::uint8_t number_of(const std::string& name, const std::vector<std::string>& names) {
  const auto match = std::find(names.begin(), names.end(), name);
  return match == names.end() ? 0 : static_cast<std::uint8_t>(1 + (match - names.begin()));
}

tally::models::LoadWaits waits_of(const tally::models::CoreTable* core) {
  if (core == nullptr) return {};
  return {core->load_latency, core->in_order() ? 0 : static_cast<unsigned>(core->lead())};
}

std::string name_at(std::uint8_t number, const std::vector<std::string>& names) {
  return number > 0 && number <= names.size() ? names[number - 1] : "";
}

}  // namespace

channel::Models settings_of(const Simulation& simulation, const NeededModels& needed) {
  channel::Models models{};
  const bool full = simulation.precision == Precision::full;
  models.on = bits_of(needed);
  tally::models::HierarchyShape caches = simulation.machine.caches;
  if (!simulation.prefetch) caches.prefetch = {};
  if (!full) caches = tally::models::fast(caches);
  models.full = full ? 1 : 0;
  // If a later level changes a first level (by inclusion or prefetching), every access must be modelled.
  tally::models::HierarchyShape used = caches;
  if (!needed.l1i) used.l1i = {};
  if (!needed.l1d) used.l1d = {}, used.prefetch.next_line = false;
  if (!needed.lower) used.l2 = used.llc = {};
  const bool each = simulation.each || !(tally::models::fast(used) == used);
  models.each = each ? 1 : 0;
  models.compared = !each && simulation.compared ? 1 : 0;
  models.own_llc = simulation.own_llc ? 1 : 0;
  models.next_line = caches.prefetch.next_line ? 1 : 0;
  models.streamer = caches.prefetch.streamer ? 1 : 0;
  models.streams = simulation.machine.caches.prefetch.streamer ? 1 : 0;
  models.crowded_load = simulation.machine.latencies.crowd.load;
  models.crowded_store = simulation.machine.latencies.crowd.store;
  models.l1i = level_of(caches.l1i);
  models.l1d = level_of(caches.l1d);
  models.l2 = level_of(caches.l2);
  models.llc = level_of(caches.llc);
  models.itlb = level_of(simulation.machine.tlbs.itlb);
  models.dtlb = level_of(simulation.machine.tlbs.dtlb);
  models.stlb = level_of(simulation.machine.tlbs.stlb);
  simulation.machine.name.copy(models.name, sizeof models.name - 1);
  models.core = number_of(simulation.machine.core, machines::core_names());
  models.shipped = number_of(simulation.machine.shipped, machines::names());
  return models;
}

channel::ModelCore core_of(const Simulation& simulation) {
  static_assert(tally::models::operations <= channel::core_kinds);
  channel::ModelCore models{};
  const tally::models::CoreTable* const core = machines::core_named(simulation.machine.core);
  if (core == nullptr) return models;
  tally::models::copy_parameters(*core, models);
  const tally::models::Latencies& latencies = simulation.machine.latencies;
  const tally::models::LoadWaits waits = waits_of(core);
  const auto exposed = [&](unsigned latency) { return waits.whole(latency) - waits.shared(latency); };
  models.exposed = {exposed(latencies.l2),
                    exposed(latencies.llc),
                    waits.whole(latencies.memory) - waits.shared_memory(latencies),
                    exposed(latencies.stlb + waits.hit),
                    exposed(latencies.walk + waits.hit),
                    waits.whole(latencies.l2) - waits.fetched(latencies.l2)};
  for (unsigned i = 0; i < tally::models::operations; ++i) {
    const tally::models::Timing* const row = core->timing(static_cast<tally::models::Operation>(i));
    if (row == nullptr) continue;
    channel::ModelTiming& timing = models.timing[i];
    timing.slots = row->slots;
    timing.is_known = 1;
    timing.latency = row->latency;
    for (unsigned use = 0; use < std::size(row->uses); ++use) {
      timing.ports[use] = row->uses[use].any;
      timing.cycles[use] = row->uses[use].cycles;
    }
  }
  return models;
}

Simulation simulation_of(const channel::Models& settings) {
  Simulation models;
  models.machine.name.assign(settings.name, ::strnlen(settings.name, sizeof settings.name));
  models.machine.core = name_at(settings.core, machines::core_names());
  models.machine.shipped = name_at(settings.shipped, machines::names());
  models.precision = settings.full != 0 ? Precision::full : Precision::fast;
  models.own_llc = settings.own_llc != 0;
  models.machine.caches.l1i = shape_of(settings.l1i);
  models.machine.caches.l1d = shape_of(settings.l1d);
  models.machine.caches.l2 = shape_of(settings.l2);
  models.machine.caches.llc = shape_of(settings.llc);
  models.machine.tlbs = all_tlbs(settings);
  return models;
}

bool provides(const channel::Models& settings, const NeededModels& needed) {
  const std::uint32_t wanted = bits_of(needed);
  return (settings.on & wanted) == wanted;
}

tally::models::HierarchyShape shape_of(const channel::Models& models) {
  tally::models::HierarchyShape shape;
  const auto on = [&](channel::Model model) { return (models.on & model) != 0; };
  if (on(channel::model_l1i)) shape.l1i = shape_of(models.l1i);
  if (on(channel::model_l1d)) shape.l1d = shape_of(models.l1d);
  if (on(channel::model_lower)) shape.l2 = shape_of(models.l2);
  if (on(channel::model_lower)) shape.llc = shape_of(models.llc);
  shape.prefetch = {models.next_line != 0, models.streamer != 0};
  if (on(channel::model_core))
    shape.misses = {all_tlbs(models), models.streams != 0, {models.crowded_load, models.crowded_store}};
  return shape;
}

tally::models::TlbShape tlbs_of(const channel::Models& models) {
  return (models.on & channel::model_tlbs) != 0 ? all_tlbs(models) : tally::models::TlbShape{};
}

void add(channel::ModelValues& to, const channel::ModelValues& from) {
  Values sum = std::bit_cast<Values>(to);
  const Values added = std::bit_cast<Values>(from);
  for (std::size_t i = 0; i < value_count; ++i) sum[i] += added[i];
  to = std::bit_cast<channel::ModelValues>(sum);
}

tally::models::CycleTimes cycles_by_cause(const channel::CoreValues& core, const channel::ModelValues& values,
                                          const Simulation& simulation) {
  struct Counts {
    tally::models::HierarchyCounts caches;
    tally::models::TlbCounts tlbs;
    tally::models::BranchCounts branches;
  };
  static_assert(sizeof(Counts) == sizeof values);
  const auto counts = std::bit_cast<Counts>(values);
  const tally::models::LoadWaits waits = waits_of(machines::core_named(simulation.machine.core));
  const machines::MachineModel& machine = simulation.machine;
  tally::models::CycleTimes cycles =
      tally::models::miss_cycles(machine.latencies, waits, machine.caches, counts.caches, counts.branches);
  static_assert(tally::models::core_causes == channel::core_cause_count);
  for (std::size_t i = 0; i < std::size(core.cycles); ++i) cycles.by[i] += core.cycles[i];
  return cycles;
}

std::int64_t cycles_of(event::Id id, const channel::CoreValues& core, const channel::ModelValues& values,
                       const Simulation& simulation) {
  using event::Id;
  using tally::models::Cause;
  const tally::models::CycleTimes cycles = cycles_by_cause(core, values, simulation);
  const auto of = [&](Cause cause) { return static_cast<std::int64_t>(cycles.of(cause)); };
  switch (id) {
    case Id::cycles_retiring: return of(Cause::light) + of(Cause::heavy);
    case Id::cycles_heavy: return of(Cause::heavy);
    case Id::cycles_front_end: return of(Cause::front_end);
    case Id::cycles_mispredicts: return of(Cause::mispredicts);
    case Id::cycles_core: return of(Cause::core);
    case Id::cycles_l1: return of(Cause::l1);
    case Id::cycles_l2: return of(Cause::l2);
    case Id::cycles_l3: return of(Cause::l3);
    case Id::cycles_dram: return of(Cause::dram);
    case Id::cycles_tlb: return of(Cause::tlb);
    case Id::cycles_forwarding: return of(Cause::forwarding);
    case Id::cycles_locks: return of(Cause::locks);
    default: break;
  }
  const auto all = static_cast<std::int64_t>(cycles.sum());
  if (id != Id::pipeline_slots) return all;
  const tally::models::CoreTable* const table = machines::core_named(simulation.machine.core);
  return table != nullptr ? all * table->width : 0;
}

namespace {

// Delays that the model lacks: their names, if they are at least one in a hundred instructions.
std::string describe_lacking(const channel::CoreValues& core, const channel::ModelValues& values) {
  constexpr std::uint64_t one_of = 100;
  const std::pair<std::uint64_t, const char*> delays[] = {
      {values.l1d_across.loads + values.l1d_across.stores, "accesses across lines"},
      {core.aliases, "loads 4 KiB away from a pending store"}};
  std::vector<std::string> lacking;
  for (const auto& [count, name] : delays)
    if (count != 0 && count >= core.instructions / one_of)
      lacking.push_back(fmt::format("{} {}", thousands(static_cast<std::int64_t>(count)), name));
  return lacking.empty() ? "" : fmt::format("; it lacks the delays of {}", join(lacking, " and "));
}

}  // namespace

std::string describe_cycles(const channel::CoreValues& core, const channel::ModelValues& values,
                            const Simulation& simulation) {
  const double share = 100.0 * static_cast<double>(core.unknown) / static_cast<double>(core.instructions);
  const std::string unknown = core.unknown == 0
                                  ? ""
                                  : fmt::format("; {} of executed instructions have no timing data",
                                                share < 0.01 ? "less than 0.01 %" : fmt::format("{:.2g} %", share));
  return fmt::format("cycles come from a model (`tally help models`): {}{}{}{}", describe_error(simulation), unknown,
                     describe_lacking(core, values),
                     simulation.machine.name == "host"
                         ? "; `tally memory` measures how much of the last level programs of this machine get"
                         : "");
}

std::string describe_unmodelled(const channel::UnseenValues& unseen) {
  if (unseen.instructions == 0) return "";
  return fmt::format(
      "no model processed {} instructions with {} loads and stores: far transfers, branches with an operand-size "
      "prefix, writes to code that is running",
      thousands(static_cast<std::int64_t>(unseen.instructions)), thousands(static_cast<std::int64_t>(unseen.accesses)));
}

std::optional<std::string> difference(const channel::ModelValues& fast, const channel::ModelValues& plain) {
  struct Line {
    const char* name;
    std::uint64_t fast, plain;
  };
  std::vector<Line> lines{
      {"fetches that L1I misses", fast.l1i.fetch_misses, plain.l1i.fetch_misses},
      {"loads that L1D misses", fast.l1d.load_misses, plain.l1d.load_misses},
      {"stores that L1D misses", fast.l1d.store_misses, plain.l1d.store_misses},
      {"additional lines of loads", fast.l1d_across.loads, plain.l1d_across.loads},
      {"additional lines of loads that missed", fast.l1d_across.load_misses, plain.l1d_across.load_misses},
      {"additional lines of stores", fast.l1d_across.stores, plain.l1d_across.stores},
      {"additional lines of stores that missed", fast.l1d_across.store_misses, plain.l1d_across.store_misses},
      {"conditional branches mispredicted", fast.conditional_misses, plain.conditional_misses},
      {"indirect branches mispredicted", fast.indirect_misses, plain.indirect_misses},
      {"returns mispredicted", fast.return_misses, plain.return_misses},
      {"prefetches", fast.prefetches, plain.prefetches},
      {"chased loads that L2 served", fast.chases_l2, plain.chases_l2},
      {"chased loads that the LLC served", fast.chases_llc, plain.chases_llc},
      {"chased loads that memory served", fast.chases_memory, plain.chases_memory},
      {"chased stores that memory served", fast.chase_stores_memory, plain.chase_stores_memory},
      {"translations of data by the second-level TLB", fast.misses.stlb_data, plain.misses.stlb_data},
      {"page walks of data", fast.misses.walk_data, plain.misses.walk_data},
      {"page walks of fetches", fast.misses.walk_fetches, plain.misses.walk_fetches},
      {"deciding loads that L2 served", fast.misses.deciding_l2, plain.misses.deciding_l2},
      {"deciding loads that memory served", fast.misses.deciding_memory, plain.misses.deciding_memory},
      {"steps of string instructions", fast.string_steps, plain.string_steps},
      {"loads of streams that memory served", fast.misses.stream_memory, plain.misses.stream_memory},
      {"fetches that the iTLB misses", fast.itlb.fetch_misses, plain.itlb.fetch_misses},
      {"loads that the dTLB misses", fast.dtlb.load_misses, plain.dtlb.load_misses},
      {"stores that the dTLB misses", fast.dtlb.store_misses, plain.dtlb.store_misses},
  };
  for (const auto& [name, a, b] : {std::tuple{"L2", &fast.l2, &plain.l2}, std::tuple{"LLC", &fast.llc, &plain.llc},
                                   std::tuple{"second-level TLB", &fast.stlb, &plain.stlb}}) {
    lines.push_back({name, a->fetches, b->fetches});
    lines.push_back({name, a->fetch_misses, b->fetch_misses});
    lines.push_back({name, a->loads, b->loads});
    lines.push_back({name, a->load_misses, b->load_misses});
    lines.push_back({name, a->stores, b->stores});
    lines.push_back({name, a->store_misses, b->store_misses});
  }
  for (const Line& line : lines) {
    if (line.fast != line.plain) return fmt::format("{}: {} and {}", line.name, line.fast, line.plain);
  }
  return std::nullopt;
}

}  // namespace tally::backend::engine

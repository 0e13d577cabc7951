#include "tally/counting/backend/engine/count/engine_counts.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/engine/models/table_memory.hpp"

namespace tally::backend::engine {

std::optional<std::int64_t> value_of(event::Id id, const channel::Totals& totals, const channel::ModelValues& models) {
  const event::Value value = event::definition(id).value;
  return value == nullptr ? std::nullopt : std::optional(static_cast<std::int64_t>(value(totals, models)));
}

namespace {

/// Whether one of the fields [first, end) is in the event.
bool has_field(event::Id id, std::uint32_t first, std::uint32_t end) {
  channel::Totals unit;
  for (std::uint32_t i = first; i < end; ++i) {
    unit.field[i] = 1;
    if (value_of(id, unit).value_or(0) != 0) return true;
    unit.field[i] = 0;
  }
  return false;
}

}  // namespace

bool needs_mix(event::Id id) {
  return event::definition(id).kind == event::Kind::hardware &&
         has_field(id, channel::first_mix_field, channel::field_count);
}

Amounts amounts_of(event::Id id) {
  if (!needs_mix(id)) return {};
  return {has_field(id, channel::fp_operations, channel::fma_instructions),
          has_field(id, channel::bytes_loaded, channel::non_temporal_stores)};
}

namespace {

/// Why an event of what instructions did is not exact.
std::string unknown_amounts(event::Id id, const channel::Totals& totals) {
  if (totals.field[channel::unknown_operations] == 0 && totals.field[channel::unknown_bytes] == 0) return {};
  const auto why = [&](bool has, channel::Field unknown, std::string_view what) {
    const std::int64_t n = totals.field[unknown];
    return n == 0 || !has ? std::string()
                          : fmt::format("{} of {} executed instructions are not known", what, thousands(n));
  };
  const Amounts amounts = amounts_of(id);
  const std::string operations = why(amounts.operations, channel::unknown_operations, "the floating-point operations");
  return !operations.empty() ? operations : why(amounts.bytes, channel::unknown_bytes, "the bytes of the accesses");
}

/// Whether the event is the processor's count of program instructions, which needs no machine model.
bool is_retired(event::Id id) { return id == event::Id::retired_loads || id == event::Id::retired_stores; }

// For an event that the engine does not count: absent, because 0 would be wrong.
Count not_counted() { return absent("the engine does not count it"); }

Count retired(const event::Event& event, const CollectedTotals& tally) {
  const auto value = value_of(event.id, tally.totals);
  if (!value) return not_counted();
  Count count = exact(*value, Source::engine);
  count.trust = Trust::modelled;
  count.model = "accesses, not micro-operations";
  return tally.reason.empty() ? count : downgraded(count, Trust::partial, tally.reason);
}

Count modelled(const event::Event& event, const CollectedTotals& tally, const Simulation& simulation) {
  if (std::string why = why_not_modelled(event.id, simulation); !why.empty()) return absent(std::move(why));
  const bool is_time = needed_by(event.id).core;
  if ((is_of_last_level(event.id) || is_time) && (tally.without & channel::model_llc)) {
    const auto bytes = static_cast<std::int64_t>(8 * tally::models::shared_words(simulation.machine.caches));
    return absent(
        fmt::format("not enough memory for the table of the last level ({}; see `ulimit -v`)", bytes_text(bytes)));
  }
  if (is_time && tally.core_is_elsewhere)
    return absent("the core model adds up the code of all threads of a process: --per-process has their total");
  const auto value = is_time ? cycles_of(event.id, tally.core, tally.models, simulation)
                             : value_of(event.id, tally.totals, tally.models);
  if (!value) return absent("no model counts it");
  // Instructions without a timing take a slot and no time: acceptable for a few, misleading for more. A notice of the
  // run reports how many there are.
  constexpr std::uint64_t one_of = 10;
  if (is_time && tally.core.unknown > tally.core.instructions / one_of)
    return absent("the core model has no timing for more than 10 % of the executed instructions");
  Count count = exact(*value, Source::engine);
  count.trust = Trust::modelled;
  count.model = model_of(event.id, simulation);
  // If a process is killed, its segments are not added up. Signals and faults leave some segments in the middle.
  const auto all = static_cast<std::uint64_t>(tally.totals.field[channel::instructions]);
  if (is_time && tally.core.instructions < all - all / 100) {
    const std::string seen =
        fmt::format("the core model saw {:.3g} % of the instructions",
                    100.0 * static_cast<double>(tally.core.instructions) / static_cast<double>(all));
    return downgraded(count, Trust::partial, tally.reason.empty() ? seen : seen + "; " + tally.reason);
  }
  if ((tally.without & bits_of(needed_by(event.id))) != 0) {
    return downgraded(count, Trust::partial,
                      "some threads are missing: not enough memory for their models, a program overwrote its records, "
                      "or a process outlived its parent");
  }
  return tally.reason.empty() ? count : downgraded(count, Trust::partial, tally.reason);
}

Count in_totals(const event::Event& event, const CollectedTotals& tally) {
  const auto value = value_of(event.id, tally.totals);
  if (!value) return not_counted();
  std::string reason = unknown_amounts(event.id, tally.totals);
  if (!tally.reason.empty()) reason += (reason.empty() ? "" : "; ") + tally.reason;
  return reason.empty() ? exact(*value, Source::engine) : partial(*value, Source::engine, reason);
}

}  // namespace

Count count_of(const event::Event& event, const CollectedTotals& tally, const Simulation* simulation) {
  const bool is_modelled = event::definition(event.id).kind == event::Kind::microarchitectural && !is_retired(event.id);
  if (is_modelled && !needed_by(event.id).any()) return absent(why_it_needs_a_pmu(event));
  if (is_modelled && simulation == nullptr && event.mode != event::Mode::kernel) {
    return absent(
        "needs a PMU or a machine model: the kernel describes no caches of this machine; name a model with --model");
  }
  if (event.mode == event::Mode::kernel) return absent("the engine counts user mode only");
  Count count = is_modelled            ? modelled(event, tally, *simulation)
                : is_retired(event.id) ? retired(event, tally)
                                       : in_totals(event, tally);
  if (event.mode == event::Mode::user) return count;
  return downgraded(count, Trust::partial, "without the kernel's part: the engine counts user mode only");
}

}  // namespace tally::backend::engine

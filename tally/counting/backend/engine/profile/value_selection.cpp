#include "tally/counting/backend/engine/profile/value_selection.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "tally/counting/backend/engine/count/engine_counts.hpp"
#include "tally/counting/backend/engine/engine_models.hpp"

namespace tally::backend::engine {
namespace {

constexpr std::size_t values_of_models = sizeof(channel::ModelValues) / sizeof(std::uint64_t);
static_assert(values_of_models < channel::placed_cycles);
using Values = std::array<std::uint64_t, values_of_models>;

}  // namespace

std::int64_t weight_of(event::Id id, std::size_t index, const Modelling& modelling) {
  constexpr std::int64_t one_more = 1 << 10;
  Values base;
  base.fill(std::uint64_t{1} << 20);
  Values more = base;
  more[index] += one_more;
  const auto of = [&](const Values& values) {
    const auto models = std::bit_cast<channel::ModelValues>(values);
    return needed_by(id).core ? cycles_of(id, {}, models, *modelling.simulation) : value_of(id, {}, models).value_or(0);
  };
  return (of(more) - of(base)) / one_more;
}

namespace {

/// Whether an event contains the core's cycles of a cause.
bool has_cause(event::Id id, std::size_t cause, const Modelling& modelling) {
  channel::CoreValues core{};
  core.cycles[cause] = 1;
  return needed_by(id).core && cycles_of(id, core, {}, *modelling.simulation) != 0;
}

}  // namespace

Result<channel::LocatedValues> located_values(const Order& order, const Modelling& modelling) {
  channel::LocatedValues result{};
  // The row of a window has its misses; the core's cycles come from the code that it executed.
  if (order.windows() != nullptr && modelling.needed.core) return channel::LocatedValues{1, {channel::placed_cycles}};
  if (order.profile() == nullptr || !modelling.needed.any()) return result;
  std::vector<std::size_t> selected;
  for (std::size_t index = 0; index < values_of_models; ++index)
    for (const event::Event& event : order.events) {
      if (!needed_by(event.id).any() || weight_of(event.id, index, modelling) == 0) continue;
      selected.push_back(index);
      break;
    }
  if (modelling.needed.core && order.parts() != nullptr)
    return fail(Code::bad_usage, "cycles of a model cannot be divided into parts of a run",
                "count other events, or omit --parts");
  for (std::size_t cause = 0; cause < channel::core_cause_count; ++cause)
    if (std::any_of(order.events.begin(), order.events.end(),
                    [&](const event::Event& event) { return has_cause(event.id, cause, modelling); }))
      selected.push_back(channel::placed_cycles + cause);
  if (selected.size() > channel::located_value_limit)
    return fail(Code::cannot_measure, "too many modelled events to record at each instruction",
                "count some of them in another run");
  for (const std::size_t index : selected) result.figure[result.count++] = static_cast<std::uint8_t>(index);
  return result;
}

std::int64_t value_of(event::Id id, const channel::LocatedValues& placed, const channel::CodeValues& statistics,
                      const Modelling& modelling) {
  if (!needed_by(id).any()) return 0;
  Values values{};
  channel::CoreValues core{};
  for (std::uint32_t i = 0; i < placed.count && i < channel::located_value_limit; ++i) {
    const std::uint32_t cause = std::uint32_t{placed.figure[i]} - channel::placed_cycles;
    if (cause < channel::core_cause_count)
      core.cycles[cause] = statistics.figure[i];
    else if (placed.figure[i] < values_of_models)
      values[placed.figure[i]] = statistics.figure[i];
  }
  const auto models = std::bit_cast<channel::ModelValues>(values);
  if (needed_by(id).core) return modelling.simulation ? cycles_of(id, core, models, *modelling.simulation) : 0;
  return value_of(id, {}, models).value_or(0);
}

}  // namespace tally::backend::engine

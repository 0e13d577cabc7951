#include "tally/counting/backend/engine/profile/located_values.hpp"

#include <array>
#include <bit>

#include "tally/counting/backend/engine/count/counts.hpp"
#include "tally/counting/backend/engine/models.hpp"

namespace tally::backend::engine {
namespace {

constexpr std::size_t values_of_models = sizeof(channel::ModelValues) / sizeof(std::uint64_t);
static_assert(values_of_models < channel::placed_cycles);
using Numbers = std::array<std::uint64_t, values_of_models>;

}  // namespace

std::int64_t weight_of(event::Id id, std::size_t figure, const Modelling& modelling) {
  constexpr std::int64_t one_more = 1 << 10;
  Numbers many;
  many.fill(std::uint64_t{1} << 20);
  Numbers more = many;
  more[figure] += one_more;
  const auto of = [&](const Numbers& numbers) {
    const auto models = std::bit_cast<channel::ModelValues>(numbers);
    return needed_by(id).core ? cycles_of({}, models, *modelling.simulation) : value_of(id, {}, models).value_or(0);
  };
  return (of(more) - of(many)) / one_more;
}

Result<channel::LocatedValues> located_values(const Job& job, const Modelling& modelling) {
  channel::LocatedValues made{};
  // Misses of a window are in its row; cycles of the core come from what it executed.
  if (job.windows != nullptr && modelling.needed.core) return channel::LocatedValues{1, {channel::placed_cycles}};
  if (job.profile == nullptr || !modelling.needed.any()) return made;
  std::vector<std::size_t> wanted;
  for (std::size_t figure = 0; figure < values_of_models; ++figure)
    for (const event::Event& event : job.events()) {
      if (!needed_by(event.id).any() || weight_of(event.id, figure, modelling) == 0) continue;
      wanted.push_back(figure);
      break;
    }
  if (modelling.needed.core) wanted.push_back(channel::placed_cycles);
  if (wanted.size() > channel::located_value_limit)
    return fail(Code::cannot_measure, "so many modelled events have no room at each instruction",
                "take some of them in another run");
  for (const std::size_t figure : wanted) made.figure[made.count++] = static_cast<std::uint8_t>(figure);
  return made;
}

std::int64_t value_of(event::Id id, const channel::LocatedValues& placed, const channel::CodeValues& statistics,
                      const Modelling& modelling) {
  if (!needed_by(id).any()) return 0;
  Numbers numbers{};
  channel::CoreValues core{};
  for (std::uint32_t i = 0; i < placed.count && i < channel::located_value_limit; ++i) {
    if (placed.figure[i] == channel::placed_cycles)
      core.cycles = statistics.figure[i];
    else if (placed.figure[i] < values_of_models)
      numbers[placed.figure[i]] = statistics.figure[i];
  }
  const auto models = std::bit_cast<channel::ModelValues>(numbers);
  if (needed_by(id).core) return modelling.simulation ? cycles_of(core, models, *modelling.simulation) : 0;
  return value_of(id, {}, models).value_or(0);
}

}  // namespace tally::backend::engine

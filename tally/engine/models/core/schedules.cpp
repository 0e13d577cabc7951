#include "tally/engine/models/core/schedules.hpp"

#include <initializer_list>

namespace tally::models {

namespace {

// Returns the address that distances are measured from.
std::uint64_t origin(std::uint64_t address) {
  constexpr std::uint64_t page = 4096;
  return address < absolute_limit ? 0 : address & ~(page - 1);
}

std::uint64_t word(std::int16_t a, std::uint64_t b) { return std::uint64_t{static_cast<std::uint16_t>(a)} | b << 16; }

}  // namespace

CodeDistance distance(std::uint64_t from, std::uint64_t to) {
  return {static_cast<std::int64_t>(origin(to) - origin(from))};
}

void forget_fixed_stores(CoreState& state) {
  for (RecentStore& store : state.stores)
    if (is_fixed(store.at)) store.at = {};
}

StateName name_of(const CoreState& state, std::uint64_t end) {
  const auto begin = static_cast<std::uint32_t>(origin(end));
  StateName name = mixed(mixed(mixed(state.loaded, state.chained), state.added),
                         state.fetched | std::uint64_t{state.stack_moved} << 8 | std::uint64_t{state.fetch_joins} << 9);
  for (unsigned i = 0; i < registers; i += 3) {
    const auto at = [&](unsigned j) { return j < registers ? state.ready[j] : std::int16_t{0}; };
    name = mixed(name, word(at(i), word(at(i + 1), word(at(i + 2), 0))));
  }
  for (unsigned i = 0; i < units; i += 3) {
    const auto at = [&](unsigned j) { return j < units ? state.free[j] : std::int16_t{0}; };
    name = mixed(name, word(at(i), word(at(i + 1), word(at(i + 2), 0))));
  }
  bool has_fixed = false;
  for (unsigned i = 0; i < recent_stores; ++i) {
    const SymbolicAddress& at = state.stores[i].at;
    if (at.bytes == 0) {  // no load reads from it
      name = mixed(name, 0);
      continue;
    }
    has_fixed |= is_fixed(at);
    const std::uint32_t displacement = is_fixed(at) ? at.displacement - begin : at.displacement;
    const std::uint32_t form = std::uint32_t{at.base} | std::uint32_t{at.index} << 8 | std::uint32_t{at.form} << 16 |
                               std::uint32_t{at.bytes} << 24;
    name = mixed(mixed(name, std::uint64_t{form} << 32 | displacement),
                 word(state.stores[i].ready, word(state.stores[i].end, 1)));
  }
  return (name & ~StateName{1}) | StateName{has_fixed};
}

std::uint64_t ScheduleTable::bytes_for(std::uint32_t schedules) {
  const std::uint64_t slots = slots_for(schedules);
  return sizeof(Head) + schedules * sizeof(Schedule) + (slots * sizeof(std::uint32_t) + 15) / 16 * 16;
}

ScheduleTable::ScheduleTable(const void* memory, std::uint64_t bytes) {
  const auto* const head = static_cast<const Head*>(memory);
  if (bytes < sizeof *head || head->limit > bytes / sizeof(Schedule) || bytes_for(head->limit) > bytes ||
      head->size > head->limit)
    return;
  all_ = reinterpret_cast<const Schedule*>(head + 1);
  slots_ = reinterpret_cast<const std::uint32_t*>(all_ + head->limit);
  size_ = head->size;
  slot_count_ = slots_for(head->limit);
}

void ScheduleTable::add(void* memory, std::uint32_t limit, const Schedule& schedule) {
  auto* const head = static_cast<Head*>(memory);
  auto* const all = reinterpret_cast<Schedule*>(head + 1);
  auto* const slots = reinterpret_cast<std::uint32_t*>(all + limit);
  const std::uint32_t count = slots_for(limit);
  std::uint32_t i = first_slot(schedule.key, count);
  while (slots[i] != 0) i = i + 1 == count ? 0 : i + 1;
  head->limit = limit;
  all[head->size] = schedule;
  slots[i] = ++head->size;
}

const Schedule* ScheduleTable::find(std::uint64_t key) {
  for (const std::uint32_t expected : {next_, after_jump_}) {
    if (expected >= size_ || all_[expected].key != key) continue;
    next_ = expected + 1;
    return &all_[expected];
  }
  if (size_ == 0) return nullptr;
  std::uint32_t i = first_slot(key, slot_count_);
  for (std::uint32_t tries = 0; tries < slot_count_ && slots_[i] != 0; ++tries) {
    const std::uint32_t index = slots_[i] - 1;
    if (index < size_ && all_[index].key == key) {
      after_jump_ = index + 1;
      return &all_[index];
    }
    i = i + 1 == slot_count_ ? 0 : i + 1;
  }
  return nullptr;
}

}  // namespace tally::models

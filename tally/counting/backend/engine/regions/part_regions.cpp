#include "tally/counting/backend/engine/regions/part_regions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/count_metrics.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::backend::engine {
namespace {

/// Entries of a region: parts with its name, of one thread or of all.
struct Entries {
  std::uint64_t count = 0, open = 0;
  std::map<std::uint32_t, channel::CountedValues> parts;  ///< by number
};

void add(Entries& to, const channel::PartCounts& part) {
  to.count += part.entries;
  to.open += part.cut;
  to.parts[part.number].add(part.values);
}

std::int64_t value_in(const event::Event& event, const channel::CountedValues& values) {
  if (needed_by(event.id).core) return values.cycles;
  return value_of(event.id, values.totals, values.models).value_or(0);
}

RegionCounts counts_of(const Entries& entries, const std::vector<MarkedEvent>& events, const Order& order,
                       const CollectedTotals& tally, const Simulation* simulation) {
  RegionCounts result;
  result.entries = entries.count;
  result.open = entries.open;
  const bool is_each_an_entry = entries.parts.size() == entries.count;
  std::vector<event::Event> of_events;
  for (const MarkedEvent& marked_event : events) {
    of_events.push_back(*marked_event.event);
    RegionEvent& made = result.events.emplace_back();
    made.event = event::event_name(*marked_event.event);
    made.total = marked_event.place ? count_of(*marked_event.event, tally, simulation) : absent(marked_event.reason);
    if (!marked_event.place || !made.total.value) continue;
    std::int64_t total = 0;
    for (const auto& [number, values] : entries.parts) {
      const std::int64_t value = value_in(*marked_event.event, values);
      total += value;
      if (!is_each_an_entry) continue;
      made.least = std::min(made.least.value_or(value), value);
      made.most = std::max(made.most.value_or(value), value);
    }
    made.total.value = total;
  }
  result.metrics = event::region_metrics(of_events, result.events, order.metrics);
  return result;
}

std::uint32_t claimed_parts(const Channel& shared) { return shared.records.header().next_part; }

}  // namespace

PartRecords read_parts(const Channel& shared) {
  PartRecords made;
  const std::uint32_t n = std::min(claimed_parts(shared), channel::part_counts_limit);
  for (std::uint32_t i = 0; i < n; ++i) {
    channel::PartCounts part{};
    if (!linux::read_at(shared.file.get(), channel::part_counts_offset(i), &part, sizeof part) || part.state != 1 ||
        part.process >= channel::process_limit || part.thread >= channel::thread_limit)
      continue;
    part.name[sizeof part.name - 1] = 0;
    made[part.process].push_back(part);
  }
  return made;
}

std::string why_parts_are_missing(const Channel& shared) {
  const std::uint32_t claimed = claimed_parts(shared);
  if (claimed <= channel::part_counts_limit) return "";
  return fmt::format("the program's marks separate more than {} parts: tally did not record the others",
                     thousands(std::int64_t{channel::part_counts_limit}));
}

std::string name_of(const channel::PartCounts& part) {
  if (part.end != channel::PartEnd::dump && part.name[0] != 0) return printable(part.name);
  return fmt::format("part {}", part.number);
}

std::vector<RegionResult> regions_of_parts(const Order& order, const Modelling& modelling, const Channel& shared,
                                           const std::vector<channel::PartCounts>& parts,
                                           const CollectedTotals& tally) {
  struct Region {
    Entries all;
    std::vector<std::pair<std::int32_t, Entries>> threads;
  };
  std::vector<std::pair<std::string, Region>> regions;  // in the order of their first parts
  std::map<std::string, std::size_t> places;
  for (const channel::PartCounts& part : parts) {
    if (part.entries == 0) continue;
    const std::string name = name_of(part);
    const auto [place, is_new] = places.try_emplace(name, regions.size());
    if (is_new) regions.push_back({name, {}});
    Region& region = regions[place->second].second;
    add(region.all, part);
    const std::int32_t tid = shared.records.thread(part.thread).tid;
    auto& threads = region.threads;
    auto thread = std::find_if(threads.begin(), threads.end(), [&](const auto& one) { return one.first == tid; });
    if (thread == threads.end()) thread = threads.insert(threads.end(), {tid, {}});
    add(thread->second, part);
  }
  const auto events = marked_events(order, modelling);
  const Simulation* const simulation = modelling.simulation ? &*modelling.simulation : nullptr;
  std::vector<RegionResult> result;
  for (const auto& [name, region] : regions) {
    RegionResult& made = result.emplace_back();
    made.name = name;
    made.all = counts_of(region.all, events, order, tally, simulation);
    for (const auto& [tid, entries] : region.threads)
      made.threads.push_back({tid, counts_of(entries, events, order, tally, simulation)});
  }
  return result;
}

}  // namespace tally::backend::engine

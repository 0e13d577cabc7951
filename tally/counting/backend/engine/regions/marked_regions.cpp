#include "tally/counting/backend/engine/regions/marked_regions.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/count_metrics.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::backend::engine {
namespace {

// A function that calls exit() ends there, and an interval begins again at each `from`. Empty: all is counted.
std::string why_partial(const channel::MarkCounts& of, const CodeRegion& region) {
  const bool is_interval = region.to || region.trap != CodeRegion::Trap::none;
  if (is_interval) return of.cut > 0 && of.cut == of.entries ? "no entry had ended when its thread did" : "";
  if (of.dropped == 0) return "";
  return plural(static_cast<std::int64_t>(of.dropped), "entry", "entries") + " not counted: the return was not seen";
}

RegionCounts counts_of(const CodeRegion& region, const channel::MarkCounts& of, const std::vector<MarkedEvent>& events,
                       const Order& order, const CollectedTotals& tally, const Simulation* simulation) {
  RegionCounts result;
  result.entries = of.entries;
  result.recursive = of.recursive;
  result.dropped = of.dropped;
  result.open = of.cut + of.open;
  for (const MarkedEvent& marked_event : events) {
    RegionEvent event;
    event.event = event::event_name(*marked_event.event);
    event.total = marked_event.place ? count_of(*marked_event.event, tally, simulation) : absent(marked_event.reason);
    if (marked_event.place && event.total.value) {
      const channel::MarkEvent& counted = of.event[*marked_event.place];
      event.total.value = counted.total;
      if (of.entries > 0) event.least = counted.least, event.most = counted.most;
      if (const std::string reason = why_partial(of, region); !reason.empty())
        event.total = downgraded(std::move(event.total), Trust::partial, reason);
    }
    result.events.push_back(std::move(event));
  }
  std::vector<event::Event> of_events;
  for (const MarkedEvent& one : events) of_events.push_back(*one.event);
  result.metrics = event::region_metrics(of_events, result.events, order.metrics);
  return result;
}

void add_mark_counts(channel::MarkCounts& to, const channel::MarkCounts& more) {
  for (std::size_t i = 0; i < channel::mark_event_limit; ++i) {
    channel::MarkEvent& event = to.event[i];
    const channel::MarkEvent& other = more.event[i];
    event.total += other.total;
    if (more.entries == 0) continue;
    event.least = to.entries == 0 ? other.least : std::min(event.least, other.least);
    event.most = to.entries == 0 ? other.most : std::max(event.most, other.most);
  }
  to.entries += more.entries;
  to.recursive += more.recursive;
  to.dropped += more.dropped;
  to.cut += more.cut;
  to.open += more.open;
}

bool is_any(const channel::MarkCounts& one) { return one.entries + one.open + one.dropped > 0; }

}  // namespace

std::vector<RegionResult> regions_of(const Order& order, const Modelling& modelling, const Channel& shared,
                                     const std::vector<MarkedThread>& threads, const CollectedTotals& tally) {
  const auto events = marked_events(order, modelling);
  const Simulation* const simulation = modelling.simulation ? &*modelling.simulation : nullptr;
  std::vector<RegionResult> result;
  for (std::size_t mark = 0; mark < order.code_regions().size(); ++mark) {
    const CodeRegion& of = order.code_regions()[mark];
    RegionResult region;
    region.name = of.name;
    channel::MarkCounts all{};
    for (const MarkedThread& thread : threads) {
      channel::MarkCounts counts{};
      const std::uint64_t at = channel::mark_counts_offset(thread.number) + mark * sizeof counts;
      if (!linux::read_at(shared.file.get(), at, &counts, sizeof counts) || !is_any(counts)) continue;
      add_mark_counts(all, counts);
      region.threads.push_back({thread.tid, counts_of(of, counts, events, order, tally, simulation)});
    }
    if (!is_any(all)) continue;
    region.all = counts_of(of, all, events, order, tally, simulation);
    result.push_back(std::move(region));
  }
  return result;
}

}  // namespace tally::backend::engine

#include "tally/counting/backend/perf/count/planning.hpp"

#include <algorithm>

#include "tally/counting/backend/perf/count/corrections.hpp"
#include "tally/counting/backend/perf/encode.hpp"

namespace tally::backend::perf {

event::Plan plan(const std::vector<event::Event>& events, const std::optional<event::Event>& interrupts,
                 const std::vector<linux::PmuDevice>& cores, const Together& together) {
  std::vector<std::vector<Encoded>> all;
  std::vector<bool> needs_counter;
  const auto is_counted_by = [](const Encoded& encoded, const linux::PmuDevice& core) {
    return encoded.why_none.empty() && encoded.source.name == core.name;
  };
  for (const event::Event& event : events) {
    all.push_back(encode(event, cores));
    needs_counter.push_back(std::any_of(all.back().begin(), all.back().end(), [&](const Encoded& encoded) {
      return std::any_of(cores.begin(), cores.end(), [&](const auto& core) { return is_counted_by(encoded, core); });
    }));
  }
  std::vector<Encoded> extra = interrupts ? encode(*interrupts, cores) : std::vector<Encoded>{};
  // An event that the PMU does not count occupies no counter.
  std::erase_if(extra, [&](const Encoded& encoded) { return !together({encoded.event}); });
  return event::plan_passes(events, needs_counter, [&](const event::Pass& pass) {
    const bool corrected =
        std::any_of(pass.begin(), pass.end(), [&](std::size_t index) { return is_correctable(events[index]); });
    return std::all_of(cores.begin(), cores.end(), [&](const linux::PmuDevice& core) {
      std::vector<linux::PerfEvent> own;
      for (const std::size_t index : pass) {
        for (const Encoded& encoded : all[index]) {
          if (is_counted_by(encoded, core)) own.push_back(encoded.event);
        }
      }
      for (const Encoded& encoded : extra) {
        if (corrected && is_counted_by(encoded, core)) own.push_back(encoded.event);
      }
      return own.empty() || together(own);
    });
  });
}

}  // namespace tally::backend::perf

#include "programs/rdpmc/processors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/perf/encode.hpp"

namespace tally::rdpmc {

Result<std::vector<ProcessorEvent>> processor_events(const std::vector<event::Event>& events,
                                                     const std::vector<linux::PmuDevice>& cores) {
  std::vector<ProcessorEvent> all;
  for (const event::Event& event : events) {
    std::string why = "no processor counter counts it";
    const std::size_t before = all.size();
    for (const backend::perf::Encoded& kind : backend::perf::encode(event, cores)) {
      const auto is_its = [&](const linux::PmuDevice& core) { return core.name == kind.source.name; };
      if (!kind.why_none.empty()) {
        why = kind.why_none;
      } else if (std::any_of(cores.begin(), cores.end(), is_its)) {
        all.push_back({event::name(event), kind.source.text(), kind.event, kind.doubt});
      }
    }
    if (all.size() == before) {
      return fail(Code::cannot_measure, fmt::format("no program can read {}: {}", printable(event.asked), why),
                  "`tally events` lists the events of this machine");
    }
  }
  return all;
}

}  // namespace tally::rdpmc

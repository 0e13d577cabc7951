#include "tally/backend/software.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/base/text.hpp"

namespace tally::backend {
namespace {

constexpr const char* source = "wait4";

Count peak_memory(const linux::Usage& usage) {
  if (usage.peak_rss_bytes > usage.peak_floor_bytes) return counted(usage.peak_rss_bytes, source);
  return partial(usage.peak_rss_bytes, source,
                 fmt::format("at most this: less than the {} that the process had before its program was executed",
                             bytes_text(usage.peak_floor_bytes)));
}

}  // namespace

Count software_count(const event::Event& event, const linux::Usage& usage, Nanoseconds duration) {
  using event::Id;
  switch (event.id) {
    case Id::page_faults: return counted(usage.minor_faults + usage.major_faults, source);
    case Id::minor_faults: return counted(usage.minor_faults, source);
    case Id::major_faults: return counted(usage.major_faults, source);
    case Id::context_switches: return counted(usage.voluntary_switches + usage.involuntary_switches, source);
    case Id::voluntary_switches: return counted(usage.voluntary_switches, source);
    case Id::involuntary_switches: return counted(usage.involuntary_switches, source);
    case Id::user_time: return counted(usage.user.count(), source);
    case Id::system_time: return counted(usage.system.count(), source);
    case Id::duration_time: return counted(duration.count(), "clock");
    case Id::peak_memory: return peak_memory(usage);
    default: return absent("not one of the kernel's figures");
  }
}

bool all_software(const std::vector<event::Event>& events) {
  return std::all_of(events.begin(), events.end(), [](const event::Event& event) {
    return event::definition(event.id).kind == event::Kind::software;
  });
}

}  // namespace tally::backend

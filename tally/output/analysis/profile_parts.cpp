#include "tally/output/analysis/profile_parts.hpp"

#include <cstdint>
#include <vector>

#include "tally/output/result/string_elements.hpp"

namespace tally::output {
namespace {

void append_values(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from, std::size_t row,
                   std::size_t events) {
  for (std::size_t e = 0; e < events && row * events + e < from.size(); ++e) to.push_back(from[row * events + e]);
}

}  // namespace

result::Profile profile_of_part(const result::Profile& profile, std::size_t part) {
  const std::size_t events = profile.event_count();
  const auto is_in = [&](std::uint32_t owner) { return profile.owners[owner].part == part; };
  result::Profile made;
  made.stat = profile.stat;
  made.owners = profile.owners;
  made.parts = {profile.parts[part]};
  made.objects = profile.objects;
  made.sources = profile.sources;
  made.functions = profile.functions;
  made.inlines = profile.inlines;
  made.inlines_apart = profile.inlines_apart;
  made.calls_cut = profile.calls_cut;
  made.calls_too_deep = profile.calls_too_deep;
  made.repeated.assign(events, 0);
  made.unplaced.assign(events, 0);
  std::vector<std::int64_t> totals(events);
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    if (!is_in(profile.rows[i].owner)) continue;
    for (std::size_t e = 0; e < events; ++e) totals[e] += profile.count(i, e);
    const result::ProfileFunction& function = profile.functions[profile.rows[i].function];
    if (profile.objects[function.object].name == result::string_elements) {
      for (std::size_t e = 0; e < events; ++e) made.repeated[e] += profile.count(i, e);
      continue;
    }
    made.rows.push_back(profile.rows[i]);
    append_values(made.counts, profile.counts, i, events);
  }
  // A call and those that led to it have one owner.
  std::vector<std::uint32_t> place(profile.calls.size(), result::CodeCall::no_parent);
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    if (!is_in(profile.calls[i].owner)) continue;
    place[i] = static_cast<std::uint32_t>(made.calls.size());
    result::ProfileCall& call = made.calls.emplace_back(profile.calls[i]);
    if (call.parent != result::CodeCall::no_parent) call.parent = place[call.parent];
    append_values(made.inclusive, profile.inclusive, i, events);
    append_values(made.self, profile.self, i, events);
  }
  for (std::size_t e = 0; e < events; ++e)
    if (made.stat.events[e].total.count.value) made.stat.events[e].total.count.value = totals[e];
  return made;
}

}  // namespace tally::output

#include "programs/callgrind/profile_columns.hpp"

#include <cstdint>

namespace tally::callgrind {
namespace {

/// For each column, the index and the weight of each event that it contains.
using Terms = std::vector<std::vector<std::pair<std::size_t, int>>>;

Terms terms_of(const result::Profile& profile, const std::vector<DerivedEvent>& columns) {
  Terms all;
  for (const DerivedEvent& column : columns) {
    auto& terms = all.emplace_back();
    for (const auto& [name, weight] : column.terms)
      for (std::size_t e = 0; e < profile.event_count(); ++e)
        if (profile.stat.events[e].total.name.base == name) terms.emplace_back(e, weight);
  }
  return all;
}

/// Converts consecutive groups of `events` numbers.
std::vector<std::int64_t> converted(const std::vector<std::int64_t>& counts, std::size_t events, const Terms& columns) {
  std::vector<std::int64_t> made;
  made.reserve(counts.size() / events * columns.size());
  for (std::size_t begin = 0; begin + events <= counts.size(); begin += events)
    for (const auto& terms : columns) {
      std::int64_t sum = 0;
      for (const auto& [event, weight] : terms) sum += weight * counts[begin + event];
      made.push_back(sum);
    }
  return made;
}

}  // namespace

result::Profile with_columns(result::Profile profile, const std::vector<DerivedEvent>& columns) {
  const std::size_t events = profile.event_count();
  if (events == 0) return profile;
  const Terms terms = terms_of(profile, columns);
  for (std::vector<std::int64_t>* counts :
       {&profile.counts, &profile.inclusive, &profile.self, &profile.repeated, &profile.unplaced, &profile.samples})
    *counts = converted(*counts, events, terms);
  std::vector<result::Event> made;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    result::Event event;
    event.total.event = columns[c].name;
    event.total.name.base = columns[c].name;
    std::int64_t sum = 0;
    for (std::size_t t = 0; t < terms[c].size(); ++t) {
      const auto& [from, weight] = terms[c][t];
      const Count& count = profile.stat.events[from].total.count;
      if (t == 0) event.total.count = count;
      sum += weight * count.value.value_or(0);
    }
    event.total.count.value = sum;
    made.push_back(std::move(event));
  }
  profile.stat.events = std::move(made);
  return profile;
}

}  // namespace tally::callgrind

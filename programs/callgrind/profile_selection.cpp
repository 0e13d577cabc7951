#include "programs/callgrind/profile_selection.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "programs/callgrind/kept_calls.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/output/analysis/tail_calls.hpp"
#include "tally/output/result/call_sums.hpp"

namespace tally::callgrind {
namespace {

using Counts = std::vector<std::int64_t>;

bool any(const std::int64_t* counts, std::size_t number) {
  return std::any_of(counts, counts + number, [](std::int64_t n) { return n != 0; });
}

/// Sets the totals, and the counts without a location so that everything adds up.
void set_totals(result::Profile& profile, Counts totals) {
  const std::size_t events = profile.event_count();
  Counts placed(events);
  for (std::size_t i = 0; i < profile.rows.size(); ++i)
    for (std::size_t e = 0; e < events; ++e) placed[e] += profile.count(i, e);
  if (totals.size() != events) totals = placed;
  profile.repeated.resize(events);
  profile.unplaced.resize(events);
  for (std::size_t e = 0; e < events; ++e) {
    const std::int64_t left = std::max<std::int64_t>(totals[e] - placed[e], 0);
    // Elements of string instructions are the usual counts without a location.
    const bool of_strings = profile.repeated[e] != 0 && profile.unplaced[e] == 0;
    profile.repeated[e] = of_strings ? left : 0;
    profile.unplaced[e] = of_strings ? 0 : left;
    profile.stat.events[e].total.count.value = placed[e] + left;
  }
}

/// Counts of functions with collection, in the calls of each owner.
class Collector {
 public:
  Collector(const result::Profile& profile, const Collection& collection)
      : profile_(profile), at_start_(collection.at_start) {
    for (const result::ProfileFunction& function : profile.functions)
      switches_.push_back(output::matches_any(collection.switches, function));
    for (std::size_t i = 0; i < profile.calls.size(); ++i) is_on_.push_back(is_on_after(i));
    output::each_self(profile, [&](std::size_t call, std::uint32_t function, const Counts& self) {
      if (is_on_[call] == at_start_) return;
      Counts& sum = switched_[{profile.calls[call].owner, function}];
      sum.resize(self.size());
      for (std::size_t e = 0; e < self.size(); ++e) sum[e] += self[e];
    });
  }

  bool is_on(std::size_t call) const { return is_on_[call]; }

  /// What all functions counted with collection.
  Counts totals() const {
    Counts all(profile_.event_count());
    for (std::size_t e = 0; e < all.size(); ++e) {
      if (at_start_) all[e] = profile_.stat.events[e].total.count.value.value_or(0);
      for (const auto& [of, counts] : switched_) all[e] += at_start_ ? -counts[e] : counts[e];
    }
    return all;
  }

  /// What a function counted with collection, of `all` that it counted in this thread.
  Counts part_of(std::uint32_t owner, std::uint32_t function, const Counts& all) const {
    const auto known = switched_.find({owner, function});
    Counts part(all.size());
    for (std::size_t e = 0; e < all.size(); ++e) {
      const std::int64_t switched = known == switched_.end() ? 0 : known->second[e];
      part[e] = at_start_ ? all[e] - switched : switched;
    }
    return part;
  }

 private:
  /// Only the first call of a function on a path switches.
  bool is_on_after(std::size_t i) const {
    const result::ProfileCall& call = profile_.calls[i];
    const bool before = call.parent == result::CodeCall::no_parent ? at_start_ : is_on_[call.parent];
    if (!switches_[call.callee]) return before;
    for (std::uint32_t at = call.parent; at != result::CodeCall::no_parent; at = profile_.calls[at].parent)
      if (profile_.calls[at].callee == call.callee) return before;
    return !before;
  }

  const result::Profile& profile_;
  const bool at_start_;
  std::vector<bool> switches_;                                          // of each function
  std::vector<bool> is_on_;                                             // in each call
  std::map<std::pair<std::uint32_t, std::uint32_t>, Counts> switched_;  // by owner and function
};

/// The rows of one function in one thread, which are next to one another.
struct FunctionRows {
  std::size_t begin, end;
  Counts sum;
};

FunctionRows rows_from(const result::Profile& profile, std::size_t begin) {
  FunctionRows found{begin, begin, Counts(profile.event_count())};
  const result::ProfileRow& first = profile.rows[begin];
  for (; found.end < profile.rows.size(); ++found.end) {
    const result::ProfileRow& row = profile.rows[found.end];
    if (row.owner != first.owner || row.function != first.function) break;
    for (std::size_t e = 0; e < found.sum.size(); ++e) found.sum[e] += profile.count(found.end, e);
  }
  return found;
}

}  // namespace

result::Profile of_owners(const result::Profile& profile, const std::function<bool(const result::CodeOwner&)>& keeps,
                          const Counts& totals) {
  const std::size_t events = profile.event_count();
  result::Profile made = profile;
  std::vector<bool> is_kept;
  for (const result::CodeOwner& owner : profile.owners) is_kept.push_back(keeps(owner));
  made.rows.clear();
  made.counts.clear();
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    if (!is_kept[profile.rows[i].owner]) continue;
    made.rows.push_back(profile.rows[i]);
    for (std::size_t e = 0; e < events; ++e) made.counts.push_back(profile.count(i, e));
  }
  keep_calls(made, [&](std::size_t i) { return is_kept[profile.calls[i].owner]; });
  set_totals(made, totals);
  return made;
}

Collected collected(result::Profile profile, const Collection& collection) {
  const std::size_t events = profile.event_count();
  Collected result;
  const Collector collector(profile, collection);
  std::vector<result::ProfileRow> rows;
  Counts counts;
  for (std::size_t i = 0; i < profile.rows.size();) {
    const FunctionRows all = rows_from(profile, i);
    const result::ProfileRow& first = profile.rows[i];
    const Counts part = collector.part_of(first.owner, first.function, all.sum);
    i = all.end;
    if (part.empty() || part[0] == 0) continue;
    // Elements of string instructions are in calls, but not in rows: only the first event can be compared.
    if (part[0] == all.sum[0]) {
      rows.insert(rows.end(), profile.rows.begin() + static_cast<std::ptrdiff_t>(all.begin),
                  profile.rows.begin() + static_cast<std::ptrdiff_t>(all.end));
      counts.insert(counts.end(), profile.counts.begin() + static_cast<std::ptrdiff_t>(all.begin * events),
                    profile.counts.begin() + static_cast<std::ptrdiff_t>(all.end * events));
      continue;
    }
    const result::ProfileFunction& function = profile.functions[first.function];
    (part[0] > all.sum[0] ? result.jumping : result.divided).push_back(function.name);
    rows.push_back({.owner = first.owner,
                    .function = first.function,
                    .source = function.source,
                    .line = function.line,
                    .address = function.address});
    counts.insert(counts.end(), part.begin(), part.end());
  }
  const Counts totals = collector.totals();
  for (std::size_t i = 0; i < profile.calls.size(); ++i)
    if (!collector.is_on(i)) std::fill_n(profile.self.begin() + static_cast<std::ptrdiff_t>(i * events), events, 0);
  profile.inclusive = result::inclusive_counts(profile.calls, profile.self, events);
  const Counts inclusive = profile.inclusive;
  profile.rows = std::move(rows);
  profile.counts = std::move(counts);
  keep_calls(profile, [&](std::size_t i) { return any(inclusive.data() + i * events, events); });
  set_totals(profile, totals);
  for (std::vector<std::string>* const names : {&result.divided, &result.jumping}) {
    std::sort(names->begin(), names->end());
    names->erase(std::unique(names->begin(), names->end()), names->end());
  }
  result.profile = std::move(profile);
  return result;
}

}  // namespace tally::callgrind

#include "tally/output/analysis/tail_calls.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "tally/output/analysis/take_share.hpp"

namespace tally::output {
namespace {

using Counts = std::vector<std::int64_t>;

/// Estimates shares of one event.
class Shares {
 public:
  Shares(const result::Profile& profile, std::size_t event)
      : profile_(profile), event_(event), seen_(profile.functions.size()), has_more_(profile.functions.size()) {}

  void add_to(std::unordered_map<std::size_t, std::vector<TailShare>>& by_call) {
    sum();
    if (std::find(has_more_.begin(), has_more_.end(), 1) == has_more_.end()) return;
    for (std::size_t i = 0; i < profile_.calls.size(); ++i)
      each_function_on_stack(i, [&](std::uint32_t caller) { add_nested(i, caller); });
    for (auto& [key, nested] : nested_) distribute(key, nested);
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) share(i, by_call);
  }

 private:
  struct Key {
    std::uint32_t owner, function;
    auto operator<=>(const Key&) const = default;
  };
  /// Sums of a function in a thread: its rows, and the own counts of its calls.
  struct Sums {
    std::int64_t rows = 0, calls = 0;
    /// What its calls counted in other functions.
    std::int64_t surplus() const { return std::max<std::int64_t>(0, calls - rows); }
  };
  /// Counts of calls of one function that were made below another function; `share`: the part that the other one
  /// counted.
  struct NestedCounts {
    std::int64_t counted = 0, share = 0;
  };

  std::int64_t self(std::size_t call) const { return profile_.self[call * profile_.event_count() + event_]; }

  /// Calls `each` for every function on the call's stack except its callee that counted more than its calls in some
  /// thread, if the call counted anything.
  template <class Each>
  void each_function_on_stack(std::size_t call, Each&& each) {
    if (self(call) == 0) return;
    ++visit_;
    seen_[profile_.calls[call].callee] = visit_;
    for (std::size_t at = call; at != result::CodeCall::no_parent; at = profile_.calls[at].parent) {
      for (const std::uint32_t one : {profile_.calls[at].callee, profile_.calls[at].caller})
        if (has_more_[one] != 0 && std::exchange(seen_[one], visit_) != visit_) each(one);
    }
  }

  void sum() {
    for (std::size_t i = 0; i < profile_.rows.size(); ++i) {
      const result::ProfileRow& row = profile_.rows[i];
      const std::int64_t count = profile_.count(i, event_);
      sums_[{row.owner, row.function}].rows += count;
      unassigned_[row.owner] += count;
    }
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) {
      const result::ProfileCall& call = profile_.calls[i];
      sums_[{call.owner, call.callee}].calls += self(i);
      unassigned_[call.owner] -= self(i);
    }
    // What was counted in no call, and what calls counted in other functions: it may belong to any.
    for (auto& [owner, capacity] : unassigned_) capacity = std::max<std::int64_t>(0, capacity);
    for (const auto& [key, of] : sums_) {
      unassigned_[key.owner] += of.surplus();
      if (of.rows > of.calls) has_more_[key.function] = 1;
    }
  }

  void add_nested(std::size_t i, std::uint32_t caller) {
    const result::ProfileCall& call = profile_.calls[i];
    const auto of = sums_.find({call.owner, caller});
    if (of != sums_.end() && of->second.rows > of->second.calls)
      nested_[{call.owner, caller}][call.callee].counted += self(i);
  }

  /// Determines how much of a function's own counts must be in calls below it, and distributes it over them.
  void distribute(const Key& key, std::map<std::uint32_t, NestedCounts>& nested) {
    const Sums& of = sums_[key];
    std::int64_t capacity = of.calls + unassigned_[key.owner] - of.surplus(), likely = 0, all = 0;
    for (const auto& [callee, one] : nested) {
      const Sums& callees = sums_[{key.owner, callee}];
      capacity -= callees.surplus() - std::min(callees.surplus(), callees.calls - one.counted);
      likely += std::min(callees.surplus(), one.counted);
      all += one.counted;
    }
    const std::int64_t share = std::clamp<std::int64_t>(of.rows - capacity, 0, std::max<std::int64_t>(0, all));
    std::int64_t of_likely = std::min(share, likely), others = share - of_likely, left = all - likely;
    for (auto& [callee, one] : nested) {
      const std::int64_t here = std::min(sums_[{key.owner, callee}].surplus(), one.counted), more = one.counted - here;
      one.share = take_share(of_likely, likely, here) + take_share(others, left, more);
    }
  }

  void share(std::size_t i, std::unordered_map<std::size_t, std::vector<TailShare>>& by_call) {
    const result::ProfileCall& call = profile_.calls[i];
    std::int64_t left = self(i);
    each_function_on_stack(i, [&](std::uint32_t caller) {
      const auto of = nested_.find({call.owner, caller});
      if (of == nested_.end()) return;
      NestedCounts& nested = of->second[call.callee];
      const std::int64_t part = std::min(left, take_share(nested.share, nested.counted, self(i)));
      if (part <= 0) return;
      left -= part;
      std::vector<TailShare>& shares = by_call[i];
      auto known = std::find_if(shares.begin(), shares.end(),
                                [&](const TailShare& tail_share) { return tail_share.function == caller; });
      if (known == shares.end()) known = shares.insert(known, {caller, Counts(profile_.event_count())});
      known->counts[event_] += part;
    });
  }

  const result::Profile& profile_;
  const std::size_t event_;
  std::vector<std::size_t> seen_;  // number of the walk that last visited the function
  std::size_t visit_ = 0;
  std::vector<char> has_more_;  // functions that counted more than their calls in some thread
  std::map<Key, Sums> sums_;
  std::map<std::uint32_t, std::int64_t> unassigned_;             // by owner
  std::map<Key, std::map<std::uint32_t, NestedCounts>> nested_;  // by callee
};

}  // namespace

std::unordered_map<std::size_t, std::vector<TailShare>> tail_shares(const result::Profile& profile) {
  std::unordered_map<std::size_t, std::vector<TailShare>> by_call;
  for (std::size_t e = 0; e < profile.event_count(); ++e) Shares(profile, e).add_to(by_call);
  return by_call;
}

}  // namespace tally::output

#include "tally/output/analysis/profile_inlines.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "tally/output/analysis/sort_rows.hpp"
#include "tally/output/result/call_sums.hpp"

namespace tally::output {
namespace {

using result::CodeCall;
using result::Profile;
using result::ProfileCall;
using result::ProfileInline;

/// The counts of a function that belong to one inlined function (or to none), for all its stacks together.
struct Part {
  std::uint32_t inlined = ProfileInline::none;
  std::vector<std::int64_t> unassigned;  // not yet assigned to a stack
};
struct Parts {
  std::vector<Part> parts;
  std::vector<std::int64_t> unassigned;  // sum of all parts
};

class Inliner {
 public:
  explicit Inliner(const Profile& profile) : from_(profile), events_(profile.event_count()) {}

  Profile convert() {
    result_ = from_;
    result_.inlines_apart = true;
    result_.calls.clear();
    result_.self.clear();
    collect_parts();
    for (std::uint32_t i = 0; i < from_.calls.size(); ++i) add(i);
    for (std::uint32_t i = 0; i < from_.calls.size(); ++i) distribute(i);
    result_.inclusive = result::inclusive_counts(result_.calls, result_.self, events_);
    for (result::ProfileRow& row : result_.rows)
      if (row.inlined != ProfileInline::none) row.function = from_.inlines[row.inlined].function;
    sort_rows(result_);
    return std::move(result_);
  }

 private:
  void collect_parts() {
    for (std::size_t i = 0; i < from_.rows.size() && !from_.calls.empty(); ++i) {
      const result::ProfileRow& row = from_.rows[i];
      Parts& parts = parts_[{row.owner, row.function}];
      auto part = std::find_if(parts.parts.begin(), parts.parts.end(),
                               [&](const Part& one) { return one.inlined == row.inlined; });
      if (part == parts.parts.end()) part = parts.parts.insert(part, {row.inlined, std::vector<std::int64_t>(events_)});
      parts.unassigned.resize(events_);
      for (std::size_t e = 0; e < events_; ++e) {
        part->unassigned[e] += from_.count(i, e);
        parts.unassigned[e] += from_.count(i, e);
      }
    }
  }

  std::uint32_t append(const ProfileCall& call) {
    result_.calls.push_back(call);
    result_.self.resize(result_.calls.size() * events_);
    return static_cast<std::uint32_t>(result_.calls.size() - 1);
  }

  /// Returns the call of an inlined function below its enclosing function. `call`: the call of the outer function.
  std::uint32_t inlined_call_of(std::uint32_t owner, std::uint32_t call, std::uint32_t function,
                                std::uint32_t inlined) {
    if (inlined == ProfileInline::none) return call;
    const ProfileInline& code = from_.inlines[inlined];
    const auto known = inlined_calls_.find({owner, call, inlined});
    if (known != inlined_calls_.end()) return known->second;
    ProfileCall inlined_call;
    inlined_call.owner = owner;
    inlined_call.parent = inlined_call_of(owner, call, function, code.parent);
    inlined_call.caller = code.parent == ProfileInline::none ? function : from_.inlines[code.parent].function;
    inlined_call.callee = code.function;
    inlined_call.source = code.source;
    inlined_call.line = code.line;
    const std::uint32_t index = append(inlined_call);
    return inlined_calls_[{owner, call, inlined}] = index;
  }

  void add(std::uint32_t i) {
    const ProfileCall& call = from_.calls[i];
    ProfileCall inlined_call = call;
    const std::uint32_t parent = call.parent == CodeCall::no_parent ? call.parent : new_indices_[call.parent];
    // For a recursive function everything is below the outermost call.
    inlined_call.parent = inlined_call_of(call.owner, parent, call.caller, call.inlined);
    if (call.inlined != ProfileInline::none) inlined_call.caller = from_.inlines[call.inlined].function;
    new_indices_.push_back(append(inlined_call));
    for (std::size_t e = 0; e < events_; ++e) result_.self[new_indices_[i] * events_ + e] = from_.self[i * events_ + e];
  }

  /// Distributes a call's own counts to its inlined functions, in proportion to the counts that are left. Later calls
  /// of the function get the rest, so that sums stay exact.
  void distribute(std::uint32_t i) {
    const ProfileCall& call = from_.calls[i];
    const auto known = parts_.find({call.owner, call.callee});
    if (known == parts_.end()) return;
    Parts& parts = known->second;
    if (parts.parts.size() == 1 && parts.parts.front().inlined == ProfileInline::none) return;
    for (std::size_t e = 0; e < events_; ++e) {
      // Code that was reached by jumps from there has its own rows and does not belong to this function.
      const std::int64_t own_count = std::clamp<std::int64_t>(from_.self[i * events_ + e], 0, parts.unassigned[e]);
      std::int64_t to_assign = own_count, of = parts.unassigned[e];
      for (Part& part : parts.parts) {
        if (of <= 0) break;
        const auto assigned = static_cast<std::int64_t>(static_cast<__int128>(part.unassigned[e]) * to_assign / of);
        of -= part.unassigned[e];
        part.unassigned[e] -= assigned;
        to_assign -= assigned;
        if (part.inlined == ProfileInline::none || assigned == 0) continue;
        const std::uint32_t index = inlined_call_of(call.owner, new_indices_[i], call.callee, part.inlined);
        result_.self[index * events_ + e] += assigned;
        result_.self[new_indices_[i] * events_ + e] -= assigned;
      }
      parts.unassigned[e] -= own_count;
    }
  }

  const Profile& from_;
  std::size_t events_;
  Profile result_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Parts> parts_;  // by owner and function
  std::vector<std::uint32_t> new_indices_;                          // of each call: index in result_.calls
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> inlined_calls_;
};

}  // namespace

Profile with_inlined_functions(const Profile& profile) { return Inliner(profile).convert(); }

}  // namespace tally::output

#include "tally/output/analysis/jumped_functions.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "tally/output/analysis/take_share.hpp"
#include "tally/output/result/call_sums.hpp"

namespace tally::output {
namespace {

using result::CodeCall;
using result::Profile;
using result::ProfileCall;
using Counts = std::vector<std::int64_t>;

/// Code that jumps to functions of other files by design: its calls are those of the functions.
bool is_linkage(std::string_view name) { return name.ends_with("@plt") || name.starts_with("[.plt"); }

class JumpedFunctions {
 public:
  explicit JumpedFunctions(const Profile& profile) : from_(profile), events_(profile.event_count()) {}

  Profile convert() {
    sum();
    find_evidence();
    distribute();
    return made();
  }

 private:
  struct OwnedFunction {
    std::uint32_t owner, function;
    auto operator<=>(const OwnedFunction&) const = default;
  };
  struct Sums {
    Counts rows, calls;
  };
  /// A call, or what a thread counted outside of its calls.
  struct CallContext {
    std::uint32_t owner, call;
    auto operator<=>(const CallContext&) const = default;
    bool is_beginning() const { return call == CodeCall::no_parent; }
  };

  void sum() {
    for (std::size_t i = 0; i < from_.rows.size(); ++i) {
      Sums& sums = sums_of({from_.rows[i].owner, from_.rows[i].function});
      Counts& beginning = beginning_of(from_.rows[i].owner);
      for (std::size_t e = 0; e < events_; ++e) {
        sums.rows[e] += from_.count(i, e);
        beginning[e] += from_.count(i, e);
      }
    }
    for (std::uint32_t i = 0; i < from_.calls.size(); ++i) {
      const ProfileCall& call = from_.calls[i];
      Sums& sums = sums_of({call.owner, call.callee});
      Counts& beginning = beginning_of(call.owner);
      for (std::size_t e = 0; e < events_; ++e) {
        sums.calls[e] += from_.self[i * events_ + e];
        beginning[e] -= from_.self[i * events_ + e];
      }
    }
    // What may belong to other functions: what is left of a call's counts after its part of the callee's rows.
    for (std::uint32_t i = 0; i < from_.calls.size(); ++i) {
      const ProfileCall& call = from_.calls[i];
      Counts& room = room_[{call.owner, i}];
      const Sums& sums = sums_of({call.owner, call.callee});
      for (std::size_t e = 0; e < events_; ++e) {
        std::int64_t surplus = std::max<std::int64_t>(0, sums.calls[e] - sums.rows[e]), all = sums.calls[e];
        room.push_back(take_share(surplus, all, from_.self[i * events_ + e]));
      }
    }
    for (const auto& [owner, counts] : beginnings_)
      for (const std::int64_t count : counts)
        room_[{owner, CodeCall::no_parent}].push_back(std::max<std::int64_t>(0, count));
  }

  /// Calls whose caller is not the callee of the call around them: that one jumped to it.
  void find_evidence() {
    for (const ProfileCall& call : from_.calls) {
      const bool is_outermost = call.parent == CodeCall::no_parent;
      if (!is_outermost && from_.calls[call.parent].callee == call.caller) continue;
      shares_[{call.owner, call.parent}].try_emplace(call.caller, Counts(events_));
      evidence_[{call.owner, call.caller}].insert({call.owner, call.parent});
    }
  }

  void distribute() {
    std::vector<std::pair<std::int64_t, OwnedFunction>> order;
    for (const auto& [key, sums] : sums_) {
      if (is_linkage(from_.functions[key.function].name)) continue;
      std::int64_t more = 0;
      for (std::size_t e = 0; e < events_; ++e) more = std::max(more, sums.rows[e] - sums.calls[e]);
      if (more > 0) order.emplace_back(-more, key);
    }
    std::sort(order.begin(), order.end());
    // Functions that are known to be somewhere take their part first.
    for (const bool by_evidence : {true, false})
      for (const auto& [more, key] : order)
        if (evidence_.contains(key) == by_evidence)
          for (std::size_t e = 0; e < events_; ++e) place(key, e, by_evidence);
  }

  void place(const OwnedFunction& key, std::size_t e, bool by_evidence) {
    const Sums& sums = sums_of(key);
    std::int64_t excess = sums.rows[e] - sums.calls[e];
    if (excess <= 0) return;
    std::vector<CallContext> places;
    if (by_evidence) {
      const std::set<CallContext>& known = evidence_.at(key);
      places.assign(known.begin(), known.end());
    } else {
      places = places_for(key.owner, e, excess);
    }
    std::int64_t all = 0;
    for (const CallContext& context : places) all += room_.at(context)[e];
    std::int64_t what = std::min(excess, all);
    for (const CallContext& call_context : places) {
      std::int64_t& room = room_.at(call_context)[e];
      const std::int64_t part = std::min(room, take_share(what, all, room));
      if (part <= 0) continue;
      room -= part;
      Counts& share = shares_[call_context].try_emplace(key.function, Counts(events_)).first->second;
      share[e] += part;
    }
  }

  /// The calls of the function that has as much left (1 % more or less); else all with something left.
  std::vector<CallContext> places_for(std::uint32_t owner, std::size_t e, std::int64_t excess) const {
    std::map<std::uint32_t, std::pair<std::int64_t, std::vector<CallContext>>> left;  // by callee
    std::vector<CallContext> all;
    const auto end = room_.upper_bound({owner, CodeCall::no_parent});
    for (auto at = room_.lower_bound({owner, 0}); at != end; ++at) {
      if (at->second[e] <= 0) continue;
      all.push_back(at->first);
      auto& [sum, places] = left[at->first.is_beginning() ? CodeCall::no_parent : from_.calls[at->first.call].callee];
      sum += at->second[e];
      places.push_back(at->first);
    }
    const std::pair<std::int64_t, std::vector<CallContext>>* nearest = nullptr;
    const auto distance = [&](const auto& of) { return std::abs(of.first - excess); };
    for (const auto& [callee, of] : left)
      if (distance(of) <= excess / 100 && (nearest == nullptr || distance(of) < distance(*nearest))) nearest = &of;
    return nearest == nullptr ? all : nearest->second;
  }

  Profile made() const {
    Profile made = from_;
    made.calls.clear();
    made.self.clear();
    std::map<std::pair<CallContext, std::uint32_t>, std::uint32_t> jumped;  // new indices of functions at places
    std::vector<std::uint32_t> indices;
    const auto add = [&](const ProfileCall& call, const std::int64_t* self) {
      made.calls.push_back(call);
      made.self.insert(made.self.end(), self, self + events_);
      return static_cast<std::uint32_t>(made.calls.size() - 1);
    };
    const auto add_shares = [&](const CallContext& place, std::uint32_t parent) {
      const auto shares = shares_.find(place);
      if (shares == shares_.end()) return;
      for (const auto& [function, counts] : shares->second) {
        ProfileCall call{.owner = place.owner, .parent = parent, .caller = function, .callee = function};
        if (parent != CodeCall::no_parent) {
          call.caller = made.calls[parent].callee;
          for (std::size_t e = 0; e < events_; ++e) made.self[parent * events_ + e] -= counts[e];
        }
        jumped[{place, function}] = add(call, counts.data());
      }
    };
    for (const auto& [owner, counts] : beginnings_) add_shares({owner, CodeCall::no_parent}, CodeCall::no_parent);
    for (std::uint32_t i = 0; i < from_.calls.size(); ++i) {
      ProfileCall call = from_.calls[i];
      const auto by = jumped.find({{call.owner, call.parent}, call.caller});
      if (by != jumped.end())
        call.parent = by->second;
      else if (call.parent != CodeCall::no_parent)
        call.parent = indices[call.parent];
      indices.push_back(add(call, from_.self.data() + i * events_));
      add_shares({call.owner, i}, indices.back());
    }
    made.inclusive = result::inclusive_counts(made.calls, made.self, events_);
    return made;
  }

  Sums& sums_of(const OwnedFunction& key) {
    return sums_.try_emplace(key, Sums{Counts(events_), Counts(events_)}).first->second;
  }
  Counts& beginning_of(std::uint32_t owner) { return beginnings_.try_emplace(owner, Counts(events_)).first->second; }

  const Profile& from_;
  std::size_t events_;
  std::map<OwnedFunction, Sums> sums_;
  std::map<std::uint32_t, Counts> beginnings_;  // by owner: what was counted in no call
  std::map<CallContext, Counts> room_;
  std::map<OwnedFunction, std::set<CallContext>> evidence_;
  std::map<CallContext, std::map<std::uint32_t, Counts>> shares_;  // by function
};

}  // namespace

Profile with_jumped_functions(const Profile& profile) {
  return profile.calls.empty() || profile.is_sampled() || profile.inlines_apart ? profile
                                                                                : JumpedFunctions(profile).convert();
}

}  // namespace tally::output

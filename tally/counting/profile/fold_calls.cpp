#include "tally/counting/profile/fold_calls.hpp"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "tally/output/result/call_sums.hpp"

namespace tally::profile {
namespace {

using result::CodeCall;
using result::ProfileCall;

class Folding {
 public:
  explicit Folding(result::Profile& profile) : profile_(profile), events_(profile.event_count()) {}

  void fold() {
    std::vector<std::uint32_t> places(profile_.calls.size());
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) {
      ProfileCall call = profile_.calls[i];
      if (call.parent != CodeCall::no_parent) call.parent = places[call.parent];
      places[i] = place_of(call);
      for (std::size_t e = 0; e < events_; ++e) self_[places[i] * events_ + e] += profile_.self[i * events_ + e];
    }
    profile_.inclusive = result::inclusive_counts(folded_, self_, events_);
    profile_.calls = std::move(folded_);
    profile_.self = std::move(self_);
  }

 private:
  /// The nearest on the way to the root that executes the same function.
  std::uint32_t outer_of(const ProfileCall& call) const {
    std::uint32_t at = call.parent;
    while (at != CodeCall::no_parent && folded_[at].callee != call.callee) at = folded_[at].parent;
    return at;
  }

  /// As the engine folds recursion (instrument/calls.cpp), and told apart by the instruction, too.
  std::uint32_t place_of(ProfileCall call) {
    const std::uint32_t outer = outer_of(call);
    std::uint32_t newest = CodeCall::no_parent;  // itself
    if (outer != CodeCall::no_parent) {
      newest = newest_[call.parent];
      call.recursive = true;
      if (outer >= newest) {
        // It is beside the outer one, which was at another of its instructions.
        const std::uint64_t target = call.target;
        newest = newest_[outer] == outer ? CodeCall::no_parent : newest_[outer];
        call = folded_[outer];
        call.target = target;
      }
    }
    const auto [place, is_new] = known_.try_emplace({call.owner, call.parent, call.site, call.callee, call.target},
                                                    static_cast<std::uint32_t>(folded_.size()));
    if (is_new) {
      newest_.push_back(newest == CodeCall::no_parent ? place->second : newest);
      folded_.push_back(call);
      self_.resize(folded_.size() * events_);
    }
    return place->second;
  }

  result::Profile& profile_;
  std::size_t events_;
  std::vector<ProfileCall> folded_;
  std::vector<std::int64_t> self_;
  std::vector<std::uint32_t> newest_;  // of each call, the nearest whose function is on its way to the root once
  // Instructions of a function are told apart, as the places that its calls come from: owner, parent, caller's place,
  // function, own place.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t>, std::uint32_t> known_;
};

}  // namespace

void fold_recursion(result::Profile& profile) { Folding(profile).fold(); }

}  // namespace tally::profile

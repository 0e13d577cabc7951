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
    std::vector<std::uint32_t> numbers(profile_.calls.size());
    for (std::size_t i = 0; i < profile_.calls.size(); ++i) {
      ProfileCall call = profile_.calls[i];
      if (call.parent != CodeCall::no_parent) call.parent = numbers[call.parent];
      numbers[i] = fold_call(call);
      for (std::size_t e = 0; e < events_; ++e) self_[numbers[i] * events_ + e] += profile_.self[i * events_ + e];
    }
    profile_.inclusive = result::inclusive_counts(folded_, self_, events_);
    profile_.calls = std::move(folded_);
    profile_.self = std::move(self_);
  }

 private:
  /// Returns the closest ancestor that executes the same function.
  std::uint32_t outer_of(const ProfileCall& call) const {
    std::uint32_t at = call.parent;
    while (at != CodeCall::no_parent && folded_[at].callee != call.callee) at = folded_[at].parent;
    return at;
  }

  /// Folds recursion like the engine (tally/engine/instrument/call_probes.cpp), but separates calls by instruction as
  /// well.
  std::uint32_t fold_call(ProfileCall call) {
    const std::uint32_t outer = outer_of(call);
    std::uint32_t newest = CodeCall::no_parent;  // no_parent: the call itself
    if (outer != CodeCall::no_parent) {
      newest = newest_[call.parent];
      call.recursive = true;
      if (outer >= newest) {
        // The call becomes a sibling of the outer one, which was at another instruction of the function.
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
  std::vector<std::uint32_t> newest_;  // for each call, the closest one whose function is on its path to the root once
  // Separates the instructions of a function, because its calls have separate addresses: owner, parent, address in the
  // caller, function, own address.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t>, std::uint32_t> known_;
};

}  // namespace

void fold_recursion(result::Profile& profile) { Folding(profile).fold(); }

}  // namespace tally::profile

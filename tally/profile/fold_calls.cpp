#include "tally/profile/fold_calls.hpp"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace tally::profile {
namespace {

using result::CodeCall;
using result::ProfileCall;

}  // namespace

void fold_recursion(result::Profile& profile) {
  const std::size_t events = profile.event_count();
  std::vector<ProfileCall> folded;
  std::vector<std::int64_t> self;
  std::vector<std::uint32_t> places(profile.calls.size());
  // Instructions of a function are told apart, as the places that its calls come from: owner, parent, caller's place,
  // function, own place.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t>;
  std::map<Key, std::uint32_t> known;
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    ProfileCall call = profile.calls[i];
    if (call.parent != CodeCall::no_parent) call.parent = places[call.parent];
    for (std::uint32_t at = call.parent; at != CodeCall::no_parent; at = folded[at].parent) {
      if (folded[at].callee != call.callee) continue;
      // It stands beside the outer one, which was at another of its instructions.
      const std::uint64_t target = call.target;
      call = folded[at];
      call.target = target;
      break;
    }
    const auto [place, is_new] = known.try_emplace({call.owner, call.parent, call.site, call.callee, call.target},
                                                   static_cast<std::uint32_t>(folded.size()));
    if (is_new) {
      folded.push_back(call);
      self.resize(folded.size() * events);
    }
    places[i] = place->second;
    for (std::size_t e = 0; e < events; ++e) self[place->second * events + e] += profile.self[i * events + e];
  }
  profile.calls = std::move(folded);
  profile.inclusive = self;
  profile.self = std::move(self);
  for (std::size_t i = profile.calls.size(); i-- > 0;) {
    const std::uint32_t parent = profile.calls[i].parent;
    if (parent == CodeCall::no_parent) continue;
    for (std::size_t e = 0; e < events; ++e)
      profile.inclusive[parent * events + e] += profile.inclusive[i * events + e];
  }
}

}  // namespace tally::profile

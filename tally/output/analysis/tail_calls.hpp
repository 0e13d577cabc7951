// What functions count inside calls of other functions that jumped to them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tally/output/result/profile.hpp"

namespace tally::report {

/// A part of what a call counted itself (Profile::self): of `function`, which the callee jumped to, as its last call.
struct TailShare {
  std::uint32_t function;
  std::vector<std::int64_t> counts;  ///< one for each event
};

/// By the numbers of calls. A call does not say which functions its callee jumped to. This estimates it for functions
/// on the way to the call, because to add what they count to what their calls count would count it twice: from
/// what each function of a thread counted, and what its own calls have room for. The sum of a function's own counts and
/// of those of its calls, without what it counts here, is at most what the thread counted. Empty for most programs.
/// Cost: that of two walks from each call up to the first one.
std::unordered_map<std::size_t, std::vector<TailShare>> tail_shares(const result::Profile& profile);

/// Calls `each(call, function, counts)` for what each call counted itself: once for its callee, and once for each of
/// its tail_shares(). Counts are one for each event; those that are 0 for all events are left out.
template <class Each>
void each_self(const result::Profile& profile, Each&& each) {
  const auto shares = tail_shares(profile);
  const std::size_t events = profile.event_count();
  std::vector<std::int64_t> counts(events);
  const auto tell = [&](std::size_t call, std::uint32_t function, const std::vector<std::int64_t>& some) {
    if (std::any_of(some.begin(), some.end(), [](std::int64_t n) { return n != 0; })) each(call, function, some);
  };
  for (std::size_t i = 0; i < profile.calls.size(); ++i) {
    for (std::size_t e = 0; e < events; ++e) counts[e] = profile.self[i * events + e];
    if (const auto known = shares.find(i); known != shares.end())
      for (const TailShare& share : known->second) {
        for (std::size_t e = 0; e < events; ++e) counts[e] -= share.counts[e];
        tell(i, share.function, share.counts);
      }
    tell(i, profile.calls[i].callee, counts);
  }
}

}  // namespace tally::report
